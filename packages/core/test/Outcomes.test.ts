import { describe, expect, it } from "vitest"
import { outcomesPage } from "./outcomesTable.ts"

describe("docs/outcomes.md", () => {
  it("says what settle does, row by row (C14, D2, D3)", async () => {
    await expect(outcomesPage()).toMatchFileSnapshot("../../../docs/outcomes.md")
  })
})
