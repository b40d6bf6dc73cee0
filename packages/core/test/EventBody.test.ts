import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { fitted, microTime, placeOf, reporterFrom, wholeTime } from "../src/internal/eventBody.ts"
import { coreV1, type Draft, type EventsApi, eventsV1 } from "../src/internal/eventsApi.ts"
import { byteLength, cutEnd, cutMiddle, wellFormed } from "../src/internal/text.ts"
import { object } from "./settled.ts"

const cluster = { apiVersion: "example.com/v1", kind: "Zone", metadata: { name: "z", uid: "uid9" } }

describe("cutMiddle", () => {
  it("a text of 1,024 bytes stays whole; one more is cut to 511, three dots and 510 (P12)", () => {
    const whole = "a".repeat(1_024)
    assert.strictEqual(cutMiddle(whole, 1_024), whole)
    const cut = cutMiddle(`${"a".repeat(513)}${"b".repeat(512)}`, 1_024)
    assert.strictEqual(cut, `${"a".repeat(511)}...${"b".repeat(510)}`)
  })

  it("bytes count, not characters, and no character is cut in two (D19, F149)", () => {
    for (const sign of ["é", "日", "😀"]) {
      const text = `a${sign.repeat(1_000)}b`
      const cut = cutMiddle(text, 1_024)
      assert.isAtMost(Buffer.byteLength(cut), 1_024)
      assert.isAtLeast(Buffer.byteLength(cut), 1_024 - 6)
      assert.match(cut, new RegExp(`^a(${sign})+\\.\\.\\.(${sign})+b$`, "u"))
    }
  })

  it("halves of characters become the sign for what is unknown, as the server would make them", () => {
    assert.strictEqual(wellFormed("a\ud800b\udc00c😀"), "a\ufffdb\ufffdc😀")
    assert.strictEqual(cutMiddle("\ud83d", 10), "\ufffd")
    assert.strictEqual(cutEnd("\ud83d\ud83d", 3), "\ufffd")
  })

  const Text = Arbitrary.map(
    Arbitrary.array(
      Arbitrary.schema(
        Schema.Literals(["a", "é", "日", "😀", "\ud800", "\udc00", "\u0000", "\n", "x".repeat(300), "語".repeat(90)])
      ),
      { maxLength: 60 }
    ),
    (parts) => parts.join("")
  )
  it.prop(
    "any text is cut to valid UTF-8 within the limit, visibly, and not at all if it fits (P12, D19, B79)",
    [Text, Arbitrary.schema(Schema.Literals([8, 64, 128, 1_024]))],
    ([text, limit]) => {
      assert.strictEqual(byteLength(text), Buffer.byteLength(text))
      const cut = cutMiddle(text, limit)
      assert.isAtMost(Buffer.byteLength(cut), limit)
      assert.strictEqual(Buffer.from(cut, "utf8").toString("utf8"), cut)
      if (Buffer.byteLength(text) <= limit) assert.strictEqual(cut, wellFormed(text))
      else assert.include(cut, "...")
      assert.isAtMost(Buffer.byteLength(cutEnd(text, limit)), limit)
      assert.isTrue(wellFormed(text).startsWith(cutEnd(text, limit)))
    },
    { arbitrary: { runs: 2_000 } }
  )
})

describe("times", () => {
  it("eventTime has exactly six digits, the others whole seconds (P17, F153)", () => {
    assert.deepStrictEqual(
      [microTime(0), microTime(1_500), microTime(999.9)],
      ["1970-01-01T00:00:00.000000Z", "1970-01-01T00:00:01.500000Z", "1970-01-01T00:00:00.999000Z"]
    )
    assert.deepStrictEqual([wholeTime(1_999), wholeTime(NaN)], ["1970-01-01T00:00:01Z", "1970-01-01T00:00:00Z"])
  })
})

