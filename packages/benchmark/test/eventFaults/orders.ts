/** What the measuring program asks of an operator under measurement, over the channel between parent and child. */

/** Of the objects: `steady` ones fail in the same way each time, so a pass writes nothing; `changing` ones fail differently each time, and a pass writes a status. */
export interface ByPass<A> {
  readonly steady: A
  readonly changing: A
}

/** Where an operator works; the child gets it as JSON in OPERATOR. */
export interface Site {
  readonly url: string
  readonly ca: string
  readonly token: string
  readonly namespace: string
  /** `none`: `EventPoster.layerNone`. `posting`: `EventPoster.layer`. */
  readonly poster: "none" | "posting"
  readonly objects: ByPass<number>
}

export type Order =
  /** Wakes objects at this pace, and waits until all have settled. */
  | { readonly _tag: "run"; readonly millis: number; readonly perSecond: ByPass<number> }
  /** Wakes every object once. */
  | { readonly _tag: "all" }
  | { readonly _tag: "look"; readonly collect: boolean }
  /** Says so many different Warnings at once, and ends. */
  | { readonly _tag: "flood"; readonly count: number }
  | { readonly _tag: "end" }

/** Milliseconds of each pass, from taken to settled, less what the operator waited for a processor that other programs had. */
export interface Ran {
  readonly _tag: "ran"
  readonly passes: ByPass<Float64Array>
  /** Of the whole process, garbage collection included. */
  readonly cpuMicros: number
  /** How long its main thread waited for a processor that others had. */
  readonly starvedMillis: number
  readonly millis: number
}

export interface Line {
  readonly level: string
  readonly text: string
}

export interface Looked {
  readonly _tag: "looked"
  readonly waiting: number
  readonly inFlight: number
  readonly dropped: number
  /** Since the last look. */
  readonly mostWaiting: number
  readonly peakRssMiB: number
  readonly rssMiB: number
  readonly heapMiB: number
  /** What the poster logged at Info or above since the last look; at most 100 lines, `lineCount` counts all. */
  readonly lines: ReadonlyArray<Line>
  readonly lineCount: number
}

/** How long the end took. */
export interface Ended {
  readonly _tag: "ended"
  readonly millis: number
  readonly waitingAtEnd: number
  readonly lines: ReadonlyArray<Line>
}

export type Answer = { readonly _tag: "ready" } | Ran | Looked | Ended
