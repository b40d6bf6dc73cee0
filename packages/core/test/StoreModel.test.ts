import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import type { KubeObject, ObjectRef } from "../src/KubeObject.ts"
import * as Store from "../src/Store.ts"
import { widget, widgets } from "./widgets.ts"

const below = (n: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: n - 1 }))
const Name = below(2)

/** What may happen between a server, its watch, our writes and the cache. */
const Op = Schema.Union([
  /** Somebody, or we (then an answer is on its way), make, change or delete an object; `chosen` is whether the selector has it afterwards. */
  Schema.Struct({ _tag: Schema.Literal("Write"), name: Name, ours: Schema.Boolean, chosen: Schema.Boolean }),
  Schema.Struct({ _tag: Schema.Literal("Delete"), name: Name, ours: Schema.Boolean }),
  /** The next events of the watch arrive. */
  Schema.Struct({ _tag: Schema.Literal("Deliver"), count: below(4) }),
  /** The last event arrives once more. */
  Schema.Struct({ _tag: Schema.Literal("Again") }),
  /** One of our answers arrives: any of them, perhaps for the second time. */
  Schema.Struct({ _tag: Schema.Literal("Answer"), which: below(5), keep: Schema.Boolean }),
  Schema.Struct({ _tag: Schema.Literal("Bookmark") }),
  /** The stream was lost for good: a list as of now, or as of a little before, if it is not older than what was seen. */
  Schema.Struct({ _tag: Schema.Literal("Relist"), before: below(4) }),
  /** A list that broke off after some objects. */
  Schema.Struct({ _tag: Schema.Literal("PartialList"), count: below(3) })
])

interface Told {
  readonly version: number
  readonly type: "ADDED" | "MODIFIED" | "DELETED"
  readonly object: KubeObject
}

const names = ["a", "b"]
const refOf = (name: string): ObjectRef => ({ namespace: "ns1", name })
const byParity: Store.Index = {
  name: "byParity",
  of: ({ spec }) => ((spec as any).size % 2 === 0 ? ["even", "all"] : ["all"])
}

/** A server as simple as can be, one watch of it with a selector, and a store that is fed from it. */
class World {
  readonly store = Store.make({ resource: widgets, fieldManager: "fixpoint", indexes: [byParity] })
  readonly feed = this.store.feed(undefined)
  readonly changes: Array<Store.Change> = []
  readonly waiting = new Set<string>()
  private version = 10
  private heard = 0
  private uids = 0
  private readonly objects = new Map<string, KubeObject>()
  private readonly log: Array<Told> = []
  private answers: Array<() => void> = []
  private readonly text: (version: number) => string

  constructor(text: (version: number) => string) {
    this.text = text
    this.relist(this.version)
    this.store.onChange((change) => this.changes.push(change))
  }

  run(op: typeof Op.Type): void {
    switch (op._tag) {
      case "Write":
        return this.write(names[op.name]!, op.chosen, op.ours)
      case "Delete":
        return this.delete(names[op.name]!, op.ours)
      case "Deliver":
        for (let i = 0; i <= op.count; i++) this.deliver()
        return
      case "Again": {
        const last = this.log.findLast(({ version }) => version === this.heard)
        if (last !== undefined) this.feed.event(last.type, last.object)
        return
      }
      case "Answer": {
        const answer = this.answers[op.which]
        if (!op.keep) this.answers = this.answers.filter((other) => other !== answer)
        return answer?.()
      }
      case "Bookmark":
        if (this.log.at(-1)?.version === this.heard) this.feed.bookmark(this.text(this.version))
        return
      case "Relist":
        return this.relist(Math.max(this.heard, this.version - op.before))
      case "PartialList": {
        this.feed.begin()
        for (const object of this.stateAt(this.version).slice(0, op.count)) this.feed.hold("ADDED", object)
      }
    }
  }

  /** All answers and events arrive, and then a bookmark. */
  quiet(): void {
    for (const answer of this.answers) answer()
    while (this.deliver());
    this.feed.bookmark(this.text(this.version))
  }

  get chosen(): ReadonlyArray<KubeObject> {
    return [...this.objects.values()].filter(isChosen)
  }

  /** Whether the watch has told everything up to there. */
  isHeard(version: number): boolean {
    return version <= this.heard
  }

  private write(name: string, chosen: boolean, ours: boolean): void {
    const before = this.objects.get(name)
    const object = widget(name, this.text(++this.version), {
      uid: before?.metadata.uid ?? `uid-${++this.uids}`,
      labels: chosen ? { app: "x" } : {},
      spec: { size: this.version }
    })
    this.objects.set(name, object)
    this.tell(before, object)
    if (!ours) return
    const { version } = this
    const id = `${name}@${version}`
    this.answers.push(() => {
      this.store.fold(object)
      if (this.waiting.has(id)) return
      this.waiting.add(id)
      this.store.whenSeen(refOf(name), object.metadata.uid, this.text(version), () => {
        assert.isTrue(this.waiting.delete(id), "called back once")
        this.waiting.add(id)
        this.seen.push(id)
      })
    })
  }

