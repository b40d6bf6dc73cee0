import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import type { ListOptions, ListPage, WatchEvent, WatchOptions } from "../src/ApiClient.ts"
import { ApiError, fromAnswer } from "../src/ApiError.ts"
import * as Watcher from "../src/internal/watcher.ts"
import type { KubeObject } from "../src/KubeObject.ts"
import * as Store from "../src/Store.ts"
import { shown, widget, widgets } from "./widgets.ts"

const below = (n: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: n - 1 }))
const Name = below(5)

const Op = Schema.Union([
  Schema.Struct({ _tag: Schema.Literal("Write"), name: Name }),
  Schema.Struct({ _tag: Schema.Literal("Delete"), name: Name }),
  Schema.Struct({ _tag: Schema.Literal("Cut"), broken: Schema.Boolean }),
  /** The server forgets everything up to now: versions to watch from, and page tokens. */
  Schema.Struct({ _tag: Schema.Literal("Compact") }),
  Schema.Struct({ _tag: Schema.Literal("Bookmark") }),
  Schema.Struct({ _tag: Schema.Literal("Wait"), seconds: below(40) }),
  /** The next requests fail. */
  Schema.Struct({
    _tag: Schema.Literal("Fail"),
    count: below(6),
    how: Schema.Literals(["Unreachable", "Malformed", "500", "503", "429", "403", "404", "401"])
  }),
  /** The next requests are answered, and streams cut after so many objects. */
  Schema.Struct({ _tag: Schema.Literal("Shorten"), count: below(3) }),
  /** The server forgets the list after so many of its pages, and something changes. */
  Schema.Struct({ _tag: Schema.Literal("ExpirePages"), after: below(3), name: Name }),
  /** The next list is as of so many changes ago. */
  Schema.Struct({ _tag: Schema.Literal("Lag"), by: below(4) }),
  Schema.Struct({ _tag: Schema.Literal("Streaming"), how: Schema.Literals(["yes", "refused", "endless"]) })
])
type Op = typeof Op.Type

interface Told {
  readonly version: number
  readonly type: "ADDED" | "MODIFIED" | "DELETED"
  readonly object: KubeObject
}

interface OpenStream {
  readonly alarmAt: number
  readonly endAt: number
  heard: number
}

const names = ["a", "b", "c", "d", "e"]

/** A server with everything that may go wrong, and the machine driven against it without an effect, on a clock of its own. */
class World {
  readonly store = Store.make({ resource: widgets, fieldManager: "fixpoint" })
  readonly changes: Array<Store.Change> = []
  /** Uids that the server has deleted. */
  readonly deleted = new Set<string>()
  state: Watcher.State
  requests = 0
  now = 0
  private readonly feed = this.store.feed(undefined)
  private version = 10
  private floor = 0
  private uids = 0
  private log: Array<Told> = []
  private readonly objects = new Map<string, KubeObject>()
  private fails: Array<(verb: "list" | "watch") => ApiError> = []
  private shorten: number | undefined
  private lag = 0
  private expirePages: { after: number; readonly name: string } | undefined
  private streaming: "yes" | "refused" | "endless" = "yes"
  private readonly tooOld = new Set<string>()
  private stream: OpenStream | undefined
  private command: Watcher.Command | undefined
  private wakeAt = 0
  private seed = 1

  constructor(streamingList: boolean) {
    for (const name of names) this.write(name)
    this.state = Watcher.initial({ ...Watcher.defaults, streamingList, pageSize: 2 })
    this.store.onChange((change) => this.changes.push(change))
    this.apply({ _tag: "Started" })
  }

  run(op: Op): void {
    switch (op._tag) {
      case "Write":
        this.write(names[op.name]!)
        break
      case "Delete":
        this.delete(names[op.name]!)
        break
      case "Cut":
        if (this.stream !== undefined) this.cut(op.broken ? failure("Unreachable")("watch") : undefined)
        break
      case "Compact":
        this.floor = this.version
        break
      case "Bookmark":
        if (this.stream !== undefined && this.state.phase._tag === "Watching") {
          this.stream.heard = this.version
          this.hear({ type: "BOOKMARK", resourceVersion: String(this.version), initialEventsEnd: false })
        }
        break
      case "Wait":
        this.pass(op.seconds * 1_000)
        break
      case "Fail":
        this.fails = Array.from({ length: op.count + 1 }, () => failure(op.how))
        break
      case "Shorten":
        this.shorten = op.count
        break
      case "ExpirePages":
        this.expirePages = { after: op.after, name: names[op.name]! }
        break
      case "Lag":
        this.lag = op.by
        break
      case "Streaming":
        this.streaming = op.how
    }
    this.pass(0)
  }

