/**
 * How one resource is followed: list, watch, resume, list again. A pure machine: it gets what the API answered and says what goes into the cache and
 * what is to be asked next.
 *
 * Guarantees:
 * - A list is answered whole or not at all: between `Begin` and `Commit` nothing counts (B3, B17). Deletions are what a whole list lacks.
 * - A list asks for nothing older than what was seen, and an older answer is refused (B14), but for one case: the server itself says that it never had
 *   our version, then its newest state is taken as it is (`reset`; etcd was restored from a backup).
 * - After 410, in whichever form, the old version is never watched again (B1, B2).
 * - A list that gets nowhere, by a token that comes again or by more pages than any list has, is a failure and begins anew after a delay.
 * - Asking goes on for ever, at delays that grow to a cap and start anew only after a change was heard or a stream lived for some seconds (B6).
 *
 * Choices:
 * - The first list asks for the newest state, not for version "0": after a restart an operator must not see less than its predecessor wrote.
 * - Lists are streamed (`sendInitialEvents`); a server that refuses, or does not end the list in time, is asked by pages from then on (B18); one whose
 *   stream breaks, for the next list.
 * - A list of which the first page says that it is not large is then asked for in one answer: servers have that in their cache, and read later pages from
 *   their store, at five times the cost (`docs/BENCHMARKS.md`).
 * - A page token that has expired leads to one list without pages, never to the server's fresh token: that gives the rest at a newer version, and a
 *   deletion between the two would never be told (B16, F45).
 */
import { ApiError } from "../ApiError.ts"
import type { ListOptions, ListPage, WatchEvent, WatchOptions } from "../ApiClient.ts"
import type { KubeObject } from "../KubeObject.ts"
import * as ResourceVersion from "./resourceVersion.ts"

/** All times in milliseconds. */
export interface Options {
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  /** Whether lists are streamed where the server can. */
  readonly streamingList: boolean
  readonly pageSize: number
  /** Within this a streamed list must have ended. */
  readonly listStreamMillisMax: number
  /** A stream that lived so long was a good one. */
  readonly settledMillis: number
  /** First and longest delay after a failure. */
  readonly delayMillisMin: number
  readonly delayMillisMax: number
  /** The same after a refusal that only somebody's deed will mend: 403, 404 and the like (B25, B26, B28). */
  readonly slowMillisMin: number
  readonly slowMillisMax: number
}

export const defaults: Options = {
  streamingList: true,
  pageSize: 500,
  listStreamMillisMax: 30_000,
  settledMillis: 5_000,
  delayMillisMin: 500,
  delayMillisMax: 30_000,
  slowMillisMin: 5_000,
  slowMillisMax: 30_000
}

/** A longer Retry-After is cut to this. */
const retryAfterMillisMax = 300_000
/** So often one page is asked for again before the list begins anew. */
const pageTriesMax = 3
/** A list of no more than this is not large: it is held as text and as objects at once. */
const wholeBytesMax = 16 * 1024 * 1024
/** A list of more pages than this never ends: at 500 objects a page these are five million. */
const pagesMax = 10_000
/**
 * So many watches that failed in a row without a word between them cast doubt on the version they go on from, or on the server: first the least list is asked
 * for, and only if that is answered and the next watch fails too, the whole. So no outage ends with a list of everything by every client.
 */
const watchFailuresMax = 5
/** A server that sends bookmarks sends one a minute (F65); a stream that said nothing for so long may go on from a version that the server never had (F57). */
const silenceMillisMax = 120_000

type Phase =
  | { readonly _tag: "Idle" }
  | {
      readonly _tag: "Listing"
      readonly token: string | undefined
      /** In one answer, without pages. */
      readonly unlimited: boolean
      /** How often this page was tried. */
      readonly tries: number
      /** How many pages came before. */
      readonly pages: number
    }
  | { readonly _tag: "ListStreaming"; readonly openedAt: number }
  | { readonly _tag: "Watching"; readonly openedAt: number; readonly heard: boolean }
  /** Whether the server answers lists while watches fail. */
  | { readonly _tag: "Probing" }
  | { readonly _tag: "Waiting"; readonly next: "list" | "watch" | "probe" | (Phase & { readonly _tag: "Listing" }) }

export interface State {
  readonly options: Options
  readonly phase: Phase
  /** Where a watch goes on; undefined until the first whole list. */
  readonly position: string | undefined
  /** In a row, without a change heard or a settled stream between them. */
  readonly failures: number
  /** What is wrong now. */
  readonly failure: ApiError | string | undefined
  /** Lists were answered since a watch last told something: if the next one fails, its version is at fault. */
  readonly probed: boolean
  readonly streaming: boolean
  /** The next list is not streamed. */
  readonly byPages: boolean
  /** The next list asks for the newest state and takes it even if it is older. */
  readonly newest: boolean
  /** Whether the server ever sent a bookmark. */
  readonly bookmarks: boolean
  /** When a 410 last led to a list at once. */
  readonly expiredAt: number
}

