/**
 * The schemas of built-in kinds against a real API server: what it makes of bodies, and who owns what after applies and patches of Deployments, ConfigMaps and
 * Services.
 */
import { assert, describe, layer } from "@effect/vitest"
import * as ControlPlane from "@fixpoint/testing/ControlPlane"
import * as Effect from "effect/Effect"
import {
  builtInBlank,
  builtInResetFields,
  builtInSchema,
  canonical,
  quantityMistake
} from "../src/internal/builtInSchemas.ts"
import { equals } from "../src/internal/json.ts"
import * as ManagedFields from "../src/internal/managedFields.ts"
import { mergePatch } from "../src/internal/patch.ts"
import { applyDefaults, dropNulls, prune } from "../src/internal/structuralSchema.ts"
import * as RealServer from "./realServer.ts"

type Json = any

interface Kind {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly path: string
}

const deployment: Kind = {
  group: "apps",
  version: "v1",
  kind: "Deployment",
  path: "/apis/apps/v1/namespaces/default/deployments"
}
const configMap: Kind = { group: "", version: "v1", kind: "ConfigMap", path: "/api/v1/namespaces/default/configmaps" }
const service: Kind = { group: "", version: "v1", kind: "Service", path: "/api/v1/namespaces/default/services" }
const lease: Kind = {
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  path: "/apis/coordination.k8s.io/v1/namespaces/default/leases"
}
const secret: Kind = { group: "", version: "v1", kind: "Secret", path: "/api/v1/namespaces/default/secrets" }

const apiVersion = ({ group, version }: Kind): string => (group === "" ? version : `${group}/${version}`)
const schemaOf = (kind: Kind) => builtInSchema(kind)!

/** What the server fills in from elsewhere: identity, addresses, what the image's tag says. */
const drawn = new Set([
  "uid",
  "resourceVersion",
  "creationTimestamp",
  "generation",
  "namespace",
  "managedFields",
  "clusterIP",
  "clusterIPs",
  "ipFamilies",
  "ipFamilyPolicy",
  "internalTrafficPolicy",
  "imagePullPolicy",
  "targetPort"
])

const comparable = (value: Json): Json =>
  Array.isArray(value)
    ? value.map(comparable)
    : typeof value === "object" && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .filter(([name]) => !drawn.has(name))
            .map(([name, own]) => [name, comparable(own)])
        )
      : value

const admit = (kind: Kind, body: Json): Json => {
  const schema = schemaOf(kind)
  const pruned = dropNulls(schema, prune(schema, body).value)
  return canonical(schema, applyDefaults(schema, canonical(schema, pruned)))
}

const agree = (real: unknown, ours: unknown, what: string): void =>
  assert.isTrue(equals(real, ours), `${what}\nthe server: ${JSON.stringify(real)}\nours: ${JSON.stringify(ours)}`)

const template = (containers: ReadonlyArray<Json>, more: Json = {}): Json => ({
  selector: { matchLabels: { a: "b" } },
  template: { metadata: { labels: { a: "b" } }, spec: { containers, ...more } }
})

const bodies: ReadonlyArray<readonly [Kind, Json]> = [
  [deployment, { spec: template([{ name: "c", image: "i" }]) }],
  [deployment, { spec: { ...template([{ name: "c", image: "i" }]), replicas: 0, strategy: { type: "Recreate" } } }],
  [
    deployment,
    {
      spec: template(
        [
          {
            name: "c",
            image: "i",
            args: [],
            command: null,
            env: [
              { name: "E", value: "" },
              { name: "F", value: "x" }
            ],
            ports: [{ containerPort: 80 }, { containerPort: 80, protocol: "UDP", name: "u" }],
            resources: { limits: { cpu: "1000m", memory: "1024Mi" }, requests: { cpu: 0.5, memory: "1000Ki" } },
            readinessProbe: { httpGet: { port: "web" } },
            volumeMounts: [{ name: "v", mountPath: "/x" }]
          },
          { name: "d", image: "i", resources: { requests: { cpu: "1.5", memory: "1.5Gi" } } }
        ],
        {
          volumes: [
            { name: "v", emptyDir: {} },
            { name: "w", configMap: { name: "x", items: [] } }
          ],
          nodeSelector: {},
          tolerations: [{ key: "k", operator: "Exists" }]
        }
      )
    }
  ],
  [configMap, { data: { a: "", b: "x" }, binaryData: {} }],
  [configMap, { data: {} }],
  [
    service,
    {
      spec: {
        ports: [{ port: 80 }, { port: 80, protocol: "UDP", name: "u" }].map((p, i) => ({ name: `p${i}`, ...p })),
        selector: {}
      }
    }
  ],
  [service, { spec: { ports: [{ port: 80, targetPort: "web" }], type: "ClusterIP", selector: { a: "b" } } }],
  [lease, { spec: { holderIdentity: "me", leaseDurationSeconds: 5, renewTime: "2026-01-01T00:00:00.000000Z" } }],
  [secret, { data: { a: "eA==" }, type: "Opaque" }]
]

