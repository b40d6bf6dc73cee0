/**
 * The examples in the docs and in doc comments: every fence that begins with ```ts, unless it says ```ts nocheck.
 *
 * A fence whose first line is a comment with a file name (`// kinds.ts`) gets that name, so that a later fence of the
 * same document can import it; the others are named by their line.
 */
import type { TextFile } from "./sourceTree.ts"

export interface Example {
  /** The document or module that it stands in. */
  readonly document: string
  /** The line of its fence, counted from 1. */
  readonly line: number
  readonly name: string
  readonly code: string
}

const named = /^\/\/ ([\w.-]+\.ts)\b/

/** The text of the doc comments alone, line for line, without their stars. */
const commentText = (text: string): string =>
  text
    .split("\n")
    .map((line) => /^\s*\*(?: (.*)|)$/.exec(line)?.[1] ?? "")
    .join("\n")

export const examplesOf = ({ path, text }: TextFile): ReadonlyArray<Example> => {
  const lines = (path.endsWith(".md") ? text : commentText(text)).split("\n")
  const found: Array<Example> = []
  let open: { readonly at: number; readonly checked: boolean } | undefined
  for (const [at, line] of lines.entries()) {
    const fence = /^ {0,3}```(.*)$/.exec(line)?.[1]?.trim()
    if (fence === undefined) continue
    if (open === undefined) {
      open = { at, checked: /^ts\b/.test(fence) && !/\bnocheck\b/.test(fence) }
      continue
    }
    if (open.checked) {
      const code = lines.slice(open.at + 1, at)
      const wished = named.exec(code[0] ?? "")?.[1]
      const name =
        wished === undefined || found.some((other) => other.name === wished) ? `line${open.at + 1}.ts` : wished
      found.push({ document: path, line: open.at + 1, name, code: code.join("\n") })
    }
    open = undefined
  }
  return found
}

/** Where an example is written, below the folder of all of them. */
export const fileOf = ({ document, name }: Example): string => `${document.replaceAll("/", "__")}/${name}`

/** The compiler's lines with the place in the document instead of that in the written file. */
export const located = (output: string, examples: ReadonlyArray<Example>): ReadonlyArray<string> =>
  output
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [, file, row, rest] = /^(.+?)\((\d+),\d+\): (.*)$/.exec(line) ?? []
      const example = examples.find((each) => file?.endsWith(fileOf(each)))
      return example === undefined ? line : `${example.document}:${example.line + Number(row)} ${rest}`
    })
