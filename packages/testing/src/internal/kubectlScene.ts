/** What the kubectl script is made of: scenes, each a user's session in a namespace of its own, step by step. */

/** Something that a user types. `kubectl` itself is not written. */
export interface Command {
  /** The arguments, as a shell would take them: words, quotes of both kinds, no variables. */
  readonly line: string
  readonly stdin?: string
  /** What `sed -i` does to the text that `kubectl edit` opens. */
  readonly editor?: string
  /** A real server says it in another order from run to run (of a Go map): the lines are compared sorted. */
  readonly unordered?: true
  /** kubectl may log that its own watch ended with the time that it had, or be gone before: such lines are left out. */
  readonly timesOut?: true
}

/** A command that goes on while others run: each of them starts when the output has so many lines, and it is ended at `lines`. */
export interface Watching {
  readonly line: string
  readonly meanwhile: ReadonlyArray<{ readonly lines: number; readonly line: string }>
  readonly lines: number
}

export type Step = string | Command | Watching

export interface Scene {
  /** Its namespace too. The namespace `default` for a scene without one of its own. */
  readonly name: string
  readonly namespace?: string
  /** Files in the folder that its commands run in. */
  readonly files?: Readonly<Record<string, string>>
  readonly steps: ReadonlyArray<Step>
}

/** The words of a line. A quote is part of no word; what it holds is not split. */
export const words = (line: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  let word: string | undefined
  let quote: string | undefined
  for (const char of line) {
    if (quote !== undefined) {
      if (char === quote) quote = undefined
      else word += char
    } else if (char === "'" || char === '"') {
      quote = char
      word ??= ""
    } else if (char === " ") {
      if (word !== undefined) found.push(word)
      word = undefined
    } else word = (word ?? "") + char
  }
  return word === undefined ? found : [...found, word]
}

/** How many commands a step has. */
export const commandsOf = (step: Step): ReadonlyArray<string> =>
  typeof step === "string"
    ? [step]
    : "meanwhile" in step
      ? [step.line, ...step.meanwhile.map(({ line }) => line)]
      : [step.line]
