/**
 * Which Events wait to be posted, and which sayings are counted on one of them (D17, D18). A machine without effects; times in milliseconds since 1970.
 *
 * Guarantees: at most `capacity` Events wait; when there are more, the oldest Normal goes, and a Warning only if no Normal waits (B84, B87). A series is
 * in flight once at a time. What is said about one object, with one type, reason and text, within `repeatsWithin` of the last time is one Event whose
 * count grows; while `textsMax` different texts were said within `textsWithin`, further ones share one Event that keeps the latest, however long the flood
 * goes on. Memory is bounded, and none of it is a whole object or a text that is not posted.
 */
import * as Duration from "effect/Duration"
import type { Budgets, Subject } from "../PostingPolicy.ts"
import { fitted, type Place, type Words } from "./eventBody.ts"

/** Series and groups of texts that are remembered. */
const rememberedMax = 4_096

const combinedPrefix = "(combined from similar events): "

export interface Saying {
  readonly about: Subject
  readonly place: Place
  readonly words: Words
  readonly at: number
  readonly budgets: Budgets
}

/** One Event, and how often it was said. */
export interface Series {
  readonly id: string
  readonly about: Subject
  readonly place: Place
  readonly isCombined: boolean
  readonly budgets: Budgets
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

/** The different texts of one (object, type, reason), by their digest, the last said last: when that was, and whether it has an Event of its own. */
type Texts = Map<string, { readonly at: number; readonly own: boolean }>

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
  /** Tells sayings of one millisecond apart where each is an Event of its own. */
  private said = 0

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

  private seriesOf({ about, at, budgets, place, words }: Saying): Series {
    const repeatsWithin = Duration.toMillis(budgets.repeatsWithin)
    const object = about.metadata.uid ?? `${about.apiVersion} ${about.kind} ${about.metadata.name}`
    // The place too: the same object may be told of elsewhere after a refusal.
    const group = JSON.stringify([place.namespace, object, words.type, words.reason])
    const text = digestOf(words.message)
    const isCombined = this.isOneTooMany(group, text, at, budgets)
    const once = repeatsWithin > 0 ? "" : ` ${at.toString(36)}.${(this.said++).toString(36)}`
    const id = `${group}${isCombined ? "" : ` ${text}`}${once}`
    const said = isCombined ? fitted({ ...words, message: `${combinedPrefix}${words.message}` }) : words
    const present = this.series.get(id)
    this.series.delete(id)
    const isRepeat = present !== undefined && (present.state !== "idle" || at - present.lastAt <= repeatsWithin)
    const series: Series = isRepeat
      ? present
      : {
          id,
          about,
          place,
          isCombined,
          budgets,
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

  private isOneTooMany(group: string, text: string, at: number, { textsMax, textsWithin }: Budgets): boolean {
    if (!Number.isFinite(textsMax)) return false
    const within = Duration.toMillis(textsWithin)
    const texts: Texts = this.texts.get(group) ?? new Map()
    this.texts.delete(group)
    this.texts.set(group, texts)
    for (const [other, { at: last }] of texts) if (at - last > within) texts.delete(other)
    const known = texts.get(text)
    texts.delete(text)
    const own = known?.own === true || texts.size < textsMax
    texts.set(text, { at, own })
    // Those that share an Event are remembered too: while so many different ones are said, the flood has not ended.
    if (texts.size > 2 * textsMax) {
      const [oldest] = [...texts].find(([, { own }]) => !own) ?? []
      texts.delete(oldest!)
    }
    return !own
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

/** 64 bits of a text, as hex: to tell texts apart, not to keep anything secret. */
const digestOf = (text: string): string => {
  let a = 0x811c9dc5
  let b = 0xc9dc5811
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    a = Math.imul(a ^ unit, 0x01000193)
    b = Math.imul(b ^ (unit + i), 0x85ebca6b)
  }
  return [a, b ^ (a >>> 13)].map((half) => (half >>> 0).toString(16).padStart(8, "0")).join("")
}

/** A name that the same Event gets again after a restart, so that repeats go on counting there (B83): 64 bits of the series' identity, as hex. */
export const nameOf = (prefix: string, id: string): string => prefix + digestOf(id)
