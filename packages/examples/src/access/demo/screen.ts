/** Shows the state of the demo: redrawn in place on a terminal, or appended line by line where nobody looks on, as in CI. */
import * as Effect from "effect/Effect"
import { noteLine, type Paper, objectLines, eventLines, footLines, recordLines, render, type Shown } from "./render.ts"

export interface Screen {
  readonly draw: (shown: Shown) => Effect.Effect<void>
  /** An act begins; told once. */
  readonly act: (shown: Shown, number: number) => Effect.Effect<void>
  /** The act has a new note, its last. */
  readonly note: (shown: Shown, note: string) => Effect.Effect<void>
  /** The act is over. */
  readonly end: (shown: Shown) => Effect.Effect<void>
  /** Lines that stay. */
  readonly say: (lines: ReadonlyArray<string>) => Effect.Effect<void>
}

export interface Output {
  readonly write: (text: string) => void
  /** Asked before each drawing, since terminals change their size. */
  readonly size: () => { readonly columns: number; readonly rows: number }
}

/** Lines do not wrap while these are around them: letters that are wider than others must not make two lines of one. */
const unwrapped = (text: string): string => `\x1b[?7l${text}\x1b[?7h`

/** So that people can follow; the acts themselves take a moment. */
const paces = { note: "200 millis", act: "1 second" } as const

/** Overwrites what it drew before; what does not fit is left out, since it could not be overwritten. */
export const terminal = ({ size, write }: Output, colour: boolean): Screen => {
  let drawn = 0
  let last = ""
  const draw = (shown: Shown) =>
    Effect.sync(() => {
      const { columns, rows } = size()
      const lines = render(shown, { width: columns, height: rows - 1, colour })
      const text = lines.join("\n")
      if (text === last) return
      last = text
      write(unwrapped(`${drawn === 0 ? "" : `\x1b[${drawn}A`}\x1b[J${text}\n`))
      drawn = lines.length
    })
  return {
    draw,
    act: draw,
    note: (shown) => Effect.andThen(draw(shown), Effect.sleep(paces.note)),
    end: (shown) => Effect.andThen(draw(shown), Effect.sleep(paces.act)),
    say: (lines) => Effect.sync(() => write(`${lines.join("\n")}\n`))
  }
}

/** Lines as long as they are: nobody knows how wide the reader's window is. */
export const plain = ({ write }: Output): Screen => {
  const paper: Paper = { width: Infinity, height: Infinity, colour: false }
  const say = (lines: ReadonlyArray<string>) => Effect.sync(() => write(`${lines.join("\n")}\n`))
  return {
    draw: () => Effect.void,
    act: ({ acts }, number) => say(["", `${number} ${acts[number - 1]!.title}`]),
    note: (_, note) => say([noteLine(note, paper)]),
    end: ({ view }) =>
      say(
        [objectLines, recordLines, eventLines, footLines]
          .map((lines) => lines(view, paper))
          .flatMap((lines) => (lines.length === 0 ? [] : ["", ...lines]))
          .map((line) => (line === "" ? "" : `    ${line}`))
      ),
    say
  }
}
