import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { persistedTable } from "./persistedTable.ts"
import { printedPage } from "./printedPage.ts"

const path = fileURLToPath(new URL("../../../docs/persisted-resources.md", import.meta.url))

describe("docs/persisted-resources.md", () => {
  it("says what becomes of each end of upsert and delete, as running them tells (K13, K16, K19, K25, K26, K27, K31, D10, D11)", async () => {
    await expect(printedPage(readFileSync(path, "utf8"), { ends: persistedTable })).toMatchFileSnapshot(path)
  })
})
