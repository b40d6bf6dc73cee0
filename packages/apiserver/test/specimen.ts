/** A custom resource with every kind of list, map and default, and random bodies for it. */
import type { Schema } from "../src/internal/structuralSchema.ts"

export const group = "specimen.example.com"
export const apiVersion = `${group}/v1`

const text: Schema = { type: "string" }
const whole: Schema = { type: "integer" }

export const schema: Schema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        size: { type: "integer", minimum: 0, maximum: 3 },
        mode: { type: "string", enum: ["a", "b"], default: "a" },
        name: { type: "string", maxLength: 3 },
        maybe: { type: "string", nullable: true },
        filled: { type: "string", nullable: true, default: "f" },
        port: { "x-kubernetes-int-or-string": true },
        labels: { type: "object", additionalProperties: text },
        boxes: {
          type: "object",
          additionalProperties: { type: "object", properties: { a: text, b: { type: "integer", default: 1 } } }
        },
        nested: {
          type: "object",
          properties: {
            x: text,
            y: { type: "object", properties: { z: whole, w: { type: "string", default: "w" } } }
          }
        },
        made: {
          type: "object",
          default: { deep: 7 },
          properties: { deep: { type: "integer", default: 7 }, other: text }
        },
        rows: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["k"],
          items: {
            type: "object",
            required: ["k"],
            properties: {
              k: text,
              v: text,
              n: { type: "integer", default: 1 },
              tags: { type: "array", items: text, "x-kubernetes-list-type": "set" }
            }
          }
        },
        ports: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["port", "protocol"],
          items: {
            type: "object",
            required: ["port"],
            properties: { port: whole, protocol: { type: "string", default: "TCP" }, name: text }
          }
        },
        set: { type: "array", items: text, "x-kubernetes-list-type": "set" },
        numbers: { type: "array", items: whole, "x-kubernetes-list-type": "set" },
        atomic: { type: "array", items: text },
        objects: { type: "array", items: { type: "object", properties: { a: text, b: whole } } },
        atomicMap: { type: "object", additionalProperties: text, "x-kubernetes-map-type": "atomic" },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true }
      }
    },
    status: {
      type: "object",
      properties: {
        phase: text,
        count: { type: "integer", minimum: 0 },
        filled: { type: "string", default: "s" },
        conditions: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["type"],
          items: {
            type: "object",
            required: ["type", "status"],
            properties: { type: text, status: text, reason: text }
          }
        }
      }
    }
  }
}

export const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `specimens.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { plural: "specimens", singular: "specimen", kind: "Specimen", listKind: "SpecimenList" },
    versions: [
      { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema }, subresources: { status: {} } }
    ]
  }
}

/** A stream of numbers from a seed (mulberry32). */
export class Random {
  #state: number
  constructor(seed: number) {
    this.#state = seed >>> 0
  }
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
  below(n: number): number {
    return Math.floor(this.next() * n)
  }
  pick<A>(items: ReadonlyArray<A>): A {
    return items[this.below(items.length)]!
  }
  chance(p: number): boolean {
    return this.next() < p
  }
}

interface Habits {
  /** How often a field is there. */
  readonly density: number
  /** How often a value is null, of another type, twice in a list, or not in the schema. */
  readonly mischief: number
}

/** A random value of the schema; few different ones, so that managers meet. */
export const value = (of: Schema, random: Random, habits: Habits): unknown => {
  if (random.chance(habits.mischief)) return random.pick([null, null, "odd", 9, true, {}, []])
  if (of["x-kubernetes-int-or-string"] === true) return random.pick([1, 2, "a"])
  if (of.enum !== undefined) return random.pick(of.enum)
  switch (of.type) {
    case "string":
      return random.pick(["x", "y", "z<"])
    case "integer":
      return random.below(3)
    case "array":
      return list(of, random, habits)
  }
  return object(of, random, habits)
}

const list = (of: Schema, random: Random, habits: Habits): ReadonlyArray<unknown> => {
  const items: Array<unknown> = []
  for (let left = random.below(4); left > 0; left--) items.push(value(of.items!, random, habits))
  if (of["x-kubernetes-list-type"] === undefined || random.chance(habits.mischief)) return items
  const keys = of["x-kubernetes-list-map-keys"]
  const keyed = items.map((item: any) =>
    keys === undefined || typeof item !== "object" || item === null
      ? item
      : {
          ...item,
          ...(item[keys[0]!] === undefined && { [keys[0]!]: value(of.items!.properties![keys[0]!]!, random, habits) })
        }
  )
  const seen = new Set<string>()
  return keyed.filter((item: any) => {
    const key = JSON.stringify(
      keys === undefined ? item : keys.map((name) => item?.[name] ?? of.items!.properties![name]!.default)
    )
    return seen.has(key) ? false : seen.add(key)
  })
}

const object = (of: Schema, random: Random, habits: Habits): Record<string, unknown> => {
  const out: Record<string, unknown> = {}
  if (of["x-kubernetes-preserve-unknown-fields"] === true) {
    for (const name of ["p", "q"]) {
      if (random.chance(habits.density))
        out[name] = random.pick([1, "t", [1, 2], {}, { r: 1 }, { r: { s: "u" } }, null])
    }
    return out
  }
  if (typeof of.additionalProperties === "object") {
    for (const name of ["x", "y", "z"]) {
      if (random.chance(habits.density)) out[name] = value(of.additionalProperties, random, habits)
    }
    return out
  }
  for (const [name, own] of Object.entries(of.properties ?? {})) {
    if (of.required?.includes(name) === true || random.chance(habits.density)) out[name] = value(own, random, habits)
  }
  if (random.chance(habits.mischief)) out.nope = 1
  return out
}

/** Random labels, annotations, finalizers and owners. */
export const metadata = (random: Random, habits: Habits): Record<string, unknown> => {
  const texts = (): Record<string, unknown> =>
    Object.fromEntries(["l1", "l2"].filter(() => random.chance(0.5)).map((name) => [name, random.pick(["x", "y"])]))
  const owner = (uid: string) => ({ apiVersion: "v1", kind: "Secret", name: random.pick(["a", "b"]), uid })
  return {
    ...(random.chance(habits.density) && { labels: texts() }),
    ...(random.chance(habits.density) && { annotations: texts() }),
    ...(random.chance(habits.density) && { finalizers: ["x.io/a", "x.io/b"].filter(() => random.chance(0.5)) }),
    ...(random.chance(habits.density) && { ownerReferences: ["u1", "u2"].filter(() => random.chance(0.5)).map(owner) })
  }
}
