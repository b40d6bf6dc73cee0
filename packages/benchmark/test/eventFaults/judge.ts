/** What was played, as figures, and which limits it breaks. Pure. */
import { type Compared, compare, type Round } from "../../src/Pairs.ts"
import type { ByPass } from "./orders.ts"
import type { Played } from "./play.ts"
import type { ShutDown } from "./shutDown.ts"

/** What is promised of a fault. */
export interface Limits {
  /** p99 of a pass by that without posting. */
  readonly ratio: number
  readonly waiting: number
  readonly rssMiB: number
  readonly lines: number
  /** Of an end with events that wait. */
  readonly graceSeconds: number
}

export const promised: Limits = { ratio: 1.05, waiting: 1_000, rssMiB: 50, lines: 1, graceSeconds: 5 }

interface Passes {
  readonly count: readonly [baseline: number, other: number]
  readonly p50: Compared
  readonly p99: Compared
}

/** One scenario, in milliseconds, microseconds of CPU, MiB and seconds. */
export interface Figures {
  readonly name: string
  readonly title: string
  readonly isFault: boolean
  readonly passes: ByPass<Passes>
  readonly cpu: readonly [baseline: number, other: number]
  readonly starved: readonly [baseline: number, other: number]
  readonly mostWaiting: number
  readonly dropped: number
  /** By how much the other side is larger: after a full collection, with the fault still there; and at its peak, where what V8 keeps for later differs by chance. */
  readonly rssMiB: number
  readonly peakRssMiB: number
  readonly heapMiB: number
  readonly lineCount: number
  readonly lines: ReadonlyArray<string>
  readonly resumed: Played["resumed"]
}

const passesOf = (rounds: ReadonlyArray<Round>, random: () => number): Passes => ({
  count: [
    rounds.reduce((sum, { baseline }) => sum + baseline.length, 0),
    rounds.reduce((sum, { other }) => sum + other.length, 0)
  ],
  p50: compare(rounds, 0.5, random),
  p99: compare(rounds, 0.99, random)
})

export const figuresOf = (played: Played, random: () => number): Figures => {
  const { baseline, cpu, other, resumed, rounds, scenario, starved } = played
  return {
    name: scenario.name,
    title: scenario.title,
    isFault: scenario.begin !== undefined,
    passes: { steady: passesOf(rounds.steady, random), changing: passesOf(rounds.changing, random) },
    cpu,
    starved,
    mostWaiting: other.mostWaiting,
    dropped: other.dropped,
    rssMiB: other.rssMiB - baseline.rssMiB,
    peakRssMiB: other.peakRssMiB - baseline.peakRssMiB,
    heapMiB: other.heapMiB - baseline.heapMiB,
    lineCount: other.lineCount,
    lines: other.lines.map(({ level, text }) => `${level} ${text}`),
    resumed
  }
}

const percent = (ratio: number): string => `${ratio >= 1 ? "+" : ""}${(100 * (ratio - 1)).toFixed(1)} %`

/** One line, for who waits for the tables. */
export const summary = ({ mostWaiting, passes, starved }: Figures): string => {
  const p99 = (kind: keyof ByPass<unknown>): string => {
    const { from, ratio, to } = passes[kind].p99
    return `p99 of a ${kind} pass ${percent(ratio)} (${percent(from)} to ${percent(to)})`
  }
  const waited = starved.map((millis) => `${(1_000 * millis).toFixed(0)} us`).join(" and ")
  return `${p99("steady")}, ${p99("changing")}; ${mostWaiting} waited; a pass went without a processor for ${waited}`
}

