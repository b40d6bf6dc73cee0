import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as FieldSet from "../src/internal/fieldSet.ts"
import { ofObject } from "../src/internal/fieldType.ts"
import { fieldsOf, reconcile } from "../src/internal/fieldTyping.ts"
import { equals } from "../src/internal/json.ts"
import * as ManagedFields from "../src/internal/managedFields.ts"
import { cap, decode, encode } from "../src/internal/managers.ts"
import { applyDefaults, validate } from "../src/internal/structuralSchema.ts"
import { apiVersion, metadata, Random, schema, value } from "./specimen.ts"

type Json = any

const runs = { arbitrary: { runs: 1_000 } }
/** Three small numbers make a seed: one alone has too few values. */
const seed: [typeof Schema.Int, typeof Schema.Int, typeof Schema.Int] = [Schema.Int, Schema.Int, Schema.Int]
const randomOf = ([a, b, c]: readonly [number, number, number]): Random =>
  new Random((a + 200) * 1_000_003 + (b + 200) * 1_009 + c)

const at = (second: number): string => `2026-01-01T00:00:${String(second).padStart(2, "0")}Z`

const frozen = <A>(own: A): A => {
  if (typeof own === "object" && own !== null && !Object.isFrozen(own)) {
    Object.freeze(own)
    for (const child of Object.values(own)) frozen(child)
  }
  return own
}

interface Options {
  readonly force?: boolean
  readonly second?: number
  readonly subresource?: string
  readonly resetFields?: ReadonlyArray<string>
}

const common = (manager: string, { resetFields, second = 0, subresource }: Options) => ({
  schema,
  apiVersion,
  manager,
  now: at(second),
  ...(resetFields !== undefined && { resetFields }),
  ...(subresource !== undefined && { subresource })
})

const body = (content: Json): Json => ({
  apiVersion,
  kind: "Specimen",
  metadata: { name: "s", ...content.metadata },
  ...rest(content)
})
const rest = ({ metadata: _, ...content }: Json): Json => content

const tryApply = (live: Json, manager: string, content: Json, options: Options = {}) =>
  ManagedFields.apply({
    ...common(manager, options),
    live: frozen(live),
    applied: frozen(body(content)),
    force: options.force === true
  })

const apply = (live: Json, manager: string, content: Json, options: Options = {}): Json => {
  const result = tryApply(live, manager, content, options)
  if (result._tag !== "Applied") throw new Error(result.message)
  return result.object
}

const update = (live: Json, manager: string, next: Json, options: Options = {}): Json =>
  ManagedFields.withManagedFields(
    next,
    ManagedFields.update({ ...common(manager, options), live: frozen(live), next: frozen(next) })
  )

/** `Apply m1`, with the subresource, to what it owns. */
const owners = (object: Json): Record<string, Json> =>
  Object.fromEntries(
    (object.metadata.managedFields ?? []).map((entry: Json) => [
      `${entry.operation} ${entry.manager}${entry.subresource === undefined ? "" : `/${entry.subresource}`}`,
      entry.fieldsV1
    ])
  )

const isEmpty = (own: Json): boolean => typeof own === "object" && own !== null && Object.keys(own).length === 0

/** True if `after` has an empty list where `before` had nothing, or an empty map where it had null. */
const isRefilled = (before: Json, after: Json): boolean =>
  isEmpty(after) && (Array.isArray(after) ? before === undefined : before === null)

/** Takes out of `after` what is refilled. */
const withoutRefilled = (before: Json, after: Json): Json => {
  if (isRefilled(before, after)) return before
  if (typeof after !== "object" || after === null) return after
  if (Array.isArray(after)) return after.map((item, index) => withoutRefilled(before?.[index], item))
  const members = Object.entries(after).map(([name, own]) => [name, withoutRefilled(before?.[name], own)] as const)
  return Object.fromEntries(members.filter(([, own]) => own !== undefined))
}

