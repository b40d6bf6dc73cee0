/**
 * One pass: from a key that was taken to a key that is done. The order is that of the design: read, finalizers, run, settle, status, events, wakes (D8),
 * and then what came meanwhile is judged.
 *
 * Guarantees: of a pass only the step itself is interrupted; what has begun to be written is finished (D30), and every taken key ends in `done`.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as LogLevel from "effect/LogLevel"
import * as Random from "effect/Random"
import * as References from "effect/References"
import * as Result from "effect/Result"
import type * as Controller from "../Controller.ts"
import { formatRef, type KubeObject, ref as refTo } from "../KubeObject.ts"
import * as Pass from "../Pass.ts"
import type { Deleting, Finalizer } from "../Pipeline.ts"
import { Fatal, type ReconcileError } from "../ReconcileError.ts"
import type { Taken } from "../WorkQueues.ts"
import { decoded } from "./decoded.ts"
import type { Unseen } from "./engine.ts"
import { addFinalizer, removeFinalizer } from "./finalizerWriter.ts"
import { isGone } from "./isGone.ts"
import { refOf } from "./key.ts"
import * as Settle from "./settle.ts"
import { asFailure, type Runner } from "./runner.ts"
import { encodedDraft, settledAndWritten, writesStatus } from "./statusStep.ts"

/** What a pass found before its step ran: go on with the object, or there is nothing to do, or a failure. */
type Prepared =
  /** `lost`: it is gone already, and only its clean-up is left. */
  | { readonly _tag: "Run"; readonly object: KubeObject; readonly lost?: boolean }
  | { readonly _tag: "Nothing"; readonly object: KubeObject | undefined }
  | { readonly _tag: "Failed"; readonly object: KubeObject; readonly exit: Exit.Exit<never, ReconcileError> }

const nothing = (object: KubeObject | undefined): Prepared => ({ _tag: "Nothing", object })

const isDeleting = (object: KubeObject): boolean => object.metadata.deletionTimestamp !== undefined

/** Our finalizers that the object bears, the last added first. */
const heldBy = (controller: Controller.Any, object: KubeObject): ReadonlyArray<Finalizer> => {
  const present = object.metadata.finalizers ?? []
  return controller.reconciler.finalizers.filter(({ name }) => present.includes(name)).toReversed()
}

/** Reads what the watch has not told in time from the server itself (D29). */
const catchUp = ({ api }: Runner, unseen: ReadonlyArray<Unseen>): Effect.Effect<void> =>
  Effect.forEach(
    unseen,
    ({ ref, store, uid }) =>
      api.get(store.resource, ref).pipe(
        Effect.map((object) => (object.metadata.uid === uid ? store.fold(object) : store.foldDeleted(ref, uid))),
        Effect.catch((error) =>
          error.reason._tag === "NotFound"
            ? Effect.sync(() => store.foldDeleted(ref, uid))
            : Effect.logDebug("could not read back an own write", error.message)
        )
      ),
    { discard: true }
  )

const finalizerTarget = ({ api, engine, fieldManager }: Runner) => ({
  api,
  resource: engine.controller.for,
  manager: fieldManager,
  fold: (object: KubeObject) => engine.store.fold(object)
})

/** What is known without asking anybody, as it is of most objects: that there is nothing to do, or that every finalizer of ours is there. */
const prepared = ({ engine }: Runner, key: string): Prepared | undefined => {
  const ref = refOf(key)
  const read = engine.covers(ref) ? engine.store.get(ref) : undefined
  if (engine.lost(key, read) !== undefined) return undefined
  if (read === undefined) return nothing(undefined)
  const { controller } = engine
  if (isDeleting(read)) return heldBy(controller, read).length === 0 ? nothing(read) : { _tag: "Run", object: read }
  const isHeld = controller.reconciler.finalizers.every(({ name }) => read.metadata.finalizers?.includes(name) === true)
  return isHeld ? { _tag: "Run", object: read } : undefined
}

