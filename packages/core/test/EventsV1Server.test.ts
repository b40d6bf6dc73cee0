import { assert, describe, layer } from "@effect/vitest"
import * as Kubernetes from "@fixpoint/kubernetes/Kubernetes"
import * as ControlPlane from "@fixpoint/testing/ControlPlane"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import { ApiClient } from "../src/ApiClient.ts"
import * as Controller from "../src/Controller.ts"
import { EventPoster, layer as layerCore, layerEventsV1 } from "../src/EventPoster.ts"
import { eventsV1 } from "../src/internal/eventsApi.ts"
import type { KubeObject, Resource } from "../src/KubeObject.ts"
import type { Subject } from "../src/PostingPolicy.ts"
import * as Reconciler from "../src/Reconciler.ts"
import { corpus } from "./eventCorpus.ts"
import { expected, type Ground, newer, play, type Played, Zone } from "./eventCorpusPlay.ts"
import { countOn } from "./postingWorld.ts"
import { alone, kubectl, ownNamespace, served, until } from "./realServer.ts"
import { ConfigMap, events } from "./world.ts"

type Poster = typeof layerCore

/** Says what the body says by a poster of its own, and waits until all of it is posted or dropped. Gives what it logs. */
const saying = Effect.fnUntraced(function* <E>(
  poster: Poster,
  body: (poster: EventPoster["Service"], posted: Effect.Effect<void>) => Effect.Effect<void, E, ApiClient>
) {
  const lines: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    if (logLevel === "Warn" || logLevel === "Error") lines.push([message].flat().map(String).join(" "))
  })
  const said = Effect.gen(function* () {
    const poster = yield* EventPoster
    const posted = until(Effect.map(poster.stats, ({ inFlight, waiting }) => inFlight + waiting === 0))
    yield* body(poster, posted)
    yield* posted
    return yield* poster.stats
  })
  const stats = yield* Effect.provide(said, Layer.fresh(poster).pipe(Layer.provide(Logger.layer([logger]))))
  return { lines, stats }
})

const warning = { reason: "Broken", message: "it is broken" }

/** One that is there as long as the scope lives. */
const created = Effect.fnUntraced(function* (resource: Resource, metadata: Partial<KubeObject["metadata"]>, rest = {}) {
  const api = yield* ApiClient
  return yield* Effect.acquireRelease(api.create(resource, { metadata, ...rest }), (made) =>
    Effect.ignore(api.delete(resource, { namespace: made.metadata.namespace, name: made.metadata.name }))
  )
})

/** Of both forms of the namespace's Events: `Type Reason xN: text`. */
const told = Effect.fnUntraced(function* (namespace: string) {
  const api = yield* ApiClient
  const { items } = yield* api.list(events, { namespace })
  const brief = items.map((event) => `${event.type} ${event.reason} x${countOn(event)}: ${event.message}`)
  return brief.toSorted()
})

const inOneLine = (text: string): string => text.replace(/\s+/g, " ")

const rbac = (kind: string): Resource => ({
  group: "rbac.authorization.k8s.io",
  version: "v1",
  kind,
  plural: `${kind.toLowerCase()}s`,
  scope: kind.startsWith("Cluster") ? "Cluster" : "Namespaced"
})
const accounts: Resource = {
  group: "",
  version: "v1",
  kind: "ServiceAccount",
  plural: "serviceaccounts",
  scope: "Namespaced"
}

const reviews: Resource = {
  group: "authorization.k8s.io",
  version: "v1",
  kind: "SelfSubjectAccessReview",
  plural: "selfsubjectaccessreviews",
  scope: "Cluster"
}

/** A client that may do in the namespace what the rules say, and no more. */
const account = Effect.fnUntraced(function* (
  namespace: string,
  name: string,
  rules: ReadonlyArray<Controller.PolicyRule>
) {
  yield* created(accounts, { namespace, name })
  yield* created(rbac("Role"), { namespace, name }, { rules })
  yield* created(
    rbac("RoleBinding"),
    { namespace, name },
    {
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name },
      subjects: [{ kind: "ServiceAccount", namespace, name }]
    }
  )
  const { ca, url } = yield* ControlPlane.ControlPlane
  const token = (yield* kubectl(["-n", namespace, "create", "token", name])).trim()
  const client = Kubernetes.layerWith({ server: url, ca, token: Redacted.make(token) })
  // The server learns of roles by its own cache.
  const { apiGroups, resources, verbs } = rules.find(({ resources }) => resources.includes("events"))!
  const resourceAttributes = { namespace, group: apiGroups[0], resource: resources[0], verb: verbs[0] }
  const review = ApiClient.use((api) => api.create(reviews, { spec: { resourceAttributes } }))
  yield* until(
    Effect.map(Effect.provide(review, client, { local: true }), ({ status }) => (status as any)?.allowed === true)
  )
  return client
})

