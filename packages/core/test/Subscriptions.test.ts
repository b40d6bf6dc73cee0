import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { Subscriptions } from "../src/internal/subscriptions.ts"
import * as LabelSelector from "../src/LabelSelector.ts"
import type { KubeObject } from "../src/KubeObject.ts"
import type { Subscription } from "../src/Pass.ts"
import type { Change } from "../src/Store.ts"
import { widget } from "./widgets.ts"

const kinds = ["Widget", "Gadget"].map((id) => ({ id }) as Subscription["kind"])

const below = (n: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: n - 1 }))
const maybe = <S extends Schema.Top>(schema: S) => Schema.optional(schema)
const Label = Schema.Literals(["x", "y"])
const Selector = Schema.Struct({
  matchLabels: maybe(Schema.Struct({ app: maybe(Label), tier: maybe(Label) })),
  matchExpressions: maybe(
    Schema.Tuple([
      Schema.Struct({
        key: Schema.Literals(["app", "tier"]),
        operator: Schema.Literals(["In", "NotIn", "Exists", "DoesNotExist"]),
        values: Schema.Tuple([Label])
      })
    ])
  )
})
const Namespace = Schema.Literals(["ns1", "ns2"])
const Read = Schema.Union([
  Schema.Struct({ _tag: Schema.Literal("Object"), kind: below(2), namespace: Namespace, name: below(2) }),
  Schema.Struct({
    _tag: Schema.Literal("List"),
    kind: below(2),
    namespace: maybe(Namespace),
    selector: maybe(Selector)
  })
])
const Labels = Schema.Struct({ app: maybe(Label), tier: maybe(Label) })
const Op = Schema.Union([
  Schema.Struct({ _tag: Schema.Literal("Begin"), key: below(3) }),
  Schema.Struct({ _tag: Schema.Literal("Read"), key: below(3), read: Read }),
  Schema.Struct({ _tag: Schema.Literal("Finish"), key: below(3) }),
  Schema.Struct({ _tag: Schema.Literal("Forget"), key: below(3) })
])
const ChangeOf = Schema.Struct({
  kind: below(2),
  namespace: Namespace,
  name: below(2),
  previous: maybe(Labels),
  next: maybe(Labels)
})

const withoutUndefined = (record: object | undefined): any =>
  Object.fromEntries(Object.entries(record ?? {}).filter(([, value]) => value !== undefined))

const selectorOf = (selector: typeof Selector.Type | undefined): LabelSelector.LabelSelector | undefined =>
  selector === undefined
    ? undefined
    : withoutUndefined({
        ...selector,
        matchLabels: selector.matchLabels === undefined ? undefined : withoutUndefined(selector.matchLabels)
      })

const subscriptionOf = (read: typeof Read.Type): Subscription =>
  read._tag === "Object"
    ? { _tag: "Object", kind: kinds[read.kind]!, ref: { namespace: read.namespace, name: `w${read.name}` } }
    : { _tag: "List", kind: kinds[read.kind]!, namespace: read.namespace, selector: selectorOf(read.selector) }

/** The same, remembered read by read and asked one by one. */
class Model {
  readonly finished = new Map<string, Array<Subscription>>()
  readonly running = new Map<string, Array<Subscription>>()

  readersOf(kindId: string, change: Change): ReadonlyArray<string> {
    const keys = new Set([...this.finished.keys(), ...this.running.keys()])
    return [...keys].filter((key) =>
      [...(this.finished.get(key) ?? []), ...(this.running.get(key) ?? [])].some((read) =>
        concerns(read, kindId, change)
      )
    )
  }
}

const concerns = (read: Subscription, kindId: string, { next, previous, ref }: Change): boolean => {
  if (read.kind.id !== kindId) return false
  if (read._tag === "Object") return read.ref.name === ref.name && read.ref.namespace === ref.namespace
  const isIn = (object: KubeObject | undefined) =>
    object !== undefined &&
    (read.namespace === undefined || read.namespace === ref.namespace) &&
    LabelSelector.matches(read.selector ?? {}, object.metadata.labels)
  return isIn(previous) || isIn(next)
}

