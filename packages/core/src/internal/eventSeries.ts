/**
 * Which Events wait to be posted, and which sayings are counted on one of them (D17, D18). A machine without effects; times in milliseconds since 1970.
 *
 * Guarantees: at most `capacity` Events wait, those put back included; when there are more, the oldest Normal goes, and a Warning only if no Normal waits
 * (B84, B87). A series is in flight once at a time. Each saying is posted, dropped and counted, or waits: none is lost between. What is said about one object, with one type, reason and text, within `repeatsWithin` of the last time is one Event whose
 * count grows; while `textsMax` different texts were said within `textsWithin`, further ones share one Event that keeps the latest, however long the flood
 * goes on. Memory is bounded, and none of it is a whole object or a text that is not posted.
 */
import * as Duration from "effect/Duration"
import type { Budgets, Subject } from "../PostingPolicy.ts"
import { fitted, type Place, type Words } from "./eventBody.ts"
import type { Trouble } from "./eventOutage.ts"

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
  state: "idle" | "waiting" | "in flight"
  /** Whether the server has the Event, as far as is known, so that the next saying changes it; of an earlier start it has not told what stands on it. */
  isThere: boolean
  /** Sayings that are neither posted nor dropped. */
  untold: number
  trouble: Trouble | undefined
}

export type Offered = "waiting" | "counted" | "overflow"

/**
 * Why sayings are dropped. `overflow`: too many waited; `refused`: their namespace takes no Events, for lack of a right or because it is terminating; `gone`:
 * it is not there; `invalid`: the server does not take this Event; `failed`: it failed again and again while others passed; `shutdown`: not posted
 * within the grace; `defect`: something threw.
 */
export type Drop = "overflow" | "refused" | "gone" | "invalid" | "failed" | "shutdown" | "defect"

/** Sayings, from the beginning. */
export interface Totals {
  said: number
  posted: number
  readonly dropped: Record<Drop, number>
}

const noDrops: Totals["dropped"] = { overflow: 0, refused: 0, gone: 0, invalid: 0, failed: 0, shutdown: 0, defect: 0 }

const droppedOf = ({ dropped }: Totals): number => Object.values(dropped).reduce((sum, count) => sum + count, 0)

/** The different texts of one (object, type, reason), by their digest, the last said last: when that was, and whether it has an Event of its own. */
type Texts = Map<string, { readonly at: number; readonly own: boolean }>

const isMinor = ({ words }: Series): boolean => words.type === "Normal" || words.type === "Debug"

interface Times {
  readonly repeatsWithin: number
  readonly textsWithin: number
}

const times = new WeakMap<Budgets, Times>()

/** Of the budgets, in milliseconds; a policy's texts are read once and not in each saying. */
export const millisOf = (budgets: Budgets): Times => {
  const known = times.get(budgets)
  if (known !== undefined) return known
  const read = {
    repeatsWithin: Duration.toMillis(budgets.repeatsWithin),
    textsWithin: Duration.toMillis(budgets.textsWithin)
  }
  times.set(budgets, read)
  return read
}

export class EventSeries {
  readonly capacity: number
  readonly totals: Totals = { said: 0, posted: 0, dropped: { ...noDrops } }
  /** In the order of their last saying. */
  private readonly series = new Map<string, Series>()
  private readonly texts = new Map<string, Texts>()
  private readonly minor = new Set<Series>()
  private readonly major = new Set<Series>()
  private readonly flying = new Set<Series>()
  private isEnded = false
  /** Tells sayings of one millisecond apart where each is an Event of its own. */
  private serial = 0

  constructor(capacity: number) {
    this.capacity = capacity >= 1 ? capacity : 1
  }

  /** Events that wait. */
  get waiting(): number {
    return this.minor.size + this.major.size
  }

  get inFlight(): number {
    return this.flying.size
  }

  /** Sayings that were given up, whatever the cause. */
  get dropped(): number {
    return droppedOf(this.totals)
  }

  say(saying: Saying): Offered {
    this.totals.said++
    return this.add(saying, 1)
  }

  /** The next to post of those that are ready: of each sort the oldest, what is not Normal first. */
  take(isReady: (series: Series) => boolean = () => true): Series | undefined {
    for (const lane of [this.major, this.minor]) for (const next of lane) if (isReady(next)) return this.fly(next)
    return undefined
  }

  /** The next to post of those of the least rank. */
  takeLeast(rankOf: (series: Series) => number): Series | undefined {
    let least: Series | undefined
    for (const lane of [this.major, this.minor])
      for (const next of lane) if (least === undefined || rankOf(next) < rankOf(least)) least = next
    return least && this.fly(least)
  }

  /** The earliest that one of those that wait says. */
  earliest(timeOf: (series: Series) => number): number {
    let earliest = Infinity
    for (const lane of [this.major, this.minor]) for (const next of lane) earliest = Math.min(earliest, timeOf(next))
    return earliest
  }