  readonly seen: Array<string> = []

  private delete(name: string, ours: boolean): void {
    const before = this.objects.get(name)
    if (before === undefined) return
    this.version++
    this.objects.delete(name)
    this.tell(before, undefined)
    if (ours) this.answers.push(() => this.store.foldDeleted(refOf(name), before.metadata.uid))
  }

  /** F60, F61, F63. */
  private tell(before: KubeObject | undefined, after: KubeObject | undefined): void {
    const [was, is] = [before !== undefined && isChosen(before), after !== undefined && isChosen(after)]
    const { version } = this
    if (is) this.log.push({ version, type: was ? "MODIFIED" : "ADDED", object: after! })
    else if (was)
      this.log.push({
        version,
        type: "DELETED",
        object: { ...before!, metadata: { ...before!.metadata, resourceVersion: this.text(version) } }
      })
  }

  private deliver(): boolean {
    const next = this.log.find(({ version }) => version > this.heard)
    if (next === undefined) return false
    this.heard = next.version
    this.feed.event(next.type, next.object)
    return true
  }

  private relist(version: number): void {
    this.heard = version
    this.feed.begin()
    for (const object of this.stateAt(version)) this.feed.hold("ADDED", structuredClone(object))
    this.feed.commit(this.text(version), { reset: false })
  }

  private stateAt(version: number): ReadonlyArray<KubeObject> {
    const state = new Map<string, KubeObject>()
    for (const told of this.log) {
      if (told.version > version) break
      if (told.type === "DELETED") state.delete(told.object.metadata.name)
      else state.set(told.object.metadata.name, told.object)
    }
    return [...state.values()]
  }
}

const isChosen = ({ metadata }: KubeObject): boolean => metadata.labels?.app === "x"
const identity = ({ metadata }: KubeObject): string => `${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`
const identities = (objects: Iterable<KubeObject>): ReadonlyArray<string> => [...objects].map(identity).sort()

const Ops = Arbitrary.array(Arbitrary.schema(Op), { minLength: 12, maxLength: 40 })

const run = (ops: ReadonlyArray<typeof Op.Type>, text: (version: number) => string): World => {
  const world = new World(text)
  const { changes, store } = world
  const last = new Map<string, KubeObject | undefined>()
  for (const op of [...ops, undefined]) {
    const from = changes.length
    if (op === undefined) world.quiet()
    else world.run(op)
    for (const change of changes.slice(from)) {
      const { next, previous, ref } = change
      assert.notStrictEqual(previous, next)
      assert.strictEqual(last.get(ref.name), previous, "each change begins where the one before ended")
      if (previous !== undefined && next !== undefined) assert.notStrictEqual(identity(previous), identity(next))
      last.set(ref.name, next)
    }
    for (const name of names) assert.strictEqual(store.get(refOf(name)), last.get(name), "readers see what was told")
    for (const value of ["even", "all"])
      assert.deepStrictEqual(
        identities(store.lookup(byParity, value)),
        identities(store.list().filter((object) => [...byParity.of(object)].includes(value))),
        "an index is what a walk would find"
      )
  }
  assert.deepStrictEqual(identities(store.list()), identities(world.chosen), "after quiet the store is the server")
  assert.strictEqual(store.sizes().overlays, 0)
  return world
}

describe("Store, through lost streams, relists and answers in any order", () => {
  it.prop(
    "ends equal to the server, and never shows an object older than before (D29, B3, B13, B14, B15, B17)",
    [Ops],
    ([ops]) => {
      const { changes, store, seen, waiting } = run(ops, String)
      const newest = new Map<string, number>()
      for (const { next } of changes) {
        if (next === undefined) continue
        const { resourceVersion, uid } = next.metadata
        assert.isAtLeast(Number(resourceVersion), newest.get(uid) ?? 0, uid)
        newest.set(uid, Number(resourceVersion))
      }
      assert.strictEqual(store.sizes().waiting, 0, "all that was written was seen at last")
      assert.sameMembers(seen, [...waiting])
    },
    { arbitrary: { runs: 3000 } }
  )

  it.prop("also where versions have no order", [Ops], ([ops]) => void run(ops, (version) => `v${version}`), {
    arbitrary: { runs: 1000 }
  })

  it.prop(
    "has seen a version exactly when the watch was there",
    [Ops],
    ([ops]) => {
      const world = new World(String)
      for (const op of ops) {
        world.run(op)
        for (let version = 1; version < 60; version++)
          if (world.isHeard(version)) assert.isTrue(world.store.hasSeen(refOf("a"), "any", String(version)))
      }
    },
    { arbitrary: { runs: 1000 } }
  )
})
