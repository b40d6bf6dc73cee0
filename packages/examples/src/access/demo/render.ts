/** The demo's screen as lines of text. Pure: the same state gives the same lines. */
import { eventRowOf, rowsOf, type View } from "./view.ts"

export type Verdict = "later" | "now" | "passed" | "failed"

export interface ShownAct {
  readonly title: string
  readonly verdict: Verdict
  /** What the user did and what was checked, in order. */
  readonly notes: ReadonlyArray<string>
}

export interface Shown {
  readonly title: string
  readonly acts: ReadonlyArray<ShownAct>
  readonly view: View
}

/** How much fits. `height` may be infinite. */
export interface Paper {
  readonly width: number
  readonly height: number
  readonly colour: boolean
}

const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const
type Ink = keyof typeof codes

/** Nothing that came from a manifest or a server may steer the terminal. */
const harmless = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ")

const cut = (text: string, width: number): string => {
  const letters = [...text]
  return letters.length <= width ? text : `${letters.slice(0, width - 1).join("")}…`
}

const painter =
  ({ colour }: Paper) =>
  (ink: Ink | undefined, text: string): string =>
    colour && ink !== undefined ? `\x1b[${codes[ink]}m${text}\x1b[0m` : text

interface Column {
  readonly title: string
  readonly cells: ReadonlyArray<string>
  readonly ink?: (cell: string) => Ink | undefined
}

const lettersOf = (text: string): number => [...text].length

/** Columns as wide as their widest cell; the last gets what is left of the line, and what does not fit is left out. */
const table = (columns: ReadonlyArray<Column>, paper: Paper): ReadonlyArray<string> => {
  const paint = painter(paper)
  const cleaned = columns.map((column) => ({ ...column, cells: column.cells.map(harmless) }))
  const widths = cleaned.map(({ cells, title }) => Math.max(lettersOf(title), ...cells.map(lettersOf)))
  const line = (cells: ReadonlyArray<string>, ink: (column: number) => Ink | undefined): string => {
    const parts: Array<string> = []
    let left = paper.width
    for (const [i, cell] of cells.entries()) {
      if (left <= 0) break
      const isLast = i === cells.length - 1
      const width = isLast ? left : Math.min(widths[i]!, left)
      left -= width + 2
      const text = cut(cell, width)
      parts.push(paint(ink(i), isLast ? text : text + " ".repeat(width - lettersOf(text))))
    }
    return parts.join("  ").trimEnd()
  }
  const titles = cleaned.map(({ title }) => title)
  const rows = Array.from({ length: cleaned[0]?.cells.length ?? 0 }, (_, row) =>
    cleaned.map(({ cells }) => cells[row]!)
  )
  return [
    line(titles, () => "bold"),
    ...rows.map((cells) => line(cells, (column) => cleaned[column]!.ink?.(cells[column]!)))
  ]
}

const readyInk = (cell: string): Ink | undefined =>
  cell === "True" ? "green" : cell === "False" ? "yellow" : undefined

/** The table of objects. */
export const objectLines = (view: View, paper: Paper): ReadonlyArray<string> => {
  const rows = rowsOf(view)
  if (rows.length === 0) return [cut("no objects", paper.width)]
  return table(
    [
      { title: "KIND", cells: rows.map(({ kind }) => kind) },
      { title: "NAME", cells: rows.map(({ name }) => name) },
      { title: "READY", cells: rows.map(({ ready }) => ready), ink: readyInk },
      { title: "REASON", cells: rows.map(({ reason }) => reason) },
      { title: "NEXT", cells: rows.map(({ next }) => next), ink: () => "dim" },
      { title: "MESSAGE", cells: rows.map(({ message }) => message) }
    ],
    paper
  )
}