  heal(): void {
    this.fails = []
    this.shorten = undefined
    this.lag = 0
    this.expirePages = undefined
    this.pass(120_000)
  }

  get served(): ReadonlyArray<KubeObject> {
    return [...this.objects.values()]
  }

  private write(name: string): void {
    const before = this.objects.get(name)
    const object = widget(name, ++this.version, { uid: before?.metadata.uid ?? `uid-${++this.uids}` })
    this.objects.set(name, object)
    this.tell({ version: this.version, type: before === undefined ? "ADDED" : "MODIFIED", object })
  }

  private delete(name: string): void {
    const before = this.objects.get(name)
    if (before === undefined) return
    this.objects.delete(name)
    this.deleted.add(before.metadata.uid)
    const object = { ...before, metadata: { ...before.metadata, resourceVersion: String(++this.version) } }
    this.tell({ version: this.version, type: "DELETED", object })
  }

  private tell(told: Told): void {
    this.log.push(told)
    this.deliver()
  }

  /** Whatever can happen now, and then the time until the next thing. */
  private pass(millis: number): void {
    const until = this.now + millis
    for (let turns = 0; ; turns++) {
      assert.isBelow(turns, 2_000, "the machine asks without end")
      if (this.command !== undefined) {
        const { command } = this
        this.command = undefined
        this.execute(command)
        continue
      }
      const { stream } = this
      const next = stream === undefined ? this.wakeAt : Math.min(stream.alarmAt, stream.endAt)
      if (next > until) break
      this.now = Math.max(this.now, next)
      if (stream === undefined) this.apply({ _tag: "Waited" })
      else if (stream.alarmAt <= stream.endAt) {
        this.stream = { ...stream, alarmAt: Infinity }
        this.apply({ _tag: "Alarm" })
      } else this.cut(undefined)
    }
    this.now = until
  }

  private execute(command: Watcher.Command): void {
    this.stream = undefined
    if (command._tag === "Wait") {
      assert.isAtLeast(command.millis, 250)
      assert.isAtMost(command.millis, 30_000 + 7_000)
      this.wakeAt = this.now + command.millis
      return
    }
    this.requests++
    const fail = this.fails.shift()
    if (fail !== undefined)
      return this.apply({ _tag: "Failed", error: fail(command._tag === "List" ? "list" : "watch") })
    if (command._tag === "List") this.list(command.options)
    else this.open(command.options, command.alarmMillis)
  }

  private list(options: ListOptions): void {
    const [version, from] = options.continue?.split("/").map(Number) ?? [this.listed(options.resourceVersion), 0]
    if (options.continue !== undefined && version! < this.floor)
      return this.apply({ _tag: "Failed", error: refused("list", 410) })
    const { expirePages } = this
    if (expirePages !== undefined && expirePages.after-- === 0) {
      this.expirePages = undefined
      if (this.objects.has(expirePages.name)) this.delete(expirePages.name)
      else this.write(expirePages.name)
      this.floor = this.version
      if (options.continue !== undefined) return this.apply({ _tag: "Failed", error: refused("list", 410) })
    }
    const all = this.stateAt(version!)
    const to = options.limit === undefined ? all.length : from! + options.limit
    const page: ListPage = {
      items: all.slice(from, to),
      resourceVersion: String(version),
      ...(to < all.length && { continue: `${version}/${to}` }),
      // Some servers do not say how much is left, some lists are large.
      ...(this.version % 3 > 0 && { remainingItemCount: all.length - to, bytes: this.version % 3 === 1 ? 100 : 1e9 })
    }
    this.apply({ _tag: "Page", page })
  }

  /** As of now; by a lagging replica, once, as of a little before, though less than was asked for. */
  private listed(atLeast: string | undefined): number {
    const lagging = atLeast === undefined ? this.version : Math.max(10, this.floor, this.version - this.lag)
    this.lag = 0
    return lagging
  }

  private open(options: WatchOptions, alarmMillis: number | undefined): void {
    this.stream = {
      alarmAt: this.now + (alarmMillis ?? Infinity),
      endAt: this.now + options.timeoutSeconds! * 1_000,
      heard: Number(options.resourceVersion ?? 0)
    }
    if (options.sendInitialEvents === true) return this.openList(options.resourceVersion)
    assert.isFalse(this.tooOld.has(options.resourceVersion!), "a version that was too old is never watched again")
    if (Number(options.resourceVersion) < this.floor) {
      this.tooOld.add(options.resourceVersion!)
      return this.cut(refused("watch", 410))
    }
    this.deliver()
  }