describe.runIf(ControlPlane.available())("built-in kinds and a real API server", () => {
  layer(ControlPlane.layer(), { timeout: "60 seconds", excludeTestServices: true })((it) => {
    it.effect("give bodies the same defaults and the same form (F84, F106, F107)", () =>
      Effect.gen(function* () {
        const server = RealServer.make(yield* ControlPlane.ControlPlane)
        for (const [at, [kind, content]] of bodies.entries()) {
          const body = { apiVersion: apiVersion(kind), kind: kind.kind, metadata: { name: `b${at}` }, ...content }
          const real = yield* server.request("POST", `${kind.path}?dryRun=All`, body)
          assert.strictEqual(real.code, 201, JSON.stringify(real.body))
          const ours = admit(kind, body)
          agree(
            comparable({ ...real.body, status: undefined }),
            comparable({ ...ours, status: undefined }),
            JSON.stringify(body)
          )
        }
      })
    )

    it.effect("refuse an unreadable quantity in the same words (F97)", () =>
      Effect.gen(function* () {
        const server = RealServer.make(yield* ControlPlane.ControlPlane)
        const spec = template([{ name: "c", image: "i", resources: { limits: { cpu: "1x" } } }])
        const body = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "bad" }, spec }
        const real = yield* server.request("POST", deployment.path, body)
        assert.strictEqual(real.code, 400)
        assert.include(real.body.message, quantityMistake(schemaOf(deployment), body))
      })
    )

    it.effect("keep the same managed fields (F30, F91, F92, F93, F95, F96, F106, F107)", () =>
      Effect.gen(function* () {
        const server = RealServer.make(yield* ControlPlane.ControlPlane)
        for (const script of scripts) yield* play(server, script)
      })
    )
  })
})

interface Script {
  readonly kind: Kind
  readonly name: string
  readonly steps: ReadonlyArray<{
    readonly verb: "create" | "apply" | "merge"
    readonly manager: string
    readonly force?: boolean
    readonly subresource?: "status"
    readonly body: Json
  }>
}

const container = (more: Json): Json => ({ name: "c", image: "i", ...more })