/** An object that is gone in spite of our finalizer: its clean-up, if the server too has it no more. */
const prepareLost = ({ api, engine }: Runner, lost: KubeObject): Effect.Effect<Prepared> =>
  isGone(api, engine.controller.for, refTo(lost), lost.metadata.uid).pipe(
    Effect.mapError(asFailure("looking for the object")),
    Effect.exit,
    Effect.map((exit): Prepared => {
      if (Exit.isFailure(exit)) return { _tag: "Failed", object: lost, exit: Exit.failCause(exit.cause) }
      return exit.value ? { _tag: "Run", object: lost, lost: true } : nothing(lost)
    })
  )

/** Puts our finalizers on an object that lives, before anything outside of the cluster can be made for it (K11, B57). */
const prepare = Effect.fnUntraced(function* (runner: Runner, key: string): Effect.fn.Return<Prepared> {
  const { engine } = runner
  const { controller, store } = engine
  const lost = engine.lost(key, store.get(refOf(key)))
  if (lost !== undefined) return yield* prepareLost(runner, lost)
  const read = store.get(refOf(key))!
  let object = read
  for (const { name } of controller.reconciler.finalizers) {
    if (object.metadata.finalizers?.includes(name) === true) continue
    const added = yield* Effect.exit(
      Effect.mapError(addFinalizer(finalizerTarget(runner), object, name), asFailure("adding the finalizer"))
    )
    if (Exit.isFailure(added)) return { _tag: "Failed", object, exit: Exit.failCause(added.cause) }
    if (added.value === undefined) return nothing(undefined)
    object = added.value
    engine.wroteSelf(key, object)
    // It began to be deleted meanwhile: what came is judged at the end, and the key runs again.
    if (isDeleting(object)) return nothing(read)
  }
  return { _tag: "Run", object }
})

interface Progress {
  /** Whether no finalizer of ours is left. */
  released: boolean
  readonly lost: boolean
}

/** Clean-ups in turn, each finalizer taken off as soon as its own has succeeded (D13). */
const cleanUp = Effect.fnUntraced(function* (
  runner: Runner,
  object: KubeObject,
  progress: Progress
): Effect.fn.Return<void, ReconcileError, any> {
  const { controller, store } = runner.engine
  const ref = refTo(object)
  const { uid } = object.metadata
  const deleting: Deleting<any> = { ref, uid, raw: object, decoded: decoded(controller.for, object) }
  let live = object
  for (const { cleanup, name } of heldBy(controller, object)) {
    yield* cleanup(deleting)
    if (progress.lost) continue
    const left = yield* Effect.mapError(
      removeFinalizer(finalizerTarget(runner), live, name),
      asFailure("removing the finalizer")
    )
    if (left === undefined) {
      progress.released = true
      return store.foldDeleted(ref, uid)
    }
    live = left
  }
  progress.released = true
})

/** The step as an effect that needs nothing but its Pass. */
const stepOf = (
  runner: Runner,
  object: KubeObject,
  progress: Progress
): Effect.Effect<unknown, ReconcileError, any> => {
  if (isDeleting(object) || progress.lost) return cleanUp(runner, object, progress)
  const { controller } = runner.engine
  const result = decoded(controller.for, object)
  // It stays as it is until someone edits it (K7).
  if (Result.isFailure(result))
    return Effect.fail(
      new Fatal({
        reason: "MalformedResource",
        message: result.failure.issue,
        operation: "reading the object",
        cause: result.failure
      })
    )
  return Effect.suspend(() => controller.reconciler.run({ object: result.success }))
}

/** In how many milliseconds the timers of the controller bring the key again (D31, E13). */
const timerOf = (
  { engine }: Runner,
  end: { readonly now: number; readonly wokenAt: number; readonly jitter: number }
): number | undefined => {
  let soonest: number | undefined
  for (const { idleMillis, intervalMillis, jitter } of engine.controller.timers) {
    const next = Math.max(intervalMillis * (1 + jitter * end.jitter), end.wokenAt + idleMillis - end.now)
    soonest = Math.min(soonest ?? Infinity, next)
  }
  return soonest
}

const reasonOf = (settlement: Settle.Settlement): { readonly reason: string; readonly message: string } =>
  settlement.written?.ready ?? {
    reason: String(settlement.log.annotations.reason ?? ""),
    message: settlement.log.message
  }