  private openList(atLeast: string | undefined): void {
    if (this.streaming === "refused") return this.cut(refused("watch", 422))
    const version = this.listed(atLeast)
    const objects = this.stateAt(version)
    const cutAt = this.shorten ?? objects.length + 1
    this.shorten = undefined
    for (const object of objects.slice(0, cutAt)) this.hear({ type: "ADDED", object })
    if (cutAt <= objects.length) return this.cut(failure("Unreachable")("watch"))
    if (this.streaming === "endless") {
      this.stream!.heard = Infinity
      return
    }
    this.stream!.heard = version
    this.hear({ type: "BOOKMARK", resourceVersion: String(version), initialEventsEnd: true })
    this.deliver()
  }

  private deliver(): void {
    for (;;) {
      const { stream } = this
      if (stream === undefined) return
      const next = this.log.find(({ version }) => version > stream.heard)
      if (next === undefined) return
      if (this.shorten !== undefined && this.shorten-- === 0) {
        this.shorten = undefined
        return this.cut(failure("Unreachable")("watch"))
      }
      stream.heard = next.version
      this.hear({ type: next.type, object: next.object })
    }
  }

  private hear(event: WatchEvent): void {
    if (this.stream !== undefined) this.apply({ _tag: "Event", event })
  }

  private cut(error: ApiError | undefined): void {
    this.stream = undefined
    this.apply(error === undefined ? { _tag: "Ended" } : { _tag: "Failed", error })
  }

  private apply(input: Watcher.Input): void {
    // A poor generator, but the same each time.
    this.seed = (this.seed * 16_807) % 2_147_483_647
    const { command, outputs, state } = Watcher.step(this.state, input, {
      now: this.now,
      jitter: this.seed / 2_147_483_647
    })
    this.state = state
    for (const output of outputs) {
      if (output._tag === "Begin") this.feed.begin()
      else if (output._tag === "Hold") this.feed.hold(output.type, output.object)
      else if (output._tag === "HoldPage") for (const object of output.items) this.feed.hold("ADDED", object)
      else if (output._tag === "Commit") this.feed.commit(output.resourceVersion, output)
      else if (output._tag === "Event") this.feed.event(output.type, output.object)
      else this.feed.bookmark(output.resourceVersion)
    }
    if (command === undefined) return
    this.stream = undefined
    this.command = command
  }

  private stateAt(version: number): ReadonlyArray<KubeObject> {
    const state = new Map<string, KubeObject>()
    for (const told of this.log) {
      if (told.version > version) break
      if (told.type === "DELETED") state.delete(told.object.metadata.name)
      else state.set(told.object.metadata.name, told.object)
    }
    return [...state.values()].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  }
}

const refused = (verb: "list" | "watch", code: number): ApiError =>
  fromAnswer(
    { verb, resource: "widgets.example.com" },
    { code, body: {}, ...(code === 429 && { retryAfterSeconds: 7 }) }
  )

const failure =
  (how: "Unreachable" | "Malformed" | `${number}`) =>
  (verb: "list" | "watch"): ApiError =>
    how === "Unreachable" || how === "Malformed"
      ? new ApiError({ verb, resource: "widgets.example.com", reason: { _tag: how, message: "cut" } })
      : refused(verb, Number(how))

