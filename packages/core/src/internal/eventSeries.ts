/**
 * Which Events wait to be posted, and which sayings are counted on one of them (D17, D18). A machine without effects; times in milliseconds since 1970.
 *
 * Guarantees: at most `capacity` Events wait; when there are more, the oldest Normal goes, and a Warning only if no Normal waits (B84, B87). A series is
 * in flight once at a time. What is said about one object, with one type, reason and text, within `repeatWindow` of the last time is one Event whose
 * count grows; after `textsMax` different texts within `textsWindow` the rest is one Event that keeps the latest text. Memory is bounded.
 */
import type { Subject } from "../PostingPolicy.ts"
import { fitted, type Place, type Words } from "./eventBody.ts"

/** Repeats within this time of the last are counted on one Event (D18). */
export const repeatWindow = 360_000
/** After this many texts of one (object, type, reason) ... */
export const textsMax = 10
/** ... within this time, the others are combined (D18). */
export const textsWindow = 600_000
/** Series and groups of texts that are remembered. */
const rememberedMax = 4_096

const combinedPrefix = "(combined from similar events): "

export interface Saying {
  readonly about: Subject
  readonly place: Place
  readonly words: Words
  readonly at: number
}

/** One Event, and how often it was said. */
export interface Series {
  readonly id: string
  readonly about: Subject
  readonly place: Place
  readonly isCombined: boolean
  /** Of the last saying. */
  words: Words
  count: number
  firstAt: number
  lastAt: number
  /** What the server knows: the name of the Event and the count on it. */
  posted: { readonly name: string; readonly count: number } | undefined
  state: "idle" | "waiting" | "in flight" | "said again in flight"
}

export type Offered = "waiting" | "counted" | "overflow"

interface Texts {
  readonly at: Map<string, number>
}

const isMinor = ({ words }: Series): boolean => words.type === "Normal" || words.type === "Debug"

export class EventSeries {
  private readonly capacity: number
  /** In the order of their last saying. */
  private readonly series = new Map<string, Series>()
  private readonly texts = new Map<string, Texts>()
  private readonly minor = new Set<Series>()
  private readonly major = new Set<Series>()
  private flying = 0
  private droppedCount = 0

  constructor(capacity: number) {
    this.capacity = Math.max(1, capacity)
  }

  /** Events that wait. */
  get waiting(): number {
    return this.minor.size + this.major.size
  }

  get inFlight(): number {
    return this.flying
  }

  /** Events that were given up because too many waited. */
  get dropped(): number {
    return this.droppedCount
  }

  say(saying: Saying): Offered {
    const series = this.seriesOf(saying)
    if (series.state === "idle") {
      series.state = "waiting"
      this.laneOf(series).add(series)
      return this.waiting > this.capacity ? this.overflow() : "waiting"
    }
    if (series.state === "in flight") series.state = "said again in flight"
    return "counted"
  }

  /** The next to post: of each sort the oldest, what is not Normal first. */
  take(): Series | undefined {
    const [next] = this.major.size > 0 ? this.major : this.minor
    if (next === undefined) return undefined
    this.laneOf(next).delete(next)
    next.state = "in flight"
    this.flying++
    return next
  }

  /** The count `told` stands on the Event `name`; absent: the series was given up, and its next saying begins a new Event. */
  done(series: Series, posted?: { readonly name: string; readonly count: number }): void {
    this.flying--
    const again = series.state === "said again in flight"
    series.state = "idle"
    series.posted = posted
    if (posted === undefined) this.forget(series)
    else if (again && series.count > posted.count) {
      series.state = "waiting"
      this.laneOf(series).add(series)
      if (this.waiting > this.capacity) this.overflow()
    }
  }

  private laneOf(series: Series): Set<Series> {
    return isMinor(series) ? this.minor : this.major
  }

  private overflow(): Offered {
    const lane = this.minor.size > 0 ? this.minor : this.major
    const [oldest] = lane
    lane.delete(oldest!)
    oldest!.state = "idle"
    this.droppedCount++
    if (oldest!.posted === undefined) this.forget(oldest!)
    return "overflow"
  }

  private forget(series: Series): void {
    if (this.series.get(series.id) === series) this.series.delete(series.id)
  }

  private seriesOf({ about, at, place, words }: Saying): Series {
    const object = about.metadata.uid ?? `${about.apiVersion} ${about.kind} ${about.metadata.name}`
    // The place too: the same object may be told of elsewhere after a refusal.
    const group = JSON.stringify([place.namespace, object, words.type, words.reason])
    const isCombined = this.isOneTooMany(group, words.message, at)
    const id = isCombined ? group : JSON.stringify([group, words.message])
    const said = isCombined ? fitted({ ...words, message: `${combinedPrefix}${words.message}` }) : words
    const present = this.series.get(id)
    this.series.delete(id)
    const isRepeat = present !== undefined && (present.state !== "idle" || at - present.lastAt <= repeatWindow)
    const series: Series = isRepeat
      ? present
      : {
          id,
          about,
          place,
          isCombined,
          words: said,
          count: 0,
          firstAt: at,
          lastAt: at,
          posted: undefined,
          state: "idle"
        }
    this.series.set(id, series)
    series.words = said
    series.count++
    series.lastAt = Math.max(series.lastAt, at)
    this.prune()
    return series
  }

  private isOneTooMany(group: string, message: string, at: number): boolean {
    const texts: Texts = this.texts.get(group) ?? { at: new Map() }
    this.texts.delete(group)
    this.texts.set(group, texts)
    for (const [text, last] of texts.at) if (at - last > textsWindow) texts.at.delete(text)
    if (!texts.at.has(message) && texts.at.size >= textsMax) return true
    texts.at.delete(message)
    texts.at.set(message, at)
    return false
  }

  /** The longest silent are forgotten; what waits or flies is held by its lane or its worker. */
  private prune(): void {
    for (const map of [this.series, this.texts]) {
      if (map.size <= rememberedMax) continue
      const [oldest] = map.keys()
      map.delete(oldest!)
    }
  }
}

/** A name that the same Event gets again after a restart, so that repeats go on counting there (B83): 64 bits of the series' identity, as hex. */
export const nameOf = (prefix: string, id: string): string => {
  let a = 0x811c9dc5
  let b = 0xc9dc5811
  for (let i = 0; i < id.length; i++) {
    const unit = id.charCodeAt(i)
    a = Math.imul(a ^ unit, 0x01000193)
    b = Math.imul(b ^ (unit + i), 0x85ebca6b)
  }
  return prefix + [a, b ^ (a >>> 13)].map((half) => (half >>> 0).toString(16).padStart(8, "0")).join("")
}