const posters = { core: layerCore, "events.k8s.io": layerEventsV1 }
const apis = ["core", "events.k8s.io"] as const

const about = ({ apiVersion, kind, metadata }: KubeObject): Subject => ({ apiVersion, kind, metadata })

describe.skipIf(!ControlPlane.available())("a poster through events.k8s.io/v1, before a real API server", () => {
  // The corpus stands in default, kube-system and cluster scope by the names that it has in the other API too.
  layer(alone, { excludeTestServices: true, timeout: 120_000 })((it) => {
    it.effect(
      "hard events are stored or dropped as in memory (P16, P17, B79, B80, B81, B82, B86, D19, D20, F151)",
      () =>
        Effect.gen(function* () {
          yield* served(Zone)
          const ground: Ground = {
            namespace: yield* ownNamespace("newer-"),
            moment: Effect.sleep("10 millis"),
            poster: layerEventsV1
          }
          const rows = corpus.map(newer)
          const plays: Array<Played> = []
          for (const [at, row] of rows.entries()) plays.push(yield* play(row, at, ground))
          const table = (of: (at: number) => unknown) =>
            Object.fromEntries(rows.map(({ hazard }, at) => [hazard, of(at)]))
          assert.deepStrictEqual(
            table((at) => [plays[at]!.told, plays[at]!.dropped, plays[at]!.lines.length]),
            table((at) => {
              const { end } = rows[at]!
              return [expected(rows[at]!), ...("dropped" in end ? [end.dropped, end.lines.length] : [0, 0])]
            })
          )
        }).pipe(Effect.scoped),
      300_000
    )

    it.effect(
      "repeats, a restart between them too, are one Event whose count kubectl shows; one that is gone begins anew (B83, B85, D18, F151, F155, F156)",
      () =>
        Effect.gen(function* () {
          const api = yield* ApiClient
          const namespace = yield* ownNamespace("repeats-")
          const object = about(yield* created(ConfigMap, { namespace, name: "broken" }))
          const twice = saying(layerEventsV1, (poster, posted) =>
            Effect.gen(function* () {
              for (let i = 0; i < 2; i++) {
                yield* poster.exception(object, new TypeError("it is broken"))
                yield* posted
              }
            })
          )
          assert.deepStrictEqual((yield* twice).lines, [])
          assert.deepStrictEqual((yield* twice).lines, [])
          assert.deepStrictEqual(yield* told(namespace), ["Warning TypeError x4: it is broken"])
          const described = inOneLine(yield* kubectl(["-n", namespace, "describe", "configmap", "broken"]))
          assert.match(described, /Warning TypeError \S+ \(x4 over \S+\) fixpoint it is broken/)
          const listed = inOneLine(yield* kubectl(["-n", namespace, "get", "events", "-o", "wide"]))
          assert.match(listed, /Warning TypeError configmap\/broken fixpoint, fixpoint it is broken \S+ 4 fixpoint-/)

          const [event] = (yield* api.list(eventsV1.resource, { namespace })).items
          yield* api.delete(eventsV1.resource, { namespace, name: event!.metadata.name })
          yield* saying(layerEventsV1, (poster) => poster.exception(object, new TypeError("it is broken")))
          assert.deepStrictEqual(yield* told(namespace), ["Warning TypeError x1: it is broken"])
        }).pipe(Effect.scoped),
      120_000
    )

    it.effect(
      "a cluster-scoped object's Event is shown by kubectl describe, and combined texts are counted on the first (B80, D18, D20, F152, F155)",
      () =>
        Effect.gen(function* () {
          yield* served(Zone)
          const namespace = yield* ownNamespace("shown-")
          const zone = about(yield* created(Zone, { name: namespace }, { spec: {} }))
          const object = about(yield* created(ConfigMap, { namespace, name: "flooded" }))
          const { lines } = yield* saying(layerEventsV1, (poster, posted) =>
            Effect.gen(function* () {
              yield* poster.warn(zone, warning)
              for (let i = 0; i < 15; i++) {
                yield* poster.warn(object, { ...warning, message: `broken in ${i} places` })
                yield* posted
              }
            })
          )
          assert.deepStrictEqual(lines, [])
          const described = inOneLine(yield* kubectl(["describe", `${Zone.plural}.${Zone.group}`, namespace]))
          assert.match(described, /Warning Broken \S+ fixpoint it is broken/)
          assert.deepStrictEqual(
            (yield* told(namespace)).filter((text) => text.includes("combined")),
            ["Warning Broken x5: (combined from similar events): broken in 10 places"]
          )
        }).pipe(Effect.scoped),
      120_000
    )

    it.effect(
      "after a change of the Layer a repeat begins an Event of its own, since each API counts elsewhere (B83, F156)",
      () =>
        Effect.gen(function* () {
          const namespace = yield* ownNamespace("changed-")
          const object = about(yield* created(ConfigMap, { namespace, name: "broken" }))
          const counted: Array<ReadonlyArray<string>> = []
          for (const poster of [layerCore, layerEventsV1, layerEventsV1, layerCore]) {
            const { lines } = yield* saying(poster, (poster) => poster.warn(object, warning))
            assert.deepStrictEqual(lines, [])
            counted.push((yield* told(namespace)).map((text) => text.replace(/^.* (x\d+):.*$/, "$1")))
          }
          assert.deepStrictEqual(counted, [["x1"], ["x1", "x1"], ["x1", "x2"], ["x2", "x2"]])
        }).pipe(Effect.scoped),
      120_000
    )

    it.effect(
      "the rules that Controller.rbac prints for an API are what its poster needs, and no other's (D21, P24)",
      () =>
        Effect.gen(function* () {
          const namespace = yield* ownNamespace("rights-")
          const object = about(yield* created(ConfigMap, { namespace, name: "broken" }))
          const controller = Controller.make({ for: ConfigMap, reconciler: Reconciler.for(ConfigMap) })
          for (const [i, api] of apis.entries()) {
            const rules = Controller.rbac(controller, { events: api })
            const client = yield* account(namespace, `operator-${i}`, rules)
            for (const other of apis) {
              const { lines, stats } = yield* saying(posters[other], (poster, posted) =>
                Effect.gen(function* () {
                  for (let k = 0; k < 2; k++) {
                    yield* poster.warn(object, { reason: `By${i}`, message: other })
                    yield* posted
                  }
                })
              ).pipe(Effect.provide(client, { local: true }))
              assert.strictEqual(lines.length, api === other ? 0 : 1, lines.join("\n"))
              assert.strictEqual(stats.dropped, api === other ? 0 : 2)
            }
          }
          assert.deepStrictEqual(yield* told(namespace), ["Warning By0 x2: core", "Warning By1 x2: events.k8s.io"])
        }).pipe(Effect.scoped),
      120_000
    )

    it.effect(
      "an account that has just create posts each Event once, and the refusal of its repeats is told once (P24, D17, D18)",
      () =>
        Effect.gen(function* () {
          const namespace = yield* ownNamespace("create-")
          for (const [i, api] of apis.entries()) {
            const apiGroups = [api === "core" ? "" : api]
            const client = yield* account(namespace, `creator-${i}`, [
              { apiGroups, resources: ["events"], verbs: ["create"] }
            ])
            const object = about(yield* created(ConfigMap, { namespace, name: `broken-${i}` }))
            const other = about(yield* created(ConfigMap, { namespace, name: `other-${i}` }))
            const { lines, stats } = yield* saying(posters[api], (poster, posted) =>
              Effect.gen(function* () {
                for (let k = 0; k < 4; k++) {
                  yield* poster.warn(object, { reason: "Broken", message: api })
                  yield* posted
                }
                yield* poster.warn(other, { reason: "Other", message: api })
              })
            ).pipe(Effect.provide(client, { local: true }))
            assert.strictEqual(lines.length, 1)
            assert.match(
              lines[0]!,
              /^Failed to post an event\. It is ignored: repeats of .*: patch events.* 403 Forbidden: .*; grant this account patch on events/
            )
            assert.strictEqual(stats.dropped, 3)
          }
          assert.deepStrictEqual(yield* told(namespace), [
            "Warning Broken x1: core",
            "Warning Broken x1: events.k8s.io",
            "Warning Other x1: core",
            "Warning Other x1: events.k8s.io"
          ])
        }).pipe(Effect.scoped),
      120_000
    )
  })
})