/** Runs the pass of a key that was taken. Never fails; must run uninterruptible, the step in it is not. */
const runPass = Effect.fnUntraced(function* (runner: Runner, taken: Taken<Settle.Memory>): Effect.fn.Return<void> {
  const { engine } = runner
  const { key } = taken
  const startedAt = yield* Clock.currentTimeMillis
  const late = engine.release(key)
  if (taken.overdue) yield* catchUp(runner, late)
  engine.begin(key)
  const ready = prepared(runner, key) ?? (yield* prepare(runner, key))
  if (ready._tag === "Nothing") return yield* end(runner, taken, ready.object, { memory: taken.memory, startedAt })

  const { object } = ready
  const record = Pass.makeRecord()
  const progress: Progress = { released: false, lost: ready._tag === "Run" && ready.lost === true }
  const ran =
    ready._tag === "Failed" ? ready.exit : yield* runStep(runner, taken, object, { record, progress, startedAt })
  record.closed = true
  const { exit, fields } = encodedDraft(engine.controller.for, record, ran)
  const now = yield* Clock.currentTimeMillis
  const facts: Settle.Facts = {
    object,
    exit,
    pass: { ...record, draft: fields },
    released: progress.released,
    stopping: engine.stopping,
    memory: taken.memory,
    due: taken.due,
    retryIn: taken.retryIn,
    startedAt,
    now,
    jitter: yield* Random.next,
    requeue: engine.controller.requeue ?? runner.requeue,
    reporting: runner.reporting,
    persisted: engine.controller.reconciler.finalizers.some(({ persisted }) => persisted === true),
    minimumLogLevel: Context.get(runner.services, References.MinimumLogLevel),
    retry: engine.controller.retry
  }
  yield* conclude(runner, taken, facts, record)
})

const runStep = (
  runner: Runner,
  { key, memory, triggers }: Taken<Settle.Memory>,
  object: KubeObject,
  pass: { readonly record: Pass.PassRecord; readonly progress: Progress; readonly startedAt: number }
): Effect.Effect<Exit.Exit<unknown, ReconcileError>> => {
  const { engine, services } = runner
  const { controller } = engine
  const ref = refOf(key)
  const failures = Settle.failuresOf(memory, object)
  const given: Pass.Pass["Service"] = {
    controller: controller.name,
    kind: controller.for,
    object,
    ref,
    uid: object.metadata.uid,
    generation: object.metadata.generation,
    attempt: failures?.count ?? 0,
    ...(failures !== undefined && { failingSince: failures.since }),
    triggers,
    startedAt: pass.startedAt,
    writesStatus: writesStatus(controller),
    record: pass.record,
    subscribe: (subscription) => engine.subscribe(key, subscription)
  }
  const annotations = {
    ...Context.get(services, References.CurrentLogAnnotations),
    controller: controller.name,
    object: formatRef(ref)
  }
  const context = services.pipe(
    Context.add(Pass.Pass, given),
    Context.add(References.CurrentLogAnnotations, annotations)
  )
  return Effect.exit(Effect.interruptible(Effect.setContext(stepOf(runner, object, pass.progress), context)))
}

/** Settles, writes the status, says the events, sends the wakes: in this order (D8, D14). */
const conclude = Effect.fnUntraced(function* (
  runner: Runner,
  taken: Taken<Settle.Memory>,
  facts: Settle.Facts,
  record: Pass.PassRecord
): Effect.fn.Return<void> {
  const object = facts.object!
  const { settlement, written } = yield* settledAndWritten(runner, taken.key, object, facts)
  let memory = settlement.memory
  if (Result.isSuccess(written) && written.success._tag === "Written") {
    memory = Settle.remember(settlement, written.success.object.metadata.resourceVersion)
  } else if (Result.isSuccess(written) && written.success._tag === "Unchanged" && settlement.written !== undefined) {
    memory = Settle.remember(settlement, (runner.engine.store.get(refOf(taken.key)) ?? object).metadata.resourceVersion)
  }
  const isStale = Result.isSuccess(written) && (written.success._tag === "Moved" || written.success._tag === "Gone")
  yield* logLine(runner, taken.key, settlement.log)
  if (settlement.complaint !== undefined) yield* complain(runner, settlement.complaint)
  // An object that moved on runs again and says then what is so; one that is gone has nobody to tell (B54).
  if (!isStale && settlement.events.length > 0) yield* runner.post(settlement.events)
  const hops = settlement.outcome === "changed" ? 0 : taken.hops + 1
  for (const wake of record.wakes) wake(hops)
  yield* end(runner, taken, facts.released ? undefined : object, {
    settlement,
    memory,
    startedAt: facts.startedAt,
    jitter: facts.jitter
  })
})