/** Holds an apply by `self` to have refilled, and to have taken what it refilled from all others, and to have done nothing else. */
const assertOnlyRefilled = (self: string, before: Json, after: Json): void => {
  const { metadata, ...rest } = withoutRefilled(before, after)
  assert.deepStrictEqual({ ...rest, metadata: { ...metadata, managedFields: before.metadata.managedFields } }, before)
  const [was, is] = [owners(before), owners(after)]
  assert.deepStrictEqual(is[self], was[self])
  const names = Object.keys({ ...was, ...is })
  for (const name of names) {
    const [had, has] = [FieldSet.decode(was[name] ?? {})!, FieldSet.decode(is[name] ?? {})!]
    assert.deepStrictEqual(FieldSet.paths(FieldSet.difference(has, had)), [], `${name} owns more`)
    for (const path of FieldSet.paths(FieldSet.difference(had, has))) {
      assert.isTrue(
        isRefilled(valueAt(before, path), valueAt(after, path)),
        `${name} lost ${FieldSet.formatPath(path)}`
      )
    }
  }
}

const habits = { density: 0.3, mischief: 0 }
const specOf = (random: Random): Json => value({ ...schema.properties!.spec!, default: undefined }, random, habits)

/** An object that several managers have written. */
const history = (random: Random): Json => {
  let live: Json = random.chance(0.5)
    ? apply(undefined, "m1", { spec: specOf(random), metadata: metadata(random, habits) })
    : update(undefined, "u1", body({ spec: applyDefaults(schema.properties!.spec!, specOf(random)) }))
  for (let step = 1; step < 4; step++) {
    const manager = random.pick(["m1", "m2", "m3"])
    const content = { spec: specOf(random), metadata: metadata(random, habits) }
    if (random.chance(0.6)) live = apply(live, manager, content, { force: true, second: step })
    else {
      const next = { ...live, spec: applyDefaults(schema.properties!.spec!, { ...live.spec, ...content.spec }) }
      live = update(live, manager, next, { second: step })
    }
  }
  return live
}

