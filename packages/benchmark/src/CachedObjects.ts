/** What an object costs in the cache. */
import * as Store from "@fixpoint/core/Store"
import type { KubeObject } from "@fixpoint/core/KubeObject"
import * as Effect from "effect/Effect"
import { type Figure, heapBytes } from "./Measure.ts"
import { ConfigMap } from "./widget/kinds.ts"

/** As a page of a list gives it: parsed JSON, with the fields that the operator applied and an owner of its own. */
const page = (from: number, count: number): ReadonlyArray<KubeObject> =>
  JSON.parse(
    JSON.stringify(
      Array.from({ length: count }, (_, k) => {
        const name = `w-${from + k}`
        const uid = `b6936a4e-71bc-450e-ac9d-${String(from + k).padStart(12, "0")}`
        return {
          apiVersion: "v1",
          kind: "ConfigMap",
          metadata: {
            name,
            namespace: `team-${(from + k) % 100}`,
            uid: `02b24fe1-3b98-4eac-8891-${String(from + k).padStart(12, "0")}`,
            resourceVersion: String(1_000 + from + k),
            creationTimestamp: "2026-11-30T18:36:05Z",
            labels: { "bench.example.com/widget": name },
            ownerReferences: [
              {
                apiVersion: "bench.example.com/v1",
                kind: "Widget",
                name,
                uid,
                controller: true,
                blockOwnerDeletion: true
              }
            ],
            managedFields: [
              {
                manager: "fixpoint",
                operation: "Apply",
                apiVersion: "v1",
                time: "2026-11-30T18:36:05Z",
                fieldsType: "FieldsV1",
                fieldsV1: {
                  "f:data": { "f:message": {}, "f:size": {} },
                  "f:metadata": {
                    "f:labels": { "f:bench.example.com/widget": {} },
                    "f:ownerReferences": { [`k:{"uid":"${uid}"}`]: {} }
                  }
                }
              }
            ]
          },
          data: { size: String(from + k), message: `hello from ${name}` }
        }
      })
    )
  )

export const figures = (objects: number): Effect.Effect<ReadonlyArray<Figure>> =>
  Effect.sync(() => {
    const store = Store.make({ resource: ConfigMap, fieldManager: "fixpoint" })
    const feed = store.feed(undefined)
    const before = heapBytes()
    feed.begin()
    for (let from = 0; from < objects; from += 500)
      for (const object of page(from, Math.min(500, objects - from))) feed.hold("ADDED", object)
    feed.commit(String(1_000 + objects), { reset: false })
    const after = heapBytes()
    const { objects: held } = store.sizes()
    if (held !== objects) throw new Error(`${held} objects are held, not ${objects}`)
    return [
      {
        what: `heap of a cached ConfigMap, of ${objects} in one process`,
        value: (after - before) / objects,
        unit: "B"
      },
      { what: "memory of the process with them", value: process.memoryUsage().rss / 1024 / 1024, unit: "MiB" }
    ]
  })