  /** `count` stands on the Event `name`. What was said meanwhile waits. */
  done(series: Series, posted: { readonly name: string; readonly count: number }): void {
    this.land(series)
    const untold = Math.min(series.untold, Math.max(0, series.count - posted.count))
    this.totals.posted += series.untold - untold
    series.untold = untold
    series.posted = posted
    series.isThere = true
    series.trouble = undefined
    if (untold > 0) this.wait(series)
  }

  /** It was not posted and waits again, behind the others of its sort. */
  putBack(series: Series): void {
    this.land(series)
    this.wait(series)
  }

  /** It is never posted; its next saying begins a new Event. */
  giveUp(series: Series, cause: Drop): void {
    this.land(series)
    this.drop(series, cause)
    this.forget(series)
  }

  /** What was said since is not counted on the Event that is there, to which later sayings go on to be counted. */
  leave(series: Series, cause: Drop): void {
    this.land(series)
    this.drop(series, cause)
    series.isThere = true
  }

  /** It is said of the same object in another place. */
  move(series: Series, place: Place): void {
    this.land(series)
    this.forget(series)
    const { about, budgets, lastAt: at, untold, words } = series
    this.add({ about, budgets, at, place, words }, untold)
  }

  /** Gives up what waits or flies, and whatever is said from now on. */
  end(): void {
    this.isEnded = true
    for (const series of [...this.flying, ...this.major, ...this.minor]) this.drop(series, "shutdown")
    for (const set of [this.flying, this.major, this.minor]) set.clear()
  }

  private add(saying: Saying, times: number): Offered {
    if (this.isEnded) {
      this.totals.dropped.shutdown += times
      return "overflow"
    }
    const series = this.seriesOf(saying)
    series.count += times
    series.untold += times
    return series.state === "idle" ? this.wait(series) : "counted"
  }

  private wait(series: Series): Offered {
    series.state = "waiting"
    this.laneOf(series).add(series)
    return this.waiting > this.capacity ? this.overflow() : "waiting"
  }

  private fly(series: Series): Series {
    this.laneOf(series).delete(series)
    series.state = "in flight"
    this.flying.add(series)
    return series
  }

  private land(series: Series): void {
    this.flying.delete(series)
    series.state = "idle"
  }

  private drop(series: Series, cause: Drop): void {
    this.totals.dropped[cause] += series.untold
    series.untold = 0
    series.trouble = undefined
  }

  private laneOf(series: Series): Set<Series> {
    return isMinor(series) ? this.minor : this.major
  }

  private overflow(): Offered {
    const lane = this.minor.size > 0 ? this.minor : this.major
    const [oldest] = lane
    lane.delete(oldest!)
    oldest!.state = "idle"
    this.drop(oldest!, "overflow")
    if (oldest!.posted === undefined) this.forget(oldest!)
    return "overflow"
  }

  private forget(series: Series): void {
    if (this.series.get(series.id) === series) this.series.delete(series.id)
  }

  private seriesOf({ about, at, budgets, place, words }: Saying): Series {
    const { repeatsWithin } = millisOf(budgets)
    const object = about.metadata.uid || `${about.apiVersion} ${about.kind} ${about.metadata.name}`
    // The place too: the same object may be told of elsewhere after a refusal.
    const group = JSON.stringify([place.namespace, object, words.type, words.reason])
    const text = digestOf(words.message)
    const isCombined = this.isOneTooMany(group, text, at, budgets)
    const once = repeatsWithin > 0 ? "" : ` ${at.toString(36)}.${(this.serial++).toString(36)}`
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
          state: "idle",
          isThere: false,
          untold: 0,
          trouble: undefined
        }
    this.series.set(id, series)
    series.words = said
    series.lastAt = Math.max(series.lastAt, at)
    this.prune()
    return series
  }

  private isOneTooMany(group: string, text: string, at: number, budgets: Budgets): boolean {
    const { textsMax } = budgets
    if (!Number.isFinite(textsMax)) return false
    const { textsWithin } = millisOf(budgets)
    const texts: Texts = this.texts.get(group) ?? new Map()
    this.texts.delete(group)
    this.texts.set(group, texts)
    // In the order of their last saying.
    for (const [other, { at: last }] of texts) {
      if (at - last <= textsWithin) break
      texts.delete(other)
    }
    const known = texts.get(text)
    texts.delete(text)
    const own = known?.own === true || texts.size < textsMax
    texts.set(text, { at, own })
    // Those that share an Event are remembered too: while so many different ones are said, the flood has not ended.
    if (texts.size > 2 * textsMax) {
      for (const [other, known] of texts) {
        if (known.own) continue
        texts.delete(other)
        break
      }
    }
    return !own
  }

  /** The longest silent are forgotten, but not what waits or flies: the same Event would be posted twice at once. */
  private prune(): void {
    const seriesMax = Math.max(rememberedMax, 2 * this.capacity)
    for (const [id, series] of this.series) {
      if (this.series.size <= seriesMax) break
      this.series.delete(id)
      if (series.state !== "idle") this.series.set(id, series)
    }
    const [oldest] = this.texts.keys()
    if (this.texts.size > rememberedMax) this.texts.delete(oldest!)
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