describe("server-side apply", () => {
  it.prop(
    "an apply sent twice changes nothing the second time, and answers the live object itself (F86)",
    seed,
    (s) => {
      const random = randomOf(s)
      // Empty labels and the like are never quiet (F104).
      const filled = Object.entries(metadata(random, habits)).filter(([, own]) => Object.keys(own as object).length > 0)
      const content = { spec: specOf(random), metadata: Object.fromEntries(filled) }
      const send = (live: Json, second: number): Json => apply(live, "m2", content, { force: true, second })
      const once = send(history(random), 10)
      const settled = send(once, 11)
      if (settled !== once) {
        // A map given up to its last key is null, which the server refuses where the schema does not let it be.
        if (validate(schema, once).length > 0) return true
        // The one exception, of a real server (1.36.3) too: what is applied empty and was given up to its last is back by the next apply, and only by it.
        assert.match(JSON.stringify(content.spec), /\[\]|\{\}/)
        assertOnlyRefilled("Apply m2", once, settled)
      }
      const again = tryApply(settled, "m2", content, { second: 20 })
      return again._tag === "Applied" && !again.changed && again.object === settled
    },
    runs
  )

  it("what is applied empty, and so given up to its last, is there again by the next apply, and quiet then (F86, F93)", () => {
    // Word for word what a real server (1.36.3) stores: a list goes whole, a map that may hold anything becomes null.
    const spec = { set: [], free: { p: {} } }
    const live = apply(undefined, "m1", { spec: { set: ["x"], free: { p: { r: 1 } } } })
    const once = apply(live, "m1", { spec }, { second: 1 })
    assert.deepStrictEqual(once.spec, { free: { p: null }, mode: "a", filled: "f", made: { deep: 7 } })
    const twice = apply(once, "m1", { spec }, { second: 2 })
    assert.deepStrictEqual(twice.spec, { ...once.spec, ...spec })
    assert.deepStrictEqual(owners(twice), owners(once))
    assert.strictEqual(apply(twice, "m1", { spec }, { second: 3 }), twice)
  })

  it("who made the map that an apply gives up to its last and then brings back has to give it up too (F91, F92)", () => {
    const spec = { free: { p: {} } }
    const made = update(undefined, "u1", body({ spec }))
    const once = apply(apply(made, "m2", { spec: { free: { p: { r: 1 } } } }, { second: 1 }), "m2", { spec })
    assert.isNull(once.spec.free.p)
    assert.deepStrictEqual(owners(once)["Update u1"], owners(made)["Update u1"])
    const refused = tryApply(once, "m2", { spec }, { second: 2 })
    assert.strictEqual(
      refused._tag === "Conflicts" && refused.message,
      `Apply failed with 1 conflict: conflict with "u1" using ${apiVersion}: .spec.free.p`
    )
    const forced = apply(once, "m2", { spec }, { force: true, second: 2 })
    assert.deepStrictEqual(forced.spec.free, { p: {} })
    assert.deepStrictEqual(owners(forced), {
      "Apply m2": { "f:spec": { "f:free": { "f:p": {} } } },
      "Update u1": { "f:spec": { ".": {}, "f:free": {} } }
    })
  })

  it.prop(
    "managers that apply different fields may come in any order",
    seed,
    (s) => {
      const random = randomOf(s)
      const base = history(random)
      const spec = specOf(random)
      const parts = [{}, {}] as [Json, Json]
      for (const [name, own] of Object.entries(spec)) parts[random.below(2)]![name] = own
      const [left, right] = parts
      const both = (first: Json, second: Json, names: readonly [string, string]): Json =>
        apply(apply(base, names[0], { spec: first }, { force: true }), names[1], { spec: second }, { force: true })
      const one = both(left, right, ["x", "y"])
      const other = both(right, left, ["y", "x"])
      assert.isTrue(equals(one.spec, other.spec), `${JSON.stringify(one.spec)}\n${JSON.stringify(other.spec)}`)
      assert.deepStrictEqual(owners(one), owners(other))
    },
    runs
  )

  it.prop(
    "a field given up goes if nobody else owns it, and stays if somebody does (F93)",
    seed,
    (s) => {
      const random = randomOf(s)
      const shared = specOf(random)
      const own = specOf(random)
      const first = apply(undefined, "m1", { spec: own })
      const live = apply(first, "m2", { spec: shared }, { force: true })
      // An empty set or list map owns nothing.
      const shares = owners(live)["Apply m2"]?.["f:spec"] ?? {}
      const after = apply(live, "m1", { spec: {} }, { second: 5 }).spec ?? {}
      for (const name of Object.keys(live.spec)) {
        const { default: filled, items } = schema.properties!.spec!.properties![name]!
        if (`f:${name}` in shares) assert.isTrue(name in after, `${name} is m2's`)
        else if (filled === undefined && items === undefined) assert.isFalse(name in after, `${name} was m1's alone`)
      }
    },
    runs
  )

  it.prop(
    "what others have set and nobody applies stays as it is (F94)",
    seed,
    (s) => {
      const random = randomOf(s)
      const live = update(undefined, "u", body({ spec: applyDefaults(schema.properties!.spec!, specOf(random)) }))
      const applied = specOf(random)
      const after = apply(apply(live, "m", { spec: applied }, { force: true }), "m", { spec: {} }, { second: 3 })
      for (const [name, own] of Object.entries<Json>(live.spec)) {
        if (!(name in applied)) assert.strictEqual(after.spec[name], own, `${name} was not applied`)
      }
    },
    runs
  )

  it.prop(
    "parts that an apply does not change keep their reference",
    seed,
    (s) => {
      const random = randomOf(s)
      const live = history(random)
      const after = apply(live, "m2", { spec: specOf(random) }, { force: true, second: 9 })
      // Where every field was given up there is no spec, and no part of it.
      for (const [name, own] of Object.entries<Json>(live.spec ?? {})) {
        if (equals(own, after.spec?.[name])) assert.strictEqual(after.spec[name], own, name)
      }
    },
    runs
  )

  it.prop(
    "without force nothing of another applier is taken",
    seed,
    (s) => {
      const random = randomOf(s)
      const live = apply(undefined, "m1", { spec: specOf(random) })
      const result = tryApply(live, "m2", { spec: specOf(random) }, { second: 1 })
      if (result._tag === "TypeError") throw new Error(result.message)
      if (result._tag === "Conflicts") return result.causes.length > 0
      return equals(owners(result.object)["Apply m1"], owners(live)["Apply m1"])
    },
    runs
  )

  it("tells conflicts by manager and field (F91)", () => {
    const live = apply(undefined, "m1", { spec: { size: 1, labels: { x: "1" } } })
    const two = tryApply(live, "m2", { spec: { size: 2, labels: { x: "2" } } })
    assert.deepStrictEqual(two, {
      _tag: "Conflicts",
      message: 'Apply failed with 2 conflicts: conflicts with "m1":\n- .spec.size\n- .spec.labels.x',
      causes: [
        { reason: "FieldManagerConflict", message: 'conflict with "m1"', field: ".spec.size" },
        { reason: "FieldManagerConflict", message: 'conflict with "m1"', field: ".spec.labels.x" }
      ]
    })
    const updated = update(live, "upd", { ...live, spec: { ...live.spec, mode: "b" } })
    const one = tryApply(updated, "m2", { spec: { mode: "a" } })
    assert.strictEqual(
      one._tag === "Conflicts" && one.message,
      `Apply failed with 1 conflict: conflict with "upd" using ${apiVersion}: .spec.mode`
    )
    const status = update(live, "upd", { ...live, status: { phase: "x" } }, { subresource: "status" })
    const sub = tryApply(status, "m2", { status: { phase: "y" } }, { subresource: "status" })
    assert.strictEqual(
      sub._tag === "Conflicts" && sub.causes[0]!.message,
      `conflict with "upd" with subresource "status" using ${apiVersion}`
    )
  })

  it("force takes the fields from the other entries, and an empty entry goes (F92)", () => {
    const live = apply(undefined, "m1", { spec: { size: 1 } })
    const after = apply(live, "m2", { spec: { size: 2 } }, { force: true })
    assert.deepStrictEqual(owners(after), { "Apply m2": { "f:spec": { "f:size": {} } } })
    assert.strictEqual(after.spec.size, 2)
  })

  it("a manager of the same name has an entry for each way of writing (F94)", () => {
    const live = update(undefined, "old", body({ spec: { labels: { a: "1", b: "2" } } }))
    const after = apply(apply(live, "old", { spec: { labels: { a: "1" } } }), "old", { spec: { labels: {} } })
    assert.deepStrictEqual(after.spec.labels, { a: "1", b: "2" })
    assert.deepStrictEqual(Object.keys(owners(after)), ["Apply old", "Update old"])
  })

  it("names the items of list maps and sets, and owns what is atomic whole (F95)", () => {
    const spec = { rows: [{ k: "a", v: "1" }], set: ["x"], atomic: ["p"], atomicMap: { a: "1" }, ports: [{ port: 80 }] }
    assert.deepStrictEqual(owners(apply(undefined, "m1", { spec })), {
      "Apply m1": {
        "f:spec": {
          "f:atomic": {},
          "f:atomicMap": {},
          "f:ports": { 'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:port": {} } },
          "f:rows": { 'k:{"k":"a"}': { ".": {}, "f:k": {}, "f:v": {} } },
          "f:set": { 'v:"x"': {} }
        }
      }
    })
  })

  it("orders items as sent, then the others' (F96)", () => {
    const first = apply(undefined, "m1", { spec: { set: ["x"] }, metadata: { finalizers: ["x.io/a"] } })
    const both = apply(first, "m2", { spec: { set: ["y"] }, metadata: { finalizers: ["x.io/b"] } })
    assert.deepStrictEqual(both.spec.set, ["x", "y"])
    assert.deepStrictEqual(both.metadata.finalizers, ["x.io/a", "x.io/b"])
    assert.deepStrictEqual(apply(both, "m1", { spec: { set: ["z", "x"] } }).spec.set, ["z", "x", "y"])
    assert.deepStrictEqual(apply(both, "m1", { spec: { set: [] } }).spec.set, ["y"])
    assert.deepStrictEqual(apply(both, "m1", {}).metadata.finalizers, ["x.io/b"])
  })

  it.each([
    ["an unknown field", { spec: { nope: 1 } }, ".spec.nope: field not declared in schema"],
    ["a wrong type", { spec: { size: "x" } }, ".spec.size: expected numeric (int or float), got string"],
    ["a wrong form", { spec: { rows: {} } }, ".spec.rows: expected list, got &{map[]}"],
    ["a key twice", { spec: { rows: [{ k: "a" }, { k: "a" }] } }, '.spec.rows: duplicate entries for key [k="a"]'],
    ["a value twice", { spec: { set: ["a", "a"] } }, '.spec.set: duplicate entries for key [="a"]'],
    [
      "an item without its key",
      { spec: { rows: [{ v: "1" }] } },
      '.spec.rows: element 0: associative list with keys has an element that omits all key fields ["k"] (and doesn\'t have default values for any key fields)'
    ]
  ] as const)("refuses %s as a type error (F97)", (_, content, message) => {
    assert.deepStrictEqual(tryApply(undefined, "m1", content), {
      _tag: "TypeError",
      message: `failed to create typed patch object (/s; ${apiVersion}, Kind=Specimen): ${message}`
    })
  })

  it("keeps what a manager owns by /status apart from what it owns by main (F98, F99)", () => {
    const live = apply(undefined, "m1", { spec: { size: 1 }, status: { phase: "p" } }, { resetFields: ["status"] })
    assert.deepStrictEqual(owners(live), { "Apply m1": { "f:spec": { "f:size": {} } } })
    const status = { subresource: "status", resetFields: ["spec", "metadata"] }
    const after = apply(
      live,
      "m1",
      { spec: { size: 2 }, metadata: { labels: { a: "b" } }, status: { phase: "q" } },
      status
    )
    assert.deepStrictEqual(owners(after), {
      "Apply m1": { "f:spec": { "f:size": {} } },
      "Apply m1/status": { "f:status": { "f:phase": {} } }
    })
  })

  it("an entry that only adds ownership has no time, a change sets it (F31)", () => {
    const live = apply(undefined, "m1", { spec: { size: 1 } }, { second: 1 })
    const shared = apply(live, "m2", { spec: { size: 1 } }, { second: 2 })
    assert.deepStrictEqual(
      shared.metadata.managedFields.map((entry: Json) => [entry.manager, entry.time]),
      [
        ["m2", undefined],
        ["m1", at(1)]
      ]
    )
    const changed = apply(shared, "m1", { spec: { size: 1, mode: "b" } }, { second: 3 })
    assert.strictEqual(changed.metadata.managedFields.at(-1).time, at(3))
  })

  it("an object that nobody tracks is given to before-first-apply", () => {
    const live = { ...body({ spec: { size: 1 } }), metadata: { name: "s", uid: "u" } }
    const after = apply(live, "m1", { spec: { mode: "b" } })
    assert.deepStrictEqual(owners(after)["Update before-first-apply"], { "f:spec": { ".": {}, "f:size": {} } })
  })

  it("takes managers of a version that is served no more from the entries", () => {
    const live = apply(undefined, "m1", { spec: { size: 1 } })
    const old = { ...live.metadata.managedFields[0], manager: "gone", apiVersion: "specimen.example.com/v0" }
    const before = { ...live, metadata: { ...live.metadata, managedFields: [...live.metadata.managedFields, old] } }
    const result = ManagedFields.apply({
      ...common("m2", {}),
      live: before,
      applied: body({ spec: { mode: "b" } }),
      force: false,
      schemaOf: () => undefined
    })
    assert.deepStrictEqual(
      result._tag === "Applied" && Object.keys(owners(result.object)),
      ["Apply m2", "Apply m1"].toReversed()
    )
  })
})

describe("the tracking of writes", () => {
  it("a write of the status leaves alone what its own version resets, and takes from managers of other versions what it leaves out", () => {
    const live = apply(undefined, "m1", { spec: { size: 1 } })
    const [own] = live.metadata.managedFields
    const other = { ...own, manager: "other", operation: "Update", apiVersion: "specimen.example.com/v0" }
    const entries = ManagedFields.update({
      ...common("m2", {}),
      subresource: "status",
      resetFields: ["metadata", "spec"],
      live: { ...live, metadata: { ...live.metadata, managedFields: [own, other] } },
      next: body({ status: { phase: "b" } }),
      schemaOf: () => common("m2", {}).schema
    })
    assert.deepStrictEqual(
      entries?.map(({ manager }) => manager),
      ["m1", "m2"]
    )
  })

  it.prop(
    "a write owns what it changes and takes it from the others (F30, F93)",
    seed,
    (s) => {
      const random = randomOf(s)
      const live = history(random)
      const next = { ...live, spec: applyDefaults(schema.properties!.spec!, specOf(random)) }
      const after = update(live, "u9", next, { second: 9 })
      const type = ofObject(schema)
      const others = Object.entries(owners(after)).filter(([name]) => name !== "Update u9")
      const own = FieldSet.decode(owners(after)["Update u9"] ?? {})!
      for (const [name, fields] of others) {
        const both = FieldSet.intersection(FieldSet.decode(fields)!, own)
        assert.isTrue(FieldSet.isEmpty(both), `${name} keeps ${FieldSet.paths(both).map(FieldSet.formatPath)}`)
      }
      // Nobody owns what is not there.
      const gone = FieldSet.difference(own, containers(fieldsOf(type, after)))
      const lost = FieldSet.paths(gone).filter((path) => !isEmptyIn(after, path))
      assert.deepStrictEqual(lost.map(FieldSet.formatPath), [])
    },
    runs
  )

  it.prop(
    "a write that changes nothing leaves the entries as they are (F5)",
    seed,
    (s) => {
      const live = history(randomOf(s))
      return equals(update(live, "u9", { ...live }, { second: 9 }), live)
    },
    runs
  )

  it("an empty entry lets the server forget all, and later writes are not tracked (F33)", () => {
    const live = update(undefined, "u", body({ spec: { size: 1 } }))
    const reset = update(live, "u", { ...live, metadata: { ...live.metadata, managedFields: [{}] } })
    assert.isFalse("managedFields" in reset.metadata)
    const later = update(reset, "u", { ...reset, spec: { size: 2 } })
    assert.isFalse("managedFields" in later.metadata)
    const kept = update(live, "u", { ...live, metadata: { name: "s", managedFields: [] } })
    assert.deepStrictEqual(kept.metadata.managedFields, live.metadata.managedFields)
  })

  it("appliers come first, then time, then name (F32)", () => {
    let live = update(undefined, "b", body({ spec: { size: 1 } }), { second: 2 })
    live = update(live, "a", { ...live, spec: { ...live.spec, mode: "b" } }, { second: 2 })
    live = apply(live, "z", { spec: { port: 1 } }, { second: 3 })
    assert.deepStrictEqual(Object.keys(owners(live)), ["Apply z", "Update a", "Update b"])
  })

  it("more than ten updaters become ancient changes, the oldest first (F32)", () => {
    let live = update(undefined, "u00", body({ spec: { labels: { l00: "1" } } }), { second: 0 })
    for (let n = 1; n < 13; n++) {
      const name = `u${String(n).padStart(2, "0")}`
      const labels = { ...live.spec.labels, [`l${String(n).padStart(2, "0")}`]: "1" }
      live = update(live, name, { ...live, spec: { ...live.spec, labels } }, { second: n })
    }
    const names = Object.keys(owners(live))
    assert.strictEqual(names.length, 10)
    assert.strictEqual(names[0], "Update ancient-changes")
    assert.deepStrictEqual(Object.keys(owners(live)["Update ancient-changes"]["f:spec"]["f:labels"]), [
      ".",
      "f:l00",
      "f:l01",
      "f:l02",
      "f:l03"
    ])
    assert.strictEqual(live.metadata.managedFields[0].time, at(3))
  })
})

/** The maps and lists above the fields. */
const containers = (set: FieldSet.FieldSet): FieldSet.FieldSet =>
  FieldSet.fromPaths(FieldSet.paths(set).flatMap((path) => path.map((_, index) => path.slice(0, index + 1))))

/** Undefined for items of sets. */
const valueAt = (object: Json, path: FieldSet.Path): Json => {
  let own = object
  for (const element of path) {
    if (own === undefined || own === null) return undefined
    if (element.startsWith("f:")) own = own[element.slice(2)]
    else if (element.startsWith("k:")) {
      const key = Object.entries(JSON.parse(element.slice(2)) as object)
      own = own.find((item: Json) => key.every(([name, part]) => item[name] === part))
    } else return undefined
  }
  return own
}

/** Empty lists are owned by who made them, but have no field. */
const isEmptyIn = (object: Json, path: FieldSet.Path): boolean => {
  const own = valueAt(object, path)
  return Array.isArray(own) && own.length === 0
}

describe("sets of fields", () => {
  const setOf = (random: Random): FieldSet.FieldSet => fieldsOf(ofObject(schema), { spec: specOf(random) })

  it.prop(
    "come back from their wire form as they were, in the same order",
    seed,
    (s) => {
      const set = setOf(randomOf(s))
      const wire = FieldSet.encode(set)
      const back = FieldSet.decode(wire)!
      assert.isTrue(
        FieldSet.isEmpty(FieldSet.difference(set, back)) && FieldSet.isEmpty(FieldSet.difference(back, set))
      )
      return JSON.stringify(FieldSet.encode(back)) === JSON.stringify(wire)
    },
    runs
  )

  it.prop(
    "obey the laws of sets",
    seed,
    (s) => {
      const random = randomOf(s)
      const [a, b] = [setOf(random), setOf(random)]
      const texts = (set: FieldSet.FieldSet): ReadonlyArray<string> =>
        FieldSet.paths(set).map(FieldSet.formatPath).toSorted()
      const [inA, inB] = [new Set(texts(a)), new Set(texts(b))]
      assert.deepStrictEqual(texts(FieldSet.union(a, b)), [...new Set([...inA, ...inB])].toSorted())
      assert.deepStrictEqual(texts(FieldSet.intersection(a, b)), [...inA].filter((path) => inB.has(path)).toSorted())
      assert.deepStrictEqual(texts(FieldSet.difference(a, b)), [...inA].filter((path) => !inB.has(path)).toSorted())
    },
    runs
  )

  it("escape what the server escapes, and drop elements that nobody knows", () => {
    assert.strictEqual(FieldSet.value("a<b"), 'v:"a\\u003cb"')
    assert.strictEqual(
      FieldSet.key([
        ["b", 1],
        ["a", "x"]
      ]),
      'k:{"a":"x","b":1}'
    )
    assert.deepStrictEqual(FieldSet.encode(FieldSet.decode({ "x:new": {}, "f:a": {} })!), { "f:a": {} })
    assert.isUndefined(FieldSet.decode({ nonsense: {} }))
    assert.isUndefined(FieldSet.decode({ "k:{": {} }))
  })

  it("are kept harmless from names such as __proto__", () => {
    const set = FieldSet.fromPaths([
      ["f:spec", "f:__proto__"],
      ["f:spec", "f:constructor"]
    ])
    assert.deepStrictEqual(Object.keys(FieldSet.encode(set)["f:spec"]!), ["f:__proto__", "f:constructor"])
    assert.isUndefined(({} as Json)["f:spec"])
  })

  it("own a list whole once it has become atomic", () => {
    const set = FieldSet.fromPaths([
      ["f:spec", "f:atomic", 'v:"x"'],
      ["f:spec", "f:size"]
    ])
    assert.deepStrictEqual(FieldSet.encode(reconcile(set, ofObject(schema))), {
      "f:spec": { "f:atomic": {}, "f:size": {} }
    })
  })

  it("no more than ten updaters are left as they are", () => {
    const managers = decode([])!
    assert.strictEqual(cap(managers), managers)
    assert.isUndefined(encode(managers))
  })
})