const complaints = new WeakMap<Runner["engine"], string>()

/** A mistake in what holds for all objects: told once a controller, until it is another one. */
const complain = ({ engine }: Runner, text: string): Effect.Effect<void> => {
  if (complaints.get(engine) === text) return Effect.void
  complaints.set(engine, text)
  return Effect.logWarning(`${engine.controller.name}: ${text}`)
}

const logLine = (runner: Runner, key: string, { annotations, level, message }: Settle.LogLine): Effect.Effect<void> =>
  Effect.withFiber((fiber) =>
    LogLevel.isGreaterThan(fiber.getRef(References.MinimumLogLevel), level)
      ? Effect.void
      : Effect.logWithLevel(level)(message).pipe(
          Effect.annotateLogs({
            controller: runner.engine.controller.name,
            object: key.replace(/^\//, ""),
            ...annotations
          })
        )
  )

/** What is known of the key from now on, and when it comes again. */
const end = Effect.fnUntraced(function* (
  runner: Runner,
  taken: Taken<Settle.Memory>,
  seen: KubeObject | undefined,
  how: {
    readonly settlement?: Settle.Settlement
    readonly memory: Settle.Memory | undefined
    readonly startedAt: number
    readonly jitter?: number
  }
): Effect.fn.Return<void> {
  const { engine, onSettled } = runner
  const { controller, queue } = engine
  const { settlement, startedAt } = how
  const now = yield* Clock.currentTimeMillis
  const complete = settlement?.outcome === "changed" || settlement?.outcome === "unchanged"
  const wokenAt = taken.origins.some((origin) => origin !== "requeue") ? startedAt : engine.wokenAt(taken.key)
  const asked = settlement?.requeue._tag === "after" ? settlement.requeue.millis : undefined
  // A failure that has a retry of its own keeps to that; one that is only looked at again now and then does not stop the timers (E13, B34).
  const retries =
    settlement?.backingOff === true && !(settlement.requeue._tag === "after" && settlement.requeue.why === "recheck")
  const timer =
    seen === undefined || settlement === undefined || retries
      ? undefined
      : timerOf(runner, { now, wokenAt, jitter: how.jitter ?? 0 })
  const wishes = [asked, timer].filter((millis) => millis !== undefined)
  const after = wishes.length === 0 ? undefined : Math.min(...wishes)
  const gone = seen === undefined
  const unseen = engine.finish(taken.key, { seen, complete, settled: settlement?.outcome !== "interrupted", wokenAt })
  yield* queue.done(taken.key, {
    ...(!gone && after !== undefined && { after }),
    ...(!gone && { memory: how.memory, backingOff: settlement?.backingOff ?? false }),
    park: unseen.length > 0
  })
  if (unseen.length > 0) engine.hold(taken.key, unseen)
  if (settlement === undefined) return
  onSettled({
    controller: controller.name,
    kind: controller.for,
    ref: refOf(taken.key),
    outcome: settlement.outcome,
    ...reasonOf(settlement),
    requeueAfterMillis: gone ? undefined : after,
    triggers: taken.triggers,
    millis: now - startedAt
  })
})

/** A defect of the engine itself, or of an observer: told, and the key comes again. */
export const runSafely = (runner: Runner, taken: Taken<Settle.Memory>): Effect.Effect<void> =>
  Effect.catchCause(runPass(runner, taken), (cause) =>
    Effect.logError(`the pass of ${runner.engine.controller.name} ${taken.key} broke`, Cause.pretty(cause)).pipe(
      Effect.andThen(
        Effect.suspend(() => {
          runner.engine.finish(taken.key, {
            seen: runner.engine.store.get(refOf(taken.key)),
            complete: false,
            settled: false,
            wokenAt: 0
          })
          return runner.engine.queue.done(taken.key, { after: 5_000, backingOff: true, memory: taken.memory })
        })
      ),
      // What broke after the key was done, such as an observer, has been told; there is nothing left to end.
      Effect.catchCause(() => Effect.void)
    )
  )
