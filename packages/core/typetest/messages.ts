/** What the compiler says of each wrong use of `wrong.ts`; run it to record `messages.txt` anew. */
import { readFileSync, writeFileSync } from "node:fs"
import { compile } from "./compiler.ts"

const directive = "// @ts-expect-error "

/** One paragraph a wrong use: what is wrong, the code, the errors. Throws if one of them compiles. */
export const messages = (): string => {
  const source = readFileSync(new URL("wrong.ts", import.meta.url), "utf8")
  const lines = source.split("\n")
  const said = new Map<number, Array<string>>()
  let current: Array<string> | undefined
  for (const text of compile({ "wrong.ts": source.replaceAll(directive, "// ") }).split("\n")) {
    const match = /^(.*?)\((\d+),\d+\): (.*)$/.exec(text)
    if (match === null) {
      if (text !== "") current?.push(text)
      continue
    }
    const [, file, line, error] = match
    const at = lines.slice(0, Number(line)).findLastIndex((candidate) => candidate.startsWith(directive))
    if (file !== "wrong.ts" || at === -1) throw new Error(`an error that no wrong use explains: ${text}`)
    current = said.get(at) ?? []
    current.push(error!)
    said.set(at, current)
  }
  return lines
    .flatMap((line, at) => {
      if (!line.startsWith(directive)) return []
      const errors = said.get(at)
      if (errors === undefined) throw new Error(`this compiles: ${line}`)
      const code = lines.slice(at + 1, lines.indexOf("", at))
      return [[`// ${line.slice(directive.length)}`, ...code, ...errors.map((error) => `  ${error}`)].join("\n")]
    })
    .join("\n\n")
    .concat("\n")
}

export const recorded = new URL("messages.txt", import.meta.url)

if (import.meta.main) writeFileSync(recorded, messages())
