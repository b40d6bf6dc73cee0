/** What is asked of Pods and of what makes Pods, against a real API server. */
import { assert, describe, layer } from "@effect/vitest"
import * as ControlPlane from "@fixpoint/testing/ControlPlane"
import * as SharedControlPlane from "@fixpoint/testing/SharedControlPlane"
import * as Effect from "effect/Effect"
import * as MemoryServer from "./memoryServer.ts"
import * as RealServer from "./realServer.ts"

type Json = any

const c = { name: "c", image: "i" }
const one = (content: Json): Json => ({ containers: [{ ...c, ...content }] })
const also = (content: Json): Json => ({ containers: [c], ...content })

const specs: ReadonlyArray<Json> = [
  {},
  { containers: [] },
  { containers: [{}] },
  { containers: [{ name: "c" }] },
  { containers: [{ image: "i" }] },
  { containers: [c, c] },
  one({ name: "Bad_" }),
  one({ ports: [{}] }),
  one({ ports: [{ containerPort: 70_000 }] }),
  one({
    ports: [
      { containerPort: 80, name: "a" },
      { containerPort: 81, name: "a" }
    ]
  }),
  one({ env: [{ value: "x" }] }),
  one({ env: [{ name: "a=b" }] }),
  one({ volumeMounts: [{ name: "v", mountPath: "/x" }] }),
  one({ volumeMounts: [{}] }),
  one({ imagePullPolicy: "X" }),
  also({ volumes: [{ name: "v" }, { name: "v" }] }),
  also({ volumes: [{}] }),
  also({ volumes: [{ name: "v", emptyDir: {}, hostPath: { path: "/x" } }] }),
  also({ initContainers: [c] }),
  also({ initContainers: [{ name: "d" }] }),
  also({ restartPolicy: "Never" }),
  also({ restartPolicy: "X" }),
  also({ dnsPolicy: "X" }),
  { ...one({ volumeMounts: [{ name: "v", mountPath: "/x" }] }), volumes: [{ name: "v" }] }
]

const labels = { a: "b" }
const selector = { matchLabels: labels }
const template = { metadata: { labels }, spec: { containers: [c] } }

const deployments: ReadonlyArray<Json> = [
  {},
  { selector, template: { ...template, metadata: { labels: { x: "y" } } } },
  { selector, template: { ...template, metadata: null } },
  { template },
  { selector: {}, template },
  { selector: { matchExpressions: [{ key: "a", operator: "NotIn", values: ["b"] }] }, template },
  { selector: { matchExpressions: [{ key: "a", operator: "Exists" }] }, template },
  { selector, template, strategy: { type: "Recreate", rollingUpdate: { maxSurge: 1 } } }
]

const requests: ReadonlyArray<readonly [path: string, spec: Json]> = [
  ...specs.flatMap((spec) => [
    ["/api/v1/namespaces/default/pods", spec] as const,
    ["/apis/apps/v1/namespaces/default/deployments", { selector, template: { ...template, spec } }] as const,
    ["/apis/apps/v1/namespaces/default/daemonsets", { selector, template: { ...template, spec } }] as const,
    ["/apis/batch/v1/namespaces/default/jobs", { template: { spec } }] as const,
    [
      "/apis/batch/v1/namespaces/default/cronjobs",
      { schedule: "* * * * *", jobTemplate: { spec: { template: { spec } } } }
    ] as const
  ]),
  ...deployments.map((spec) => ["/apis/apps/v1/namespaces/default/deployments", spec] as const),
  ...["replicasets", "statefulsets", "daemonsets"].flatMap((plural) => [
    [`/apis/apps/v1/namespaces/default/${plural}`, {}] as const,
    [`/apis/apps/v1/namespaces/default/${plural}`, { selector, template: { ...template, metadata: {} } }] as const
  ]),
  [
    "/apis/batch/v1/namespaces/default/cronjobs",
    { schedule: "x", jobTemplate: { spec: { template: { spec: also({ restartPolicy: "Never" }) } } } }
  ],
  ["/api/v1/namespaces/default/services", { ports: [{ port: 1 }, { port: 2 }] }]
]

describe.runIf(ControlPlane.available())("the validation of Pods and a real API server", () => {
  layer(SharedControlPlane.layer, { timeout: "60 seconds", excludeTestServices: true })((it) => {
    it.effect("refuse the same for the same causes, and take the same", () =>
      Effect.gen(function* () {
        const real = RealServer.make(yield* ControlPlane.ControlPlane)
        const memory = MemoryServer.make()
        for (const [collection, spec] of requests) {
          const path = `${collection}?dryRun=All`
          const body = { metadata: { name: "judged" }, spec }
          const theirs = yield* real.request("POST", path, body)
          const ours = memory.request("POST", path, body)
          const what = `${collection} ${JSON.stringify(spec)}`
          assert.deepStrictEqual([ours.code, ours.body.details], [theirs.code, theirs.body.details], what)
        }
      })
    )
  })
})