const scripts: ReadonlyArray<Script> = [
  {
    kind: deployment,
    name: "d",
    steps: [
      { verb: "create", manager: "old", body: { spec: { ...template([container({})]), replicas: 2 } } },
      {
        verb: "apply",
        manager: "m1",
        body: { spec: template([container({ env: [{ name: "E", value: "1" }], ports: [{ containerPort: 80 }] })]) }
      },
      {
        verb: "apply",
        manager: "m2",
        body: { spec: template([container({ env: [{ name: "F", value: "1" }] }), { name: "side", image: "s" }]) }
      },
      { verb: "apply", manager: "m2", body: { spec: template([container({ env: [{ name: "E", value: "2" }] })]) } },
      {
        verb: "apply",
        manager: "m2",
        force: true,
        body: { spec: template([container({ env: [{ name: "E", value: "2" }] })]) }
      },
      {
        verb: "apply",
        manager: "m1",
        body: { spec: template([container({ resources: { limits: { cpu: "1000m" } } })]) }
      },
      {
        verb: "apply",
        manager: "m1",
        body: { spec: template([container({ resources: { limits: { cpu: "1000m" } } })]) }
      },
      {
        verb: "apply",
        manager: "m3",
        body: { spec: template([container({ resources: { limits: { cpu: "1000m" } } })]) }
      },
      { verb: "apply", manager: "m3", body: { spec: template([container({ resources: { limits: { cpu: "1" } } })]) } },
      {
        verb: "merge",
        manager: "m4",
        body: { spec: { replicas: 3 }, metadata: { labels: { x: "y" }, finalizers: ["x.io/a"] } }
      },
      {
        verb: "merge",
        manager: "m4",
        subresource: "status",
        body: { metadata: { labels: { z: "y" }, annotations: { z: "y" } }, status: { replicas: 1 } }
      },
      { verb: "apply", manager: "m1", body: { spec: template([container({})]) } },
      { verb: "apply", manager: "m5", body: { metadata: { labels: {} }, spec: template([container({ nope: 1 })]) } }
    ]
  },
  {
    kind: configMap,
    name: "c",
    steps: [
      { verb: "apply", manager: "m1", body: { data: { a: "1", b: "" } } },
      { verb: "apply", manager: "m1", body: { data: { a: "1", b: "" } } },
      { verb: "merge", manager: "m2", body: { data: { a: "2" } } },
      { verb: "apply", manager: "m1", body: { data: { b: "" } } },
      { verb: "apply", manager: "m1", body: { data: { a: "3" } } },
      { verb: "apply", manager: "m1", body: {} },
      { verb: "apply", manager: "m3", body: { metadata: { labels: {}, annotations: {} }, data: {} } },
      { verb: "apply", manager: "m3", body: { metadata: { labels: {}, annotations: {} }, data: {} } }
    ]
  },
  {
    kind: service,
    name: "s",
    steps: [
      { verb: "apply", manager: "m1", body: { spec: { ports: [{ port: 80, name: "a", targetPort: 80 }] } } },
      {
        verb: "apply",
        manager: "m2",
        body: { spec: { ports: [{ port: 80, name: "b", protocol: "UDP", targetPort: 81 }], selector: { a: "b" } } }
      },
      {
        verb: "apply",
        manager: "m2",
        body: { spec: { ports: [{ port: 80, name: "z", protocol: "TCP", targetPort: 80 }] } }
      },
      { verb: "apply", manager: "m1", body: { spec: { ports: [{ port: 82, name: "c", targetPort: 82 }] } } }
    ]
  }
]

const play = (server: RealServer.RealServer, { kind, name, steps }: Script) =>
  Effect.gen(function* () {
    const schema = schemaOf(kind)
    let live: Json
    for (const [at, step] of steps.entries()) {
      const { force, manager, subresource, verb } = step
      const what = `${kind.kind}, step ${at}: ${JSON.stringify(step)}`
      const head = { apiVersion: apiVersion(kind), kind: kind.kind }
      const body = verb === "merge" ? step.body : { ...head, ...step.body, metadata: { ...step.body.metadata, name } }
      const path = `${kind.path}/${name}${subresource === undefined ? "" : `/${subresource}`}?fieldManager=${manager}`
      const from = Date.now()
      const real =
        verb === "create"
          ? yield* server.request("POST", `${kind.path}?fieldManager=${manager}`, body)
          : yield* server.request("PATCH", `${path}${force === true ? "&force=true" : ""}`, body, {
              contentType: verb === "merge" ? RealServer.merge : RealServer.apply
            })
      const to = Date.now()
      const times = [...new Set([to, from].map((millis) => `${new Date(millis).toISOString().slice(0, 19)}Z`))]
      const attempts = times.map((now) => {
        const common = {
          schema,
          apiVersion: apiVersion(kind),
          manager,
          now,
          blank: builtInBlank(kind)!,
          resetFields: builtInResetFields(kind, subresource),
          ...(subresource !== undefined && { subresource })
        }
        if (verb === "apply") {
          const result = ManagedFields.apply({ ...common, live, applied: body, force: force === true })
          if (result._tag !== "Applied") return result
          // What the server fills in from elsewhere stays out of the comparison.
          const object = canonical(schema, result.object) as Json
          return live !== undefined && ManagedFields.equalButTimes(live, object) ? live : object
        }
        const patched = verb === "create" ? { _tag: "Patched" as const, value: body } : mergePatch(live, body)
        if (patched._tag !== "Patched") return patched
        const next = admit(kind, patched.value)
        // What the kind itself adds to a Service or Deployment is owned by who creates it.
        const whole = verb === "create" && real.code === 201 ? { ...real.body, metadata: next.metadata } : next
        return ManagedFields.withManagedFields(next, ManagedFields.update({ ...common, live, next: whole })) as Json
      })
      const results = attempts.map((ours) => {
        if ("_tag" in ours) return { message: ours.message }
        return { managedFields: ours.metadata.managedFields }
      })
      const answer =
        real.code < 300 ? { managedFields: real.body.metadata.managedFields } : { message: real.body.message }
      if (!results.some((result) => equals(result, answer))) agree(answer, results[0], what)
      if (real.code < 300) live = real.body
    }
  })
