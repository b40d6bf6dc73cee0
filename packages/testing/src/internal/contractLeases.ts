/** Leases. */
import assert from "node:assert/strict"
import * as Effect from "effect/Effect"
import { type Case, cases, cause, refused, refusedAs, rv, same } from "./contractBench.ts"
import { leases, widgets } from "./contractKinds.ts"

const time = "2026-01-01T00:00:00.123456Z"

const modified = (name: string) =>
  ({
    _tag: "Conflict",
    code: 409,
    message: `Operation cannot be fulfilled on leases.coordination.k8s.io "${name}": the object has been modified; please apply your changes to the latest version and try again`
  }) as const

export const leaseRules: ReadonlyArray<Case> = cases("leases", {
  "its times have exactly six fraction digits and are stored as UTC (F157)": function* (b) {
    const made = yield* b.create(b.lease("a", { renewTime: "2026-01-01T00:00:00.123456+01:00", acquireTime: time }))
    same(made.spec, { renewTime: "2025-12-31T23:00:00.123456Z", acquireTime: time })
    for (const wrong of ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.123Z", "2026-01-01T00:00:00.123456789Z"]) {
      const { reason } = yield* refused(b.create(b.lease("b", { renewTime: wrong })))
      same(reason._tag, "BadRequest")
      assert.match(reason.message, /^Lease in version "v1" cannot be handled as a Lease: parsing time /)
    }
  },

  "its duration is greater than 0, its transitions not negative (F158)": function* (b) {
    for (const duration of [0, -1]) {
      yield* refusedAs(b.create(b.lease("a", { leaseDurationSeconds: duration })), {
        _tag: "Invalid",
        code: 422,
        message: `Lease.coordination.k8s.io "a" is invalid: spec.leaseDurationSeconds: Invalid value: ${duration}: must be greater than 0`,
        causes: [cause("spec.leaseDurationSeconds", `Invalid value: ${duration}: must be greater than 0`)]
      })
    }
    yield* refusedAs(b.create(b.lease("a", { leaseTransitions: -1 })), {
      _tag: "Invalid",
      code: 422,
      causes: [cause("spec.leaseTransitions", "Invalid value: -1: must be greater than or equal to 0")]
    })
    yield* refusedAs(b.create(b.lease("a", { leaseDurationSeconds: 1.5 })), { _tag: "BadRequest", code: 400 })
  },

  "an empty holder and an empty spec are taken (F158)": function* (b) {
    same((yield* b.create(b.lease("a", { holderIdentity: "" }))).spec, { holderIdentity: "" })
    same((yield* b.create(b.lease("b", {}))).spec, {})
  },

  "of many who take it from one version exactly one wins (F159)": function* (b) {
    const made = yield* b.create(b.lease("a", { holderIdentity: "" }))
    const takes = yield* Effect.forEach(
      Array.from({ length: 10 }, (_, index) => index),
      (index) => Effect.result(b.replace({ ...made, spec: { holderIdentity: `h${index}` } })),
      { concurrency: 10 }
    )
    const won = takes.filter((take) => take._tag === "Success")
    same(won.length, 1)
    for (const take of takes) if (take._tag === "Failure") yield* refusedAs(Effect.fail(take.failure), modified("a"))
    same((yield* b.get(leases, "a")).spec, won[0]?._tag === "Success" ? won[0].success.spec : undefined)
  },

  "a replace without a version is refused (F72)": function* (b) {
    yield* b.create(b.lease("a", { holderIdentity: "a" }))
    yield* refusedAs(b.replace(b.lease("a", { holderIdentity: "b" })), {
      _tag: "Invalid",
      code: 422,
      causes: [cause("metadata.resourceVersion", "Invalid value: 0: must be specified for an update")]
    })
  },

  "a replace that would make it does not meet a uid (F74, F75)": function* (b) {
    const uid = "11111111-1111-1111-1111-111111111111"
    yield* refusedAs(b.replace(b.lease("a", {}, { uid })), {
      _tag: "Conflict",
      code: 409,
      message: `Operation cannot be fulfilled on leases.coordination.k8s.io "a": StorageError: invalid object, Code: 4, Key: /registry/leases/${b.ns}/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: `
    })
    yield* refusedAs(b.get(leases, "a"), { _tag: "NotFound", code: 404 })
  },

  "a merge patch may be guarded by a version (F71)": function* (b) {
    const made = yield* b.create(b.lease("a", { holderIdentity: "a" }))
    const renewed = yield* b.merge(leases, "a", { metadata: { resourceVersion: rv(made) }, spec: { renewTime: time } })
    yield* refusedAs(
      b.merge(leases, "a", { metadata: { resourceVersion: rv(made) }, spec: { renewTime: null } }),
      modified("a")
    )
    same((renewed.spec as any).renewTime, time)
    yield* refusedAs(b.get(widgets, "a"), { _tag: "NotFound", code: 404 })
  }
})