/** The limits that a fault breaks, a line each. A ratio does only if chance does not explain it. */
export const broken = (figures: Figures, limits: Limits): ReadonlyArray<string> => {
  const { isFault, lineCount, mostWaiting, passes, resumed, rssMiB, title } = figures
  if (!isFault) return []
  const found: Array<string> = []
  for (const kind of ["steady", "changing"] as const) {
    const { from, ratio, to } = passes[kind].p99
    // Nothing measured is no limit kept.
    if (!(from <= limits.ratio))
      found.push(
        `p99 of a ${kind} pass: ${percent(ratio)} (${percent(from)} to ${percent(to)}), not ${percent(limits.ratio)}`
      )
  }
  if (mostWaiting > limits.waiting) found.push(`${mostWaiting} events waited, more than ${limits.waiting}`)
  if (rssMiB > limits.rssMiB) found.push(`memory: ${rssMiB.toFixed(1)} MiB more, not ${limits.rssMiB}`)
  if (lineCount > limits.lines) found.push(`${lineCount} log lines, more than ${limits.lines}`)
  if (resumed?.seconds === undefined) found.push("posting did not resume")
  else if (resumed.drainedSeconds === undefined) found.push("what waited was not posted")
  if (resumed !== undefined && resumed.told < resumed.objects)
    found.push(`of ${resumed.objects} objects ${resumed.told} are told of after the fault`)
  return found.map((line) => `${title}: ${line}`)
}

export const brokenAtEnd = (shutDown: ShutDown, limits: Limits): ReadonlyArray<string> => {
  const { count, lines, posted, seconds, title } = shutDown
  const found: Array<string> = []
  const lost = count - posted
  const counted = lines.length === 1 && lines[0]!.text.replaceAll(",", "").includes(String(lost))
  if (lost > 0 && !counted) found.push(`${lost} events are lost, and no single line counts them`)
  if (lost === 0 && lines.length > 0) found.push(`all were posted, and yet it was logged: ${lines[0]!.text}`)
  // What else ends with it has a second.
  if (seconds > limits.graceSeconds + 1) found.push(`the end took ${seconds.toFixed(1)} s`)
  return found.map((line) => `${title}: ${line}`)
}

const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const line = (cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n")
}

const timing = ({ baseline, from, other, ratio, to }: Compared): ReadonlyArray<string> => [
  baseline.toFixed(2),
  other.toFixed(2),
  `${percent(ratio)} (${percent(from)} to ${percent(to)})`
]

/** Both of `count`, the smaller one, since they differ by what was woken twice. */
export const passTable = (all: ReadonlyArray<Figures>): string =>
  table(
    ["", "pass", "passes a side", "p50 none", "p50 posting", "ratio", "p99 none", "p99 posting", "ratio"],
    all.flatMap(({ passes, title }) =>
      (["steady", "changing"] as const).map((kind) => {
        const { count, p50, p99 } = passes[kind]
        return [title, kind, String(Math.min(...count)), ...timing(p50), ...timing(p99)]
      })
    )
  )

const seconds = (value: number | undefined): string => (value === undefined ? "never" : value.toFixed(1))

export const sideTable = (all: ReadonlyArray<Figures>): string =>
  table(
    [
      "",
      "CPU us none",
      "CPU us posting",
      "most waiting",
      "given up",
      "RSS MiB",
      "at peak",
      "heap MiB",
      "lines",
      "resumed s",
      "all posted s",
      "told of"
    ],
    all.map((one) => [
      one.title,
      one.cpu[0].toFixed(0),
      one.cpu[1].toFixed(0),
      String(one.mostWaiting),
      String(one.dropped),
      one.rssMiB.toFixed(1),
      one.peakRssMiB.toFixed(1),
      one.heapMiB.toFixed(1),
      String(one.lineCount),
      one.resumed === undefined ? "" : seconds(one.resumed.seconds),
      one.resumed === undefined ? "" : seconds(one.resumed.drainedSeconds),
      one.resumed === undefined ? "" : `${one.resumed.told} of ${one.resumed.objects}`
    ])
  )

export const endTable = (all: ReadonlyArray<ShutDown>): string =>
  table(
    ["end with events that wait", "waiting", "posted", "seconds", "logged"],
    all.map(({ lines, posted, seconds, title, waiting }) => [
      title,
      String(waiting),
      String(posted),
      seconds.toFixed(2),
      lines.map(({ text }) => text).join("; ")
    ])
  )
