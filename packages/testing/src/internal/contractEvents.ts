/** Events, through both of their APIs. */
import assert from "node:assert/strict"
import * as Effect from "effect/Effect"
import { type Bench, type Case, cases, cause, refused, refusedAs, rv, same, told } from "./contractBench.ts"
import { events as coreEvents, group, newEvents } from "./contractKinds.ts"

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

  "events.k8s.io takes no field of core, and the limits of core hold there (F149, F151)": function* (b) {
    const unset = `Invalid value: "": needs to be unset`
    const long = `Invalid value: "": can have at most`
    const wrong = [
      [{ deprecatedSource: { component: "c" } }, "source", unset],
      [{ deprecatedFirstTimestamp: "2026-01-01T00:00:00Z" }, "firstTimestamp", unset],
      [{ deprecatedLastTimestamp: "2026-01-01T00:00:00Z" }, "lastTimestamp", unset],
      [{ deprecatedCount: 1 }, "count", unset],
      [{ note: "日".repeat(342) }, "message", `${long} 1024 characters`],
      [{ reason: "x".repeat(129) }, "reason", `${long} 128 characters`],
      [{ action: "" }, "action", "Required value", "FieldValueRequired"],
      [{ reportingInstance: "" }, "reportingInstance", "Required value", "FieldValueRequired"],
      [{ series: { count: 2 } }, "series.lastObservedTime", "Required value", "FieldValueRequired"],
      [
        { regarding: { kind: "Zone", name: "z" } },
        "involvedObject.namespace",
        `Invalid value: "": does not match event.namespace`
      ]
    ] as const
    for (const [content, field, message, reason] of wrong)
      yield* refusedAs(b.create(newEvent(b, "a", content)), {
        _tag: "Invalid",
        code: 422,
        causes: [cause(field, message, reason)]
      })
    same(
      (yield* b.create(newEvent(b, "a", { note: "日".repeat(341), series: { count: 2, lastObservedTime: time } })))
        .type,
      "Normal"
    )
  },

  "events.k8s.io wants names that are DNS subdomains (F154)": function* (b) {
    for (const name of ["UPPER", "a_b", "-a", "two words", "x".repeat(254)]) {
      const { reason } = yield* refused(b.create(newEvent(b, name)))
      same(reason._tag === "Invalid" && reason.causes.map((one) => one.field), ["metadata.name"], name)
    }
    yield* b.create(newEvent(b, "x".repeat(253)))
  },

  "of many faults each is told, those of both APIs first (F149, F151, F152)": function* (b) {
    const wrong = {
      type: "Debug",
      series: { count: 1 },
      deprecatedCount: 1,
      deprecatedSource: { component: "c" },
      note: "x".repeat(1025),
      reason: "x".repeat(129),
      action: "",
      reportingInstance: "",
      regarding: {}
    }
    const ofBoth = ["reportingInstance", "action", "reason", "message"]
    for (const [eventTime, fields] of [
      [time, [...ofBoth, "series.count", "series.lastObservedTime"]],
      [null, ["series.count", "series.lastObservedTime", "eventTime"]]
    ] as const) {
      const { reason } = yield* refused(b.create(newEvent(b, "a", { ...wrong, eventTime })))
      same(reason._tag === "Invalid" && reason.causes.map((one) => one.field), [
        "involvedObject.namespace",
        ...fields,
        "type",
        "count",
        "source"
      ])
    }
  },

  "a patch through core keeps the limits that eventTime brings (F149, F155)": function* (b) {
    const wrong = { message: "x".repeat(1025), reason: "", involvedObject: { namespace: null } }
    for (const [more, fields] of [
      [{}, ["involvedObject.namespace"]],
      [timed, ["involvedObject.namespace", "reason", "message"]]
    ] as const) {
      const { name } = (yield* b.create(b.event(`e${fields.length}`, more))).metadata
      const { reason } = yield* refused(b.merge(coreEvents, name, wrong))
      same(reason._tag === "Invalid" && reason.causes.map((one) => one.field), fields)
      same((yield* b.merge(coreEvents, name, { series: { count: 1 } })).series, { count: 1, lastObservedTime: null })
    }
  },

  "in events.k8s.io nothing else may be patched, by whichever API it was made, and an empty patch changes nothing (F5, F155, F156)":
    function* (b) {
      const made = yield* b.create(newEvent(b, "a"))
      same(rv(yield* b.merge(newEvents, "a", {})), rv(made))
      yield* b.create(b.event("b", { ...timed, count: 1, lastTimestamp: "2026-01-01T00:00:00Z" }))
      for (const name of ["a", "b"]) {
        const series = { count: 2, lastObservedTime: time }
        const bodies = [
          { regarding: { name: "other" } },
          { type: "Warning" },
          { reason: "Other" },
          { action: "Other" },
          { eventTime: "2026-01-01T00:00:01.000000Z" },
          { reportingController: "other" },
          { reportingInstance: "other" },
          { related: { kind: "Widget", namespace: b.ns, name: "other" } },
          { deprecatedCount: 2 },
          { deprecatedFirstTimestamp: "2026-01-01T00:01:00Z" },
          { deprecatedLastTimestamp: "2026-01-01T00:01:00Z" },
          { deprecatedSource: { component: "other" } },
          { note: "x".repeat(1025) },
          { series: { count: 1, lastObservedTime: time } },
          { series: { count: 2 } }
        ]
        const refusals = yield* Effect.forEach(bodies, (body) =>
          Effect.map(refused(b.merge(newEvents, name, body)), ({ reason }) =>
            reason._tag === "Invalid"
              ? reason.causes.map((one) => `${one.field}: ${one.message?.replace(/^(Invalid value): [^]*: /, "$1: ")}`)
              : reason._tag
          )
        )
        const immutable = (...fields: ReadonlyArray<string>) =>
          fields.map((field) => `${field}: Invalid value: field is immutable`)
        same(refusals, [
          immutable("involvedObject"),
          immutable("type"),
          immutable("reason", "reason"),
          immutable("action"),
          immutable("eventTime"),
          immutable("reportingController"),
          immutable("reportingInstance"),
          immutable("related"),
          immutable("count"),
          immutable("firstTimestamp"),
          immutable("lastTimestamp"),
          immutable("source"),
          ["message: Invalid value: can have at most 1024 characters", ...immutable("message")],
          ["series.count: Invalid value: should be at least 2"],
          ["series.lastObservedTime: Required value"]
        ])
        same((yield* b.merge(newEvents, name, { series })).series, series)
        same((yield* b.get(coreEvents, name)).series, series)
      }
    },

  "what one API writes the watches of both tell (F156)": function* (b) {
    const apis = [coreEvents, newEvents]
    const since = yield* Effect.forEach(apis, b.now)
    yield* b.create(newEvent(b, "a"))
    yield* b.merge(newEvents, "a", { series: { count: 2, lastObservedTime: time } })
    yield* b.merge(coreEvents, "a", { message: "other" })
    for (const [i, resource] of apis.entries()) {
      const seen = yield* b.watched(resource, 3, { resourceVersion: since[i]! })
      same(told(seen), [
        ["ADDED", "a"],
        ["MODIFIED", "a"],
        ["MODIFIED", "a"]
      ])
    }
    same((yield* b.get(newEvents, "a")).note, "other")
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