describe("the watcher", () => {
  it.prop(
    "through everything that a server may do, asks within bounds, shows nothing older than before and nothing gone that was not deleted, and is right when all is well again (B1, B2, B3, B14, B15, B16, B17, B18, D22)",
    [Arbitrary.array(Arbitrary.schema(Op), { minLength: 10, maxLength: 40 }), Schema.Boolean],
    ([ops, streamingList]) => {
      const world = new World(streamingList)
      for (const op of ops) {
        const before = { requests: world.requests, now: world.now }
        world.run(op)
        // A list of 5 objects takes 3 pages; one cut, one 410 and one refused stream may each cost a request at once.
        assert.isAtMost(world.requests - before.requests, 10 + (world.now - before.now) / 250)
      }
      world.heal()
      assert.deepStrictEqual(shown(world.store.list()), shown(world.served))
      assert.isUndefined(world.state.failure)
      assert.strictEqual(world.state.failures, 0)
      assert.strictEqual(world.state.phase._tag, "Watching")

      const newest = new Map<string, number>()
      for (const { next, previous } of world.changes) {
        if (next === undefined) {
          assert.isTrue(world.deleted.has(previous!.metadata.uid), "only what was deleted goes")
          continue
        }
        const { resourceVersion, uid } = next.metadata
        assert.isAbove(Number(resourceVersion), newest.get(uid) ?? 0)
        newest.set(uid, Number(resourceVersion))
      }
    },
    { arbitrary: { runs: 3000 } }
  )

  const state = (patch: Partial<Watcher.State>): Watcher.State => ({
    ...Watcher.initial({ ...Watcher.defaults, streamingList: false }),
    position: "20",
    phase: { _tag: "Watching", openedAt: 0, heard: true },
    ...patch
  })
  const millis = (step: Watcher.Step): number | undefined =>
    step.command?._tag === "Wait" ? step.command.millis : undefined

  it("delays double from half a second to half a minute, each drawn from its upper half (B6, B20)", () => {
    for (const [failures, longest] of [0, 1, 2, 3, 4, 5, 6, 50].map(
      (n) => [n, Math.min(30_000, 500 * 2 ** n)] as const
    ))
      for (const jitter of [0, 0.5, 0.999])
        assert.strictEqual(
          millis(
            Watcher.step(state({ failures }), { _tag: "Failed", error: failure("503")("watch") }, { now: 1, jitter })
          ),
          longest * (0.5 + 0.5 * jitter)
        )
  })

  it("a refusal that only somebody's deed mends begins at 5 seconds (B25, B28)", () => {
    for (const code of ["403", "404", "400"] as const)
      assert.strictEqual(
        millis(Watcher.step(state({}), { _tag: "Failed", error: failure(code)("watch") }, { now: 1, jitter: 0 })),
        2_500
      )
  })

  it("Retry-After comes on top of the backoff, and no longer than 5 minutes (B19)", () => {
    const told = (retryAfterSeconds: number) =>
      fromAnswer({ verb: "list", resource: "widgets" }, { code: 429, body: {}, retryAfterSeconds })
    const after = (seconds: number) =>
      millis(Watcher.step(state({}), { _tag: "Failed", error: told(seconds) }, { now: 1, jitter: 0 }))
    assert.strictEqual(after(7), 7_250)
    assert.strictEqual(after(1e9), 300_250)
  })

  it("a list is asked for in one answer where the first page says that it is not large, unless something failed before", () => {
    const listing = { _tag: "Listing", token: undefined, unlimited: false, tries: 0, pages: 0 } as const
    const page = { items: [widget("a", 9), widget("b", 9)], resourceVersion: "21", continue: "t" }
    const next = (some: Partial<ListPage>, patch: Partial<Watcher.State> = {}) => {
      const input = { _tag: "Page", page: { ...page, ...some } } as const
      const step = Watcher.step(state({ phase: listing, ...patch }), input, { now: 1, jitter: 0 })
      const { continue: token, limit } = (step.command as { readonly options: ListOptions }).options
      return { token, limit, outputs: step.outputs.map(({ _tag }): string => _tag) }
    }
    const whole = { token: undefined, limit: undefined, outputs: ["Begin"] }
    const paged = { token: "t", limit: 500, outputs: ["HoldPage"] }
    const mebibyte = 1024 * 1024
    assert.deepStrictEqual(next({ bytes: 4 * mebibyte, remainingItemCount: 6 }), whole)
    assert.deepStrictEqual(next({ bytes: 4 * mebibyte, remainingItemCount: 7 }), paged)
    assert.deepStrictEqual(next({ bytes: 4 * mebibyte }), paged)
    assert.deepStrictEqual(next({ remainingItemCount: 6 }), paged)
    assert.deepStrictEqual(next({ bytes: 1, remainingItemCount: 6 }, { failures: 1 }), paged)
    assert.deepStrictEqual(next({ bytes: 1, remainingItemCount: 6 }, { phase: { ...listing, pages: 1 } }), paged)
  })

  it("no version that is not a number makes it go back or stop (D29)", () => {
    const { state: next } = Watcher.step(
      state({ position: "x" }),
      { _tag: "Event", event: { type: "ADDED", object: widget("a", "y") } },
      { now: 1, jitter: 0 }
    )
    assert.strictEqual(next.position, "y")
  })
})
