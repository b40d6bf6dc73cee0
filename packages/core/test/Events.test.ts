import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { eventsPage } from "./eventsTable.ts"

const path = fileURLToPath(new URL("../../../docs/events.md", import.meta.url))

describe("docs/events.md", () => {
  it("says what the rules of posting do, row by row (D15, D16, D18, D19, D21, P8, P10)", async () => {
    await expect(eventsPage(readFileSync(path, "utf8"))).toMatchFileSnapshot(path)
  })
})
