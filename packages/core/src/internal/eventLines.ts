/**
 * What the poster tells its operator's log, and how often at most (P21, D17). Pure. However many Events fail, the lines of one sort are few: those kept back
 * are counted, and the next line of the sort says how many they were.
 */
import type { ApiError } from "../ApiError.ts"
import type { Series } from "./eventSeries.ts"

export interface Line {
  readonly level: "Warn" | "Debug"
  readonly text: string
  /** What failed, if it is one Event, and by what. */
  readonly series?: Series
  readonly error?: ApiError
  readonly defect?: unknown
}

/** At most `max` lines within `millis`. */
class Ration {
  private readonly max: number
  private readonly millis: number
  private readonly at: Array<number> = []
  private kept = 0

  constructor(max: number, millis: number) {
    this.max = max
    this.millis = millis
  }

  /** How many were kept back since the line before, and whether this is the last one for a while; undefined: this one is kept back too. */
  draw(now: number): { readonly kept: number; readonly isLast: boolean } | undefined {
    while (this.at.length > 0 && now - this.at[0]! >= this.millis) this.at.shift()
    if (this.at.length >= this.max) {
      this.kept++
      return undefined
    }
    this.at.push(now)
    const { kept } = this
    this.kept = 0
    return { kept, isLast: this.at.length === this.max }
  }
}

const minute = 60_000

/** Lines of a sort at most, and within how many milliseconds. */
export const rations = {
  outage: [5, 10 * minute],
  refused: [4, 10 * minute],
  invalid: [1, minute],
  failed: [1, minute],
  defect: [1, minute],
  overflow: [1, minute]
} as const

type Sort = keyof typeof rations

/** The lines that are to be told, and the rations of each sort. */
export class Lines {
  private readonly rations: Record<Sort, Ration>
  private told: Array<Line> = []

  constructor() {
    const ration = (sort: Sort): Ration => new Ration(rations[sort][0], rations[sort][1])
    this.rations = {
      outage: ration("outage"),
      refused: ration("refused"),
      invalid: ration("invalid"),
      failed: ration("failed"),
      defect: ration("defect"),
      overflow: ration("overflow")
    }
  }

  get isEmpty(): boolean {
    return this.told.length === 0
  }

  add(line: Line): void {
    this.told.push(line)
  }

  /** A Warn line of this sort, if its ration lasts. Whether it does. */
  warn(
    sort: Sort,
    now: number,
    textOf: (isLast: boolean) => string,
    facts: Omit<Line, "level" | "text"> = {}
  ): boolean {
    const drawn = this.rations[sort].draw(now)
    if (drawn === undefined) return false
    const more = drawn.kept === 0 ? "" : ` (and ${drawn.kept} more like it since the last such line)`
    const why = facts.error === undefined ? "" : `: ${facts.error.message}`
    this.add({ level: "Warn", text: `${textOf(drawn.isLast)}${more}${why}`, ...facts })
    return true
  }

  take(): ReadonlyArray<Line> {
    const { told } = this
    this.told = []
    return told
  }
}