export type Input =
  | { readonly _tag: "Started" }
  | { readonly _tag: "Page"; readonly page: ListPage }
  | { readonly _tag: "Event"; readonly event: WatchEvent }
  /** The stream ended cleanly. */
  | { readonly _tag: "Ended" }
  | { readonly _tag: "Failed"; readonly error: ApiError }
  /** Something broke on our side. */
  | { readonly _tag: "Died"; readonly message: string }
  /** The open stream has reached its `alarmMillis`. */
  | { readonly _tag: "Alarm" }
  | { readonly _tag: "Waited" }

export type Output =
  | { readonly _tag: "Begin" }
  | { readonly _tag: "Hold"; readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: KubeObject }
  | { readonly _tag: "HoldPage"; readonly items: ReadonlyArray<KubeObject> }
  | { readonly _tag: "Commit"; readonly resourceVersion: string; readonly reset: boolean }
  | { readonly _tag: "Event"; readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: KubeObject }
  | { readonly _tag: "Bookmark"; readonly resourceVersion: string }

export type Command =
  | { readonly _tag: "List"; readonly options: ListOptions }
  /** `alarmMillis`: when to say `Alarm` if the stream is still open; never if undefined. */
  | { readonly _tag: "Watch"; readonly options: WatchOptions; readonly alarmMillis: number | undefined }
  | { readonly _tag: "Wait"; readonly millis: number }

/** `command` undefined: go on with the open stream; else that stream, if any, is to be left. */
export interface Step {
  readonly state: State
  readonly outputs: ReadonlyArray<Output>
  readonly command: Command | undefined
}

export interface Facts {
  /** Of a clock that never goes back. */
  readonly now: number
  /** Random, from 0 up to 1. */
  readonly jitter: number
}

export const initial = (options: Options): State => ({
  options,
  phase: { _tag: "Idle" },
  position: undefined,
  failures: 0,
  failure: undefined,
  probed: false,
  streaming: options.streamingList,
  byPages: false,
  newest: false,
  bookmarks: false,
  expiredAt: -Infinity
})

export const step = (state: State, input: Input, facts: Facts): Step => {
  switch (input._tag) {
    case "Started":
      return list(state, facts)
    case "Page":
      return onPage(state, input.page, facts)
    case "Event":
      return state.phase._tag === "ListStreaming"
        ? onListed(state, state.phase.openedAt, input.event, facts)
        : onEvent(state, input.event)
    case "Ended":
      return onEnded(state, facts)
    case "Failed":
      return onFailed(state, input.error, facts)
    case "Died":
      return wait({ ...state, failure: input.message }, "list", facts)
    case "Alarm":
      // A server that does not end the list is not asked again to stream one.
      return state.phase._tag === "ListStreaming"
        ? list({ ...state, streaming: false }, facts)
        : stay({ ...state, failures: 0, failure: undefined, probed: false })
    case "Waited": {
      const next = state.phase._tag === "Waiting" ? state.phase.next : "list"
      if (next === "list") return list(state, facts)
      if (next === "probe") return probe(state)
      return next === "watch" ? watch(state, facts) : listPage(state, next, [])
    }
  }
}

const stay = (state: State, ...outputs: ReadonlyArray<Output>): Step => ({ state, outputs, command: undefined })

const scope = ({ fieldSelector, labelSelector, namespace }: Options) => ({
  ...(namespace !== undefined && { namespace }),
  ...(labelSelector !== undefined && { labelSelector }),
  ...(fieldSelector !== undefined && { fieldSelector })
})

/** Between 5 and 10 minutes, so that the streams of many clients do not end together. */
const timeoutSeconds = (facts: Facts): number => 300 + Math.floor(300 * facts.jitter)

const begin: Output = { _tag: "Begin" }

const list = (state: State, facts: Facts): Step => {
  const { options, position } = state
  if (!state.streaming || state.byPages)
    return listPage(state, { _tag: "Listing", token: undefined, unlimited: false, tries: 0, pages: 0 }, [begin])
  return {
    state: { ...state, phase: { _tag: "ListStreaming", openedAt: facts.now } },
    outputs: [begin],
    command: {
      _tag: "Watch",
      options: {
        ...scope(options),
        sendInitialEvents: true,
        timeoutSeconds: timeoutSeconds(facts),
        ...(position !== undefined && !state.newest && { resourceVersion: position })
      },
      alarmMillis: options.listStreamMillisMax
    }
  }
}

