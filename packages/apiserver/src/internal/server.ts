/** A running server: the one mutable cell around the machine, its open watches, and its log. */
import type { ApiError } from "@fixpoint/core/ApiError"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { Change } from "./history.ts"
import * as History from "./history.ts"
import * as Machine from "./machine.ts"
import type { Request, Response } from "./request.ts"
import * as SortedMap from "./sortedMap.ts"
import type { State } from "./state.ts"
import type { Watch, WireEvent } from "./watching.ts"

/** Where the events of a watch go. */
export interface Sink {
  /** False if the reader is too far behind: the watch is ended then, as the real server ends slow readers. */
  readonly offer: (event: WireEvent) => boolean
  /** Cleanly, or as a connection that breaks. */
  readonly end: (failure?: ApiError) => void
}

interface Watcher {
  readonly watch: Watch
  readonly sink: Sink
}

/** How many events the reader of a watch may be behind. */
export const watchCapacity = 65_536

export interface Server {
  state: State
  /** Of requests, from 1. Each has its own draws of chance. */
  count: number
  readonly seed: number
  readonly watchers: Map<string, Set<Watcher>>
  /** Completed, and replaced, when there is a new due time for the timer. */
  alarm: Deferred.Deferred<void>
}

export const make = (now: number, seed: number): Server => ({
  state: Machine.boot({ now, seed }),
  count: 0,
  seed,
  watchers: new Map(),
  alarm: Deferred.makeUnsafe()
})

/** Requests of one server differ in seed, and those of the same number in two servers of one seed agree. */
const nextSeed = (server: Server): number => Math.imul(++server.count, 0x9e3779b1) ^ server.seed

/** Answers a request and tells the open watches. */
export const handle = (server: Server, request: Omit<Request, "now" | "seed">, now: number): Machine.Stepped => {
  const stepped = Machine.step(server.state, { ...request, now, seed: nextSeed(server) })
  accept(server, stepped)
  return stepped
}

const accept = (server: Server, { changes, ended, state }: Omit<Machine.Stepped, "response">): void => {
  const due = Machine.nextDue(state)
  const isNews = due !== undefined && due !== Machine.nextDue(server.state)
  server.state = state
  for (const change of changes) deliver(server, change)
  for (const resource of ended) endWatches(server, resource)
  if (isNews) {
    Deferred.doneUnsafe(server.alarm, Effect.void)
    server.alarm = Deferred.makeUnsafe()
  }
}

const deliver = (server: Server, change: Change): void => {
  const watchers = server.watchers.get(change.resource)
  if (watchers === undefined) return
  for (const watcher of watchers) {
    if (change.rv <= watcher.watch.from) continue
    const event = watcher.watch.event(change)
    if (event === undefined) continue
    if (!watcher.sink.offer(event)) {
      watchers.delete(watcher)
      watcher.sink.end()
    }
  }
}

export const endWatches = (server: Server, resource: string, failure?: ApiError): void => {
  const ended = server.watchers.get(resource) ?? []
  server.watchers.delete(resource)
  for (const { sink } of ended) sink.end(failure)
}

/** Registers the watch in the moment in which it was opened, so that no change falls between. */
export const subscribe = (server: Server, watcher: Watcher): (() => void) => {
  const { resource } = watcher.watch.definition
  const watchers = server.watchers.get(resource) ?? new Set()
  server.watchers.set(resource, watchers.add(watcher))
  return () => void watchers.delete(watcher)
}

export const openWatch = (server: Server, request: Omit<Request, "now" | "seed">, now: number): Watch | Response =>
  Machine.watch(server.state, { ...request, now, seed: 0 })

/** Forgets what watches and old lists live on, up to the present version, of one resource or of all. */
export const compact = (server: Server, resource: string | undefined): void => {
  const { state } = server
  server.state = {
    ...state,
    stored: SortedMap.mapValues(state.stored, (stored) => ({
      ...stored,
      history: History.compact(stored.history, state.rv)
    }))
  }
  if (resource !== undefined) {
    const own = SortedMap.get(server.state.stored, resource)
    server.state = own === undefined ? state : { ...state, stored: SortedMap.set(state.stored, resource, own) }
  }
}

/** Does what becomes due, for ever: sleeps only while something is due. */
export const timer = (server: Server): Effect.Effect<never> =>
  Effect.gen(function* () {
    while (true) {
      const { alarm } = server
      const due = Machine.nextDue(server.state)
      if (due === undefined) {
        yield* Deferred.await(alarm)
        continue
      }
      const now = yield* Clock.currentTimeMillis
      if (now < due) yield* Effect.raceFirst(Effect.sleep(due - now), Deferred.await(alarm))
      else accept(server, Machine.tick(server.state, { now, seed: nextSeed(server) }))
    }
  })