describe("placeOf", () => {
  it("a namespaced object's Event lives beside it, whatever the policy (P13, B80)", () => {
    for (const choice of ["describable", "operator-namespace"] as const)
      assert.deepStrictEqual(placeOf(object(), choice, "operators"), { namespace: "ns1", involved: "ns1" })
  })

  it("one in cluster scope is told of in default with no namespace, where kubectl describe finds it, or as kopf does (D20, B80, F152)", () => {
    assert.deepStrictEqual(placeOf(cluster, "describable", "operators"), { namespace: "default", involved: undefined })
    assert.deepStrictEqual(placeOf(cluster, "operator-namespace", "operators"), {
      namespace: "operators",
      involved: "operators"
    })
    assert.deepStrictEqual(placeOf(cluster, "operator-namespace", ""), { namespace: "default", involved: "default" })
  })
})

describe("reporterFrom", () => {
  it.each([
    ["fixpoint", "pod-1", "fixpoint", "pod-1"],
    ["example.com/roles", "", "example.com/roles", "example.com/roles"],
    ["Example.COM/ro les!", "i", "example.com/ro-les", "i"],
    ["a".repeat(80), "h".repeat(200), "a".repeat(63), "h".repeat(128)],
    [`${"a".repeat(62)}.-b`, "i", "a".repeat(62), "i"],
    ["", "", "fixpoint", "fixpoint"],
    ["///", "i", "fixpoint", "i"],
    ["日本", "日".repeat(50), "fixpoint", "日".repeat(42)]
  ])("%j and %j become names that a server takes (B86, F149, F150)", (component, instance, name, place) => {
    assert.deepStrictEqual(reporterFrom(component, instance), { component: name, instance: place })
  })

  it.prop(
    "any name becomes a qualified one: at most 63 bytes after a prefix, if any (F150)",
    [Schema.String, Schema.String],
    ([component, instance]) => {
      const reporter = reporterFrom(component, instance)
      assert.match(
        reporter.component,
        /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/
      )
      assert.isTrue(reporter.instance !== "" && Buffer.byteLength(reporter.instance) <= 128)
    },
    { arbitrary: { runs: 2_000 } }
  )
})

describe("fitted", () => {
  it("keeps every limit that eventTime brings, and fills what may not be empty (P16, B79, B86, X10, F149)", () => {
    const words = fitted({ type: "Warning", reason: "R".repeat(200), action: "", message: "m".repeat(5_000) })
    assert.deepStrictEqual([words.reason.length, words.action.length, words.message.length], [128, 128, 1_024])
    assert.deepStrictEqual(fitted({ type: "", reason: "", action: "", message: "" }), {
      type: "Normal",
      reason: "Unspecified",
      action: "Unspecified",
      message: ""
    })
  })
})

