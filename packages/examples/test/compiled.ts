/** A folder in which the programs that a test file starts keep what node compiled for the first of them: half of the CPU of a start. Gone with the process. */
import { rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export const compiled = join(tmpdir(), `fixpoint-compiled-${process.pid}`)
process.once("exit", () => rmSync(compiled, { recursive: true, force: true }))