const changeOf = ({ name, namespace, next, previous }: typeof ChangeOf.Type): Change => {
  const state = (labels: typeof Labels.Type | undefined) =>
    labels === undefined ? undefined : widget(`w${name}`, 1, { namespace, labels: withoutUndefined(labels) })
  return { ref: { namespace, name: `w${name}` }, previous: state(previous), next: state(next) }
}

describe("Subscriptions", () => {
  it.prop(
    "wake exactly whom asking every read of the last finished pass and of the running one would wake (D27)",
    [
      Arbitrary.array(Arbitrary.schema(Op), { minLength: 5, maxLength: 30 }),
      Arbitrary.array(Arbitrary.schema(ChangeOf), { minLength: 5, maxLength: 10 })
    ],
    ([ops, changes]) => {
      const subscriptions = new Subscriptions()
      const model = new Model()
      const { finished, running } = model
      for (const op of ops) {
        const key = `k${op.key}`
        switch (op._tag) {
          case "Begin":
            // What a pass read that did not finish still counts.
            if (running.has(key)) finished.set(key, [...(finished.get(key) ?? []), ...running.get(key)!])
            running.set(key, [])
            subscriptions.begin(key)
            break
          case "Read":
            if (!running.has(key)) break
            running.get(key)!.push(subscriptionOf(op.read))
            subscriptions.read(key, subscriptionOf(op.read))
            break
          case "Finish":
            if (!running.has(key)) break
            finished.set(key, running.get(key)!)
            running.delete(key)
            subscriptions.finish(key)
            break
          case "Forget":
            finished.delete(key)
            running.delete(key)
            subscriptions.forget(key)
        }
        for (const change of changes)
          for (const { id } of kinds)
            assert.sameMembers(
              [...subscriptions.readersOf(id, changeOf(change))],
              model.readersOf(id, changeOf(change)) as Array<string>
            )
      }
      for (const key of ["k0", "k1", "k2"]) subscriptions.forget(key)
      assert.deepStrictEqual(subscriptions.sizes(), { keys: 0, addresses: 0, kinds: 0 })
    },
    { arbitrary: { runs: 1000 } }
  )

  it("a change that comes between a read and the end of the pass wakes the reader", () => {
    const subscriptions = new Subscriptions()
    const ref = { namespace: "ns1", name: "a" }
    subscriptions.begin("k")
    subscriptions.read("k", { _tag: "Object", kind: kinds[0]!, ref })
    assert.deepStrictEqual(
      [...subscriptions.readersOf("Widget", { ref, previous: undefined, next: widget("a", 1) })],
      ["k"]
    )
  })

  it("a key that reads nothing any more leaves nothing behind", () => {
    const subscriptions = new Subscriptions()
    for (let i = 0; i < 100; i++) {
      subscriptions.begin("k")
      subscriptions.read("k", {
        _tag: "List",
        kind: kinds[0]!,
        namespace: undefined,
        selector: { matchLabels: { app: `x${i}` } }
      })
      subscriptions.finish("k")
      assert.deepStrictEqual(subscriptions.sizes(), { keys: 1, addresses: 1, kinds: 1 })
    }
    subscriptions.begin("k")
    subscriptions.finish("k")
    assert.deepStrictEqual(subscriptions.sizes(), { keys: 0, addresses: 0, kinds: 0 })
  })

  it("thousands of lists, each of its own label, are not asked one by one", () => {
    const subscriptions = new Subscriptions()
    let isAsking = false
    for (let i = 0; i < 5_000; i++) {
      subscriptions.begin(`k${i}`)
      subscriptions.read(`k${i}`, {
        _tag: "List",
        kind: kinds[0]!,
        namespace: undefined,
        selector: {
          matchLabels: { team: `t${i}` },
          get matchExpressions(): never {
            if (isAsking && i !== 7 && i !== 8) throw new Error(`k${i} was asked`)
            return undefined as never
          }
        }
      })
      subscriptions.finish(`k${i}`)
    }
    isAsking = true
    const change = {
      ref: { namespace: "ns1", name: "a" },
      previous: widget("a", 1, { labels: { team: "t7" } }),
      next: widget("a", 2, { labels: { team: "t8" } })
    }
    assert.sameMembers([...subscriptions.readersOf("Widget", change)], ["k7", "k8"])
  })
})
