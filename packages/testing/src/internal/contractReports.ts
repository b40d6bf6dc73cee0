/** Events and Leases. */
import assert from "node:assert/strict"
import * as Effect from "effect/Effect"
import { type Bench, type Case, cases, cause, refused, refusedAs, rv, same } from "./contractBench.ts"
import { events as coreEvents, group, leases, newEvents, widgets } from "./contractKinds.ts"

const time = "2026-01-01T00:00:00.123456Z"
/** What an Event has besides once it bears an eventTime. */
const timed = { eventTime: time, action: "Action", reportingComponent: "x.io/c", reportingInstance: "c-1" }
const newEvent = (b: Bench, name: string, content: object = {}) =>
  b.object(newEvents, name, {
    eventTime: time,
    reportingController: "x.io/c",
    reportingInstance: "c-1",
    action: "Action",
    reason: "Reason",
    type: "Normal",
    regarding: { kind: "Widget", namespace: b.ns, name: "w" },
    note: "note",
    ...content
  })

export const events: ReadonlyArray<Case> = cases("events", {
  "without eventTime nothing has a limit (F148)": function* (b) {
    const long = { message: "x".repeat(70_000), reason: "x".repeat(5_000), type: "Debug", action: "x".repeat(500) }
    same((yield* b.create(b.event("a", long))).message, long.message)
    yield* b.create(b.event("b", { reason: "", type: "", reportingComponent: "x".repeat(500) }))
  },

  "with eventTime message, reason, action and instance have limits in bytes (F149)": function* (b) {
    const fits = {
      ...timed,
      message: "x".repeat(1024),
      reason: "x".repeat(128),
      action: "x".repeat(128),
      reportingInstance: "x".repeat(128),
      type: "Debug"
    }
    yield* b.create(b.event("a", fits))
    const wrong = [
      [{ message: "x".repeat(1025) }, "message", 1024],
      // Bytes, though the text says characters.
      [{ message: "日".repeat(342) }, "message", 1024],
      [{ reason: "x".repeat(129) }, "reason", 128],
      [{ action: "x".repeat(129) }, "action", 128],
      [{ reportingInstance: "x".repeat(129) }, "reportingInstance", 128]
    ] as const
    for (const [content, field, limit] of wrong) {
      yield* refusedAs(b.create(b.event("b", { ...timed, ...content })), {
        _tag: "Invalid",
        code: 422,
        message: `Event "b" is invalid: ${field}: Invalid value: "": can have at most ${limit} characters`,
        causes: [cause(field, `Invalid value: "": can have at most ${limit} characters`)]
      })
    }
  },

  "with eventTime reason, action, component and instance are required (F149)": function* (b) {
    for (const [field, told] of [
      ["reason", "reason"],
      ["action", "action"],
      ["reportingInstance", "reportingInstance"]
    ] as const) {
      yield* refusedAs(b.create(b.event("b", { ...timed, [field]: "" })), {
        _tag: "Invalid",
        code: 422,
        message: `Event "b" is invalid: ${told}: Required value`,
        causes: [cause(told, "Required value", "FieldValueRequired")]
      })
    }
  },

  "with eventTime the component is a qualified name of 63 bytes (F150)": function* (b) {
    yield* b.create(b.event("a", { ...timed, reportingComponent: "x".repeat(63) }))
    yield* b.create(b.event("b", { ...timed, reportingComponent: `a.io/${"x".repeat(63)}` }))
    const { reason } = yield* refused(b.create(b.event("c", { ...timed, reportingComponent: "x".repeat(64) })))
    assert.match(reason.message, /name part must be no more than 63 bytes/)
  },

  "events.k8s.io wants a time, a type of two, and no deprecated fields (F151)": function* (b) {
    yield* b.create(newEvent(b, "a"))
    const wrong = [
      [{ eventTime: null }, /eventTime: Required value/],
      [{ type: "Debug" }, /type: Invalid value: "": has invalid value: Debug/],
      [{ deprecatedCount: 1 }, /: count: Invalid value: "": needs to be unset/],
      [{ series: { count: 1, lastObservedTime: time } }, /series.count: Invalid value: "": should be at least 2/]
    ] as const
    for (const [content, message] of wrong) {
      yield* refusedAs(b.create(newEvent(b, "b", content)), { _tag: "Invalid", code: 422, message, causes: "any" })
    }
  },

  "without eventTime the object's namespace must be the Event's (F152)": function* (b) {
    for (const [namespace, told] of [
      ["default", "default"],
      [undefined, ""]
    ] as const) {
      yield* refusedAs(
        b.create(b.event("a", { involvedObject: { kind: "Widget", name: "w", ...(namespace && { namespace }) } })),
        {
          _tag: "Invalid",
          code: 422,
          message: `Event "a" is invalid: involvedObject.namespace: Invalid value: "${told}": does not match event.namespace`,
          causes: [cause("involvedObject.namespace", `Invalid value: "${told}": does not match event.namespace`)]
        }
      )
    }
  },

  "an Event about a cluster-scoped object stands in default without a namespace, or anywhere with the Event's own (F152)":
    function* (b) {
      const zone = { apiVersion: `${group}/v1`, kind: "Zone", name: "z" }
      yield* b.create(b.event("a", { involvedObject: { ...zone, namespace: b.ns } }))
      const inDefault = b.event(`a-${b.unique}`, { involvedObject: zone })
      const body = { ...inDefault, metadata: { name: `a-${b.unique}`, namespace: "default" } }
      yield* b.api.create(coreEvents, body)
    },

  "eventTime has exactly six fraction digits (F153)": function* (b) {
    for (const wrong of ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.123Z", "2026-01-01T00:00:00.123456789Z"]) {
      const { reason } = yield* refused(b.create(b.event("a", { ...timed, eventTime: wrong })))
      same(reason._tag, "BadRequest")
      assert.match(
        reason.message,
        /^Event in version "v1" cannot be handled as a Event: parsing time .* as "2006-01-02T15:04:05.000000Z07:00": /
      )
    }
    same((yield* b.create(b.event("b", timed))).eventTime, time)
    same(
      (yield* b.create(b.event("c", { ...timed, eventTime: "2026-01-01T00:00:00.123456+02:00" }))).eventTime,
      "2025-12-31T22:00:00.123456Z"
    )
    same((yield* b.create(b.event("d", { eventTime: null }))).eventTime, null)
  },

  "the other times are cut to seconds (F153)": function* (b) {
    const made = yield* b.create(
      b.event("a", { firstTimestamp: "2026-01-01T00:00:00.9Z", lastTimestamp: "2026-01-01T00:00:00Z" })
    )
    same([made.firstTimestamp, made.lastTimestamp], ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"])
  },

  "names of Events are free, and so is what they are about (F154)": function* (b) {
    yield* b.create(b.event("Bad.Name"))
    yield* b.create(b.event("a", { involvedObject: { kind: "Widget", namespace: b.ns, name: "never", uid: "no" } }))
  },

  "count, time, message and reason may be patched (F155)": function* (b) {
    for (const [name, more] of [
      ["a", {}],
      ["b", timed]
    ] as const) {
      yield* b.create(b.event(name, { ...more, count: 1 }))
      const body = { count: 2, lastTimestamp: "2026-01-01T00:01:00Z", message: "other", reason: "Other" }
      const answer = yield* b.merge(coreEvents, name, body)
      same([answer.count, answer.lastTimestamp, answer.message, answer.reason], Object.values(body))
    }
    yield* refusedAs(b.merge(coreEvents, "absent", { count: 2 }), {
      _tag: "NotFound",
      code: 404,
      message: `events "absent" not found`
    })
  },

  "in events.k8s.io only the series may be patched (F155)": function* (b) {
    yield* b.create(newEvent(b, "a"))
    const series = { count: 2, lastObservedTime: time }
    same((yield* b.merge(newEvents, "a", { series })).series, series)
    yield* refusedAs(b.merge(newEvents, "a", { note: "other" }), {
      _tag: "Invalid",
      code: 422,
      causes: [cause("message", `Invalid value: "other": field is immutable`)]
    })
  },

  "both APIs show one object, and its empty fields are stored (F156)": function* (b) {
    const made = yield* b.create(b.event("a"))
    same(
      [
        made.eventTime,
        made.firstTimestamp,
        made.lastTimestamp,
        made.source,
        made.reportingComponent,
        made.reportingInstance
      ],
      [null, null, null, {}, "", ""]
    )
    const other = yield* b.get(newEvents, "a")
    same([other.metadata.uid, rv(other)], [made.metadata.uid, rv(made)])
    same(
      [other.apiVersion, other.kind, other.note, (other.regarding as any).name, other.deprecatedSource],
      ["events.k8s.io/v1", "Event", "message", "w", {}]
    )
  },

  "a generated name begins with what was given (F11)": function* (b) {
    const { name: _, ...metadata } = b.event("a").metadata ?? {}
    const made = yield* b.create({ ...b.event("a"), metadata: { ...metadata, generateName: "w." } })
    assert.match(made.metadata.name, /^w\.[a-z0-9]{5}$/)
  }
})

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