const listPage = (state: State, phase: Phase & { _tag: "Listing" }, outputs: ReadonlyArray<Output>): Step => {
  const { options, position } = state
  return {
    state: { ...state, phase },
    outputs,
    command: {
      _tag: "List",
      options: {
        ...scope(options),
        ...(!phase.unlimited && { limit: options.pageSize }),
        ...(phase.token !== undefined
          ? { continue: phase.token }
          : position !== undefined &&
            !state.newest && { resourceVersion: position, resourceVersionMatch: "NotOlderThan" as const })
      }
    }
  }
}

const probe = (state: State): Step => ({
  state: { ...state, phase: { _tag: "Probing" } },
  outputs: [],
  command: { _tag: "List", options: { ...scope(state.options), limit: 1 } }
})

const watch = (state: State, facts: Facts): Step => ({
  state: { ...state, phase: { _tag: "Watching", openedAt: facts.now, heard: false } },
  outputs: [],
  command: {
    _tag: "Watch",
    options: {
      ...scope(state.options),
      timeoutSeconds: timeoutSeconds(facts),
      ...(state.position !== undefined && { resourceVersion: state.position })
    },
    alarmMillis: state.failures > 0 || state.failure !== undefined ? state.options.settledMillis : undefined
  }
})

const onPage = (state: State, page: ListPage, facts: Facts): Step => {
  const { phase } = state
  if (phase._tag === "Probing") return watch({ ...state, probed: true }, facts)
  if (phase._tag !== "Listing") return stay(state)
  if (isTooOld(state, page.resourceVersion)) return refuse(state, page.resourceVersion, facts)
  const held: Output = { _tag: "HoldPage", items: page.items }
  if (page.continue !== undefined && page.continue !== "") {
    if (isBetterWhole(state, phase, page)) return listPage(state, { ...phase, unlimited: true, pages: 1 }, [begin])
    const isEndless = page.continue === phase.token || phase.pages + 1 >= pagesMax
    return isEndless
      ? wait({ ...state, failure: endless(phase.pages + 1) }, "list", facts)
      : listPage(state, { ...phase, token: page.continue, tries: 0, pages: phase.pages + 1 }, [held])
  }
  const [committed, commit] = commitAt(state, page.resourceVersion)
  const next = watch(committed, facts)
  return { ...next, outputs: [held, commit] }
}

const endless = (pages: number): string =>
  `the server's list has no end: ${pages === 1 ? "its first page" : `page ${pages}`} leads on to itself or too far`

/** Not after a failure, since an answer that was too much for somebody on the way would be so again. */
const isBetterWhole = (
  { failures }: State,
  { pages, unlimited }: Phase & { _tag: "Listing" },
  { bytes, items, remainingItemCount }: ListPage
): boolean =>
  failures === 0 &&
  pages === 0 &&
  !unlimited &&
  bytes !== undefined &&
  remainingItemCount !== undefined &&
  bytes * (1 + remainingItemCount / Math.max(1, items.length)) <= wholeBytesMax

/** What comes in a streamed list. Bookmarks before its end say nothing: the objects do not come in the order of versions. */
const onListed = (state: State, openedAt: number, event: WatchEvent, facts: Facts): Step => {
  if (event.type !== "BOOKMARK") return stay(state, { _tag: "Hold", type: event.type, object: event.object })
  if (!event.initialEventsEnd) return stay(state)
  if (isTooOld(state, event.resourceVersion)) return refuse(state, event.resourceVersion, facts)
  const [committed, commit] = commitAt(state, event.resourceVersion)
  return stay({ ...committed, phase: { _tag: "Watching", openedAt, heard: true } }, commit)
}

const onEvent = (state: State, event: WatchEvent): Step => {
  const version = event.type === "BOOKMARK" ? event.resourceVersion : event.object.metadata.resourceVersion
  const position = ResourceVersion.later(state.position, version)
  const isBookmark = event.type === "BOOKMARK"
  const next: State = {
    ...state,
    position,
    phase: state.phase._tag === "Watching" && !state.phase.heard ? { ...state.phase, heard: true } : state.phase,
    // A server that sends the same again each time gets nowhere.
    failures: isBookmark || position === state.position ? state.failures : 0,
    failure: undefined,
    probed: false,
    bookmarks: state.bookmarks || isBookmark
  }
  return stay(
    next,
    event.type === "BOOKMARK"
      ? { _tag: "Bookmark", resourceVersion: version }
      : { _tag: "Event", type: event.type, object: event.object }
  )
}

const onEnded = (state: State, facts: Facts): Step => {
  const { options, phase } = state
  if (phase._tag !== "Watching") return wait({ ...state, byPages: true }, "list", facts)
  const lived = facts.now - phase.openedAt
  if (lived < options.settledMillis) {
    const isHabit = state.failures >= 2
    return wait(isHabit ? { ...state, failure: "the server ends each watch at once" } : state, "watch", facts)
  }
  const next: State = { ...state, failures: 0, failure: undefined, probed: false }
  return lived >= silenceMillisMax && !phase.heard && state.bookmarks ? list(next, facts) : watch(next, facts)
}