/** The table of rows beside it; nothing where nothing is persisted. */
export const recordLines = ({ records }: View, paper: Paper): ReadonlyArray<string> => {
  if (records === undefined) return []
  if (records.length === 0) return [cut("no rows", paper.width)]
  return table(
    [
      { title: "TABLE", cells: records.map(({ table }) => table) },
      { title: "NAME", cells: records.map(({ name }) => name) },
      { title: "EXTERNAL NAME", cells: records.map(({ externalName }) => externalName) },
      { title: "SCOPE", cells: records.map(({ scope }) => scope) },
      { title: "UID", cells: records.map(({ uid }) => uid), ink: () => "dim" }
    ],
    paper
  )
}

const eventsShown = 6

/** The newest Events, the oldest of them first. */
export const eventLines = (view: View, paper: Paper): ReadonlyArray<string> => {
  const rows = view.events.slice(-eventsShown).map(eventRowOf)
  if (rows.length === 0) return [cut("no events", paper.width)]
  return table(
    [
      { title: "EVENT", cells: rows.map(({ type }) => type), ink: (cell) => (cell === "Warning" ? "yellow" : "green") },
      { title: "REASON", cells: rows.map(({ reason }) => reason) },
      { title: "ABOUT", cells: rows.map(({ about }) => about) },
      { title: "MESSAGE", cells: rows.map(({ message }) => message) }
    ],
    paper
  )
}

/** What stands outside of the cluster, and what the queues hold. */
export const footLines = ({ passes, queues, records, registered }: View, paper: Paper): ReadonlyArray<string> =>
  [
    ...(records === undefined ? [`registry: ${registered.length === 0 ? "empty" : registered.join(", ")}`] : []),
    ...queues.map((queue) => `queue: ${queue}`),
    `passes so far: ${passes}`
  ].map((line) => painter(paper)("dim", cut(harmless(line), paper.width)))

const signs: Readonly<Record<Verdict, readonly [string, Ink | undefined]>> = {
  later: [" ", "dim"],
  now: [">", "cyan"],
  passed: ["+", "green"],
  failed: ["x", "red"]
}

const noteInk = (note: string): Ink | undefined =>
  note.startsWith("ok ") ? "green" : note.startsWith("MISSED ") ? "red" : undefined

export const noteLine = (note: string, paper: Paper): string =>
  painter(paper)(noteInk(note), cut(`    ${harmless(note)}`, paper.width))

const actLines = (act: ShownAct, number: number, paper: Paper): ReadonlyArray<string> => {
  const [sign, ink] = signs[act.verdict]
  const title = painter(paper)(ink, cut(`${sign} ${number} ${harmless(act.title)}`, paper.width))
  return [
    title,
    ...(act.verdict === "now" || act.verdict === "failed" ? act.notes.map((note) => noteLine(note, paper)) : [])
  ]
}

const apart = (lines: ReadonlyArray<string>): ReadonlyArray<string> => (lines.length === 0 ? [] : ["", ...lines])

/** The whole screen, cut to the paper: events go first, then what stands lowest. */
export const render = ({ acts, title, view }: Shown, paper: Paper): ReadonlyArray<string> => {
  const head = [
    painter(paper)("bold", cut(harmless(title), paper.width)),
    "",
    ...acts.flatMap((act, i) => actLines(act, i + 1, paper)),
    "",
    ...objectLines(view, paper),
    ...apart(recordLines(view, paper))
  ]
  const events = ["", ...eventLines(view, paper)]
  const foot = ["", ...footLines(view, paper)]
  const all = [...head, ...events, ...foot]
  return (all.length <= paper.height ? all : [...head, ...foot]).slice(0, paper.height)
}

/** One line for CI and people who look at the end alone. */
export const summary = (acts: ReadonlyArray<ShownAct>, seconds: number): string => {
  const failed = acts.filter(({ verdict }) => verdict !== "passed").length
  const passed = acts.length - failed
  return `${passed} of ${acts.length} acts passed${failed > 0 ? `, ${failed} failed` : ""}, in ${seconds.toFixed(1)} s`
}
