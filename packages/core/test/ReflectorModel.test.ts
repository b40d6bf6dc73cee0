import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { KubeObject } from "../src/KubeObject.ts"
import { after, assertEqual, broken, expired, follow, makeWorld, refused, settle, size } from "./reflected.ts"
import { widgets } from "./widgets.ts"

const below = (n: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: n - 1 }))
const Name = below(4)

const Op = Schema.Union([
  Schema.Struct({ _tag: Schema.Literal("Write"), name: Name, folded: Schema.Literals(["at once", "later", "never"]) }),
  Schema.Struct({ _tag: Schema.Literal("Delete"), name: Name, folded: Schema.Boolean }),
  /** Answers of writes that were kept back arrive. */
  Schema.Struct({ _tag: Schema.Literal("Answers") }),
  Schema.Struct({ _tag: Schema.Literal("Cut"), broken: Schema.Boolean }),
  Schema.Struct({ _tag: Schema.Literal("Compact") }),
  Schema.Struct({
    _tag: Schema.Literal("Fail"),
    list: below(4),
    watch: below(4),
    how: Schema.Literals(["none", "410", "429", "500"])
  }),
  Schema.Struct({ _tag: Schema.Literal("Wait"), seconds: below(20) })
])

describe("Reflector over an API server in memory", () => {
  it.effect.prop(
    "whatever is cut, forgotten or refused, and whenever answers of writes arrive: the cache ends as the server is (B3, B7, B14, B15, D29)",
    [Arbitrary.array(Arbitrary.schema(Op), { minLength: 5, maxLength: 18 }), Schema.Boolean],
    ([ops, streamingList]) =>
      Effect.gen(function* () {
        const world = yield* makeWorld()
        const { health, store } = yield* follow(world, { streamingList, pageSize: 2 })
        const newest = new Map<string, number>()
        const gone = new Set<string>()
        // A throw in a listener would only be a failure of the reflector.
        const wrong: Array<string> = []
        store.onChange(({ next, previous, ref }) => {
          if (next === undefined) return void gone.add(previous!.metadata.uid)
          const { resourceVersion, uid } = next.metadata
          if (Number(resourceVersion) <= (newest.get(uid) ?? 0)) wrong.push(`${ref.name} is not newer`)
          if (gone.has(uid)) wrong.push(`${ref.name} came back`)
          newest.set(uid, Number(resourceVersion))
        })
        const live = new Map<string, KubeObject>()
        let answers: Array<() => void> = []
        let written = 0
        for (const op of ops) {
          switch (op._tag) {
            case "Write": {
              const name = `w${op.name}`
              const answer = yield* live.has(name)
                ? world.change(name, size(++written))
                : world.create(name, size(++written))
              live.set(name, answer)
              if (op.folded === "at once") store.fold(answer)
              else if (op.folded === "later") answers.push(() => store.fold(answer))
              break
            }
            case "Delete": {
              const name = `w${op.name}`
              const object = live.get(name)
              if (object === undefined) break
              live.delete(name)
              yield* world.remove(name)
              if (op.folded) store.foldDeleted({ namespace: "ns1", name }, object.metadata.uid)
              break
            }
            case "Answers":
              for (const answer of answers.toReversed()) answer()
              answers = []
              break
            case "Cut":
              yield* world.server.cutWatches({ broken: op.broken })
              break
            case "Compact":
              yield* world.server.compact()
              break
            case "Fail": {
              const failure = (verb: "list" | "watch") =>
                op.how === "none"
                  ? broken(verb)
                  : op.how === "410"
                    ? expired(verb)
                    : refused(verb, Number(op.how), {}, 3)
              const [lists, watches] = [op.list, op.watch].map((count, i) => {
                const verb = i === 0 ? "list" : "watch"
                return world.requests.filter((request) => request.verb === verb).length + count
              })
              world.between.list = (_, number) => (number <= lists! ? Effect.fail(failure("list")) : undefined)
              world.between.watch = (_, number) => (number <= watches! ? Stream.fail(failure("watch")) : undefined)
              break
            }
            case "Wait":
              yield* after(op.seconds * 1_000)
          }
        }
        for (const answer of answers) answer()
        world.between.list = undefined
        world.between.watch = undefined
        yield* after("1 minute")
        yield* settle
        yield* assertEqual(world, store)
        assert.deepStrictEqual(wrong, [])
        assert.notProperty(health(), "failure")
        assert.strictEqual(store.sizes().overlays, 0)
        const objects = yield* world.server.objects(widgets)
        for (const { metadata } of objects)
          assert.isTrue(
            store.hasSeen({ namespace: "ns1", name: metadata.name }, metadata.uid, metadata.resourceVersion)
          )
      }).pipe(Effect.scoped),
    { arbitrary: { runs: 1000 }, timeout: 240_000 }
  )
})