const onFailed = (state: State, error: ApiError, facts: Facts): Step => {
  const { phase } = state
  const failed: State = { ...state, failure: error }
  if (isFromTheFuture(error)) return wait({ ...failed, newest: true }, "list", facts, error)
  switch (phase._tag) {
    case "Listing": {
      if (error.reason._tag === "Expired" && phase.token !== undefined && !phase.unlimited)
        return listPage(
          { ...state, failures: state.failures + 1 },
          { ...phase, token: undefined, unlimited: true, pages: 0 },
          [begin]
        )
      const isWorthIt = phase.token !== undefined && phase.tries < pageTriesMax && !isSlow(error)
      return wait(failed, isWorthIt ? { ...phase, tries: phase.tries + 1 } : "list", facts, error)
    }
    case "ListStreaming":
      return isUnsupported(error)
        ? list({ ...state, streaming: false }, facts)
        : wait({ ...failed, byPages: true }, "list", facts, error)
    case "Probing":
      return wait(failed, "probe", facts, error)
    default:
      if (error.reason._tag !== "Expired") {
        const isDoubtful = state.failures + 1 >= watchFailuresMax
        return wait(failed, isDoubtful ? (state.probed ? "list" : "probe") : "watch", facts, error)
      }
      // The first 410 is ordinary: a long pause, a compaction. Events between two of them prove nothing, if both come at once.
      return (state.failures === 0 || state.probed) && facts.now - state.expiredAt >= state.options.settledMillis
        ? list({ ...state, failures: Math.max(1, state.failures), expiredAt: facts.now }, facts)
        : wait(state.failures < 2 ? state : failed, "list", facts, error)
  }
}

/** Waits for the backoff, or for what the server asked for and the backoff on top, so that many clients told the same do not come together (B19, B20). */
const wait = (state: State, next: (Phase & { _tag: "Waiting" })["next"], facts: Facts, error?: ApiError): Step => {
  const { delayMillisMax, delayMillisMin, slowMillisMax, slowMillisMin } = state.options
  const [min, max] =
    error !== undefined && isSlow(error) ? [slowMillisMin, slowMillisMax] : [delayMillisMin, delayMillisMax]
  const longest = Math.min(max, min * 2 ** Math.min(state.failures, 30))
  return {
    state: { ...state, phase: { _tag: "Waiting", next }, failures: state.failures + 1 },
    outputs: [],
    command: { _tag: "Wait", millis: retryAfter(error) + longest * (0.5 + 0.5 * facts.jitter) }
  }
}

const isTooOld = ({ newest, position }: State, version: string): boolean =>
  !newest && position !== undefined && (ResourceVersion.compare(version, position) ?? 0) < 0

const refuse = (state: State, version: string, facts: Facts): Step =>
  wait(
    {
      ...state,
      byPages: true,
      failure: `the server answered version ${version} though not older than ${state.position} was asked for`
    },
    "list",
    facts
  )

const commitAt = (state: State, version: string): readonly [State, Output] => {
  const reset =
    state.newest && state.position !== undefined && (ResourceVersion.compare(version, state.position) ?? 0) < 0
  const { failure } = state
  const committed: State = {
    ...state,
    position: reset ? version : ResourceVersion.later(state.position, version),
    byPages: false,
    newest: false,
    // That the watch works too is not known yet.
    failure:
      failure instanceof ApiError && failure.verb === "watch" && state.phase._tag === "Listing" ? failure : undefined
  }
  return [committed, { _tag: "Commit", resourceVersion: version, reset }]
}

const retryAfter = (error: ApiError | undefined): number =>
  error === undefined || !("retryAfterMillis" in error.reason)
    ? 0
    : Math.min(error.reason.retryAfterMillis ?? 0, retryAfterMillisMax)

const isSlow = ({ reason }: ApiError): boolean => {
  switch (reason._tag) {
    case "NotFound":
    case "Forbidden":
    case "BadRequest":
    case "Invalid":
    case "TestFailed":
    case "Refused":
    case "NamespaceTerminating":
      return true
    default:
      return false
  }
}

/** F41: the version that we saw is newer than all that the server has. */
const isFromTheFuture = ({ reason }: ApiError): boolean =>
  reason._tag === "ServerTimeout" &&
  (reason.causes.some((cause) => cause.reason === "ResourceVersionTooLarge") ||
    reason.message.includes("Too large resource version"))

/** What servers answer that know no streamed lists, or have them switched off: 400, or 422 without details. */
const isUnsupported = ({ reason }: ApiError): boolean =>
  reason._tag === "BadRequest" || reason._tag === "Invalid" || reason._tag === "TestFailed" || reason._tag === "Refused"