describe("the body of an Event", () => {
  const draft: Draft = {
    name: "fixpoint-1",
    about: cluster,
    place: placeOf(cluster, "describable", ""),
    words: fitted({ type: "Normal", reason: "Created", action: "Creating", message: "made" }),
    counted: { count: 1, firstAt: 1_000, lastAt: 1_000 },
    reporter: reporterFrom("fixpoint", "pod-1")
  }
  const said = { type: "Normal", reason: "Created", action: "Creating" }
  const about = { apiVersion: "example.com/v1", kind: "Zone", name: "z", uid: "uid9" }

  it("is in core/v1 one that kubectl describe and every tool reads (P11, D19)", () => {
    assert.deepStrictEqual(coreV1.bodyOf(draft), {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: "fixpoint-1", namespace: "default" },
      involvedObject: about,
      ...said,
      message: "made",
      count: 1,
      firstTimestamp: "1970-01-01T00:00:01Z",
      lastTimestamp: "1970-01-01T00:00:01Z",
      eventTime: "1970-01-01T00:00:01.000000Z",
      source: { component: "fixpoint" },
      reportingComponent: "fixpoint",
      reportingInstance: "pod-1"
    })
  })

  it("is in events.k8s.io/v1 one without anything deprecated, and a series only from the second saying on (P16, D19, F151)", () => {
    const once = {
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      metadata: { name: "fixpoint-1", namespace: "default" },
      regarding: about,
      ...said,
      note: "made",
      eventTime: "1970-01-01T00:00:01.000000Z",
      reportingController: "fixpoint",
      reportingInstance: "pod-1"
    }
    assert.deepStrictEqual(eventsV1.bodyOf(draft), once)
    const counted = { count: 2, firstAt: 1_000, lastAt: 2_500 }
    assert.deepStrictEqual(eventsV1.bodyOf({ ...draft, counted }), {
      ...once,
      series: { count: 2, lastObservedTime: "1970-01-01T00:00:02.500000Z" }
    })
  })

  it("is changed by a repeat in what its API lets change: the text of a combined one only in core/v1 (F155, D18)", () => {
    const counted = { count: 3, firstAt: 0, lastAt: 5_000 }
    assert.deepStrictEqual(coreV1.repeatOf(counted, undefined), { count: 3, lastTimestamp: "1970-01-01T00:00:05Z" })
    assert.deepStrictEqual(coreV1.repeatOf(counted, "m"), {
      count: 3,
      lastTimestamp: "1970-01-01T00:00:05Z",
      message: "m"
    })
    const series = { count: 3, lastObservedTime: "1970-01-01T00:00:05.000000Z" }
    for (const message of [undefined, "m"]) assert.deepStrictEqual(eventsV1.repeatOf(counted, message), { series })
  })

  it.each([
    ["Normal", "Normal"],
    ["Debug", "Normal"],
    ["Warning", "Warning"],
    ["Error", "Warning"],
    ["Fatal", "Warning"],
    ["Level 60", "Warning"],
    ["normal", "Warning"],
    ["Wörter", "Warning"]
  ])("of type %j is a %s in events.k8s.io/v1, and of that type in core/v1 (D19, P8, F151)", (type, newer) => {
    assert.deepStrictEqual([coreV1.typeOf(type), eventsV1.typeOf(type)], [type, newer])
  })

  const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
  it.each([
    ["fixpoint-", "fixpoint-"],
    ["kopf-event-", "kopf-event-"],
    ["", ""],
    ["My Events: ", "my-events-"],
    ["my/", "my-"],
    ["a.-.b.", "a.b."],
    ["-._Ä.x", "x"],
    ["p".repeat(400), "p".repeat(150)]
  ])("a name that begins with %j begins with %j in events.k8s.io/v1 (F154)", (prefix, newer) => {
    const path = prefix.replaceAll(/[/%]+/g, "-")
    assert.deepStrictEqual([coreV1.prefixOf(prefix), eventsV1.prefixOf(prefix)], [path, newer])
  })

  it.prop(
    "whatever a name is to begin with, it is a DNS subdomain in events.k8s.io/v1 (F154)",
    [
      Arbitrary.map(Arbitrary.array(Arbitrary.schema(Schema.Literals([".", "-", "a", "Z", "0", "_", "ä"]))), (parts) =>
        parts.join("")
      )
    ],
    ([prefix]) => {
      assert.match(`${eventsV1.prefixOf(prefix)}0123456789abcdef-18f`, subdomain)
    },
    { arbitrary: { runs: 2_000 } }
  )

  const Counts = Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 })))
  const Times = Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4e12 })))
  const read = (api: EventsApi, body: object) => api.countedOf({ ...body } as any)
  it.prop(
    "tells the next start its count and times, through its own API and no other (B83, D18)",
    [Counts, Times, Times],
    ([count, firstAt, after]) => {
      const counted = { count, firstAt, lastAt: count === 1 ? firstAt : firstAt + after }
      const [core, newer] = [coreV1.bodyOf({ ...draft, counted }), eventsV1.bodyOf({ ...draft, counted })]
      assert.deepStrictEqual(read(coreV1, core), { ...counted, lastAt: Math.trunc(counted.lastAt / 1_000) * 1_000 })
      assert.deepStrictEqual(read(eventsV1, newer), counted)
      // As each API shows what came through the other (F156).
      assert.isUndefined(read(eventsV1, { ...newer, deprecatedCount: count }))
      assert.isUndefined(read(coreV1, { ...core, count: undefined }))
    },
    { arbitrary: { runs: 2_000 } }
  )
})
