import type { KubeObject } from "@fixpoint/core/KubeObject"
import { assert, describe, it } from "@effect/vitest"
import { scaleCauses, scaleOf } from "../src/internal/scaling.ts"

const paths = { specReplicasPath: ".spec.deep.replicas", statusReplicasPath: ".status.replicas" }

const object = (fields: Readonly<Record<string, unknown>>): KubeObject => ({
  apiVersion: "sc.example.com/v1",
  kind: "Loose",
  metadata: { name: "a", namespace: "default", uid: "u", resourceVersion: "1" },
  ...fields
})

/** As a real 1.36 server says it of a custom resource without a schema. */
const said: ReadonlyArray<readonly [unknown, string]> = [
  [{ deep: { replicas: -1 } }, ".spec.deep.replicas: -1: should be a non-negative integer"],
  [{ deep: { replicas: 3e9 } }, ".spec.deep.replicas: 3000000000: should be less than or equal to 2147483647"],
  [
    { deep: { replicas: 1.5 } },
    ".spec.deep.replicas: 0: .spec.deep.replicas accessor error: 1.5 is of the type float64, expected int64"
  ],
  [
    { deep: { replicas: "a" } },
    ".spec.deep.replicas: 0: .spec.deep.replicas accessor error: a is of the type string, expected int64"
  ],
  [
    { deep: { replicas: null } },
    ".spec.deep.replicas: 0: .spec.deep.replicas accessor error: <nil> is of the type <nil>, expected int64"
  ],
  [
    { deep: 3 },
    ".spec.deep.replicas: 0: .spec.deep.replicas accessor error: 3 is of the type int64, expected map[string]interface{}"
  ],
  [
    { deep: [1, { b: 2, a: 1 }] },
    ".spec.deep.replicas: 0: .spec.deep.replicas accessor error: [1 map[a:1 b:2]] is of the type []interface {}, expected map[string]interface{}"
  ],
  [3, ".spec.deep.replicas: 0: .spec.deep accessor error: 3 is of the type int64, expected map[string]interface{}"]
]

describe("a custom resource that has a Scale", () => {
  it.each(said)("with %j for its spec is refused in the words of a real server", (spec, expected) => {
    const [cause, ...others] = scaleCauses(object({ spec }), paths, undefined)
    assert.isEmpty(others)
    assert.strictEqual(`${cause?.field}: ${cause?.message}`.replace("Invalid value: ", ""), expected)
  })

  it.each([[undefined], [null], [{}], [{ deep: null }], [{ deep: { replicas: 0 } }]])(
    "with %j for its spec is let pass",
    (spec) => {
      assert.isEmpty(scaleCauses(object({ spec }), paths, undefined))
    }
  )

  it("answers for its status alone where only that is written", () => {
    const wrong = object({ spec: { deep: 3 }, status: { replicas: -2, selector: { a: "b" } } })
    const fields = scaleCauses(wrong, { ...paths, labelSelectorPath: ".status.selector" }, "status").map(
      ({ field }) => field
    )
    assert.deepStrictEqual(fields, [".status.replicas", ".status.selector"])
  })
})

describe("the selector of a Scale", () => {
  const selectorOf = (selector: unknown) =>
    (scaleOf(object({ spec: { selector } }), { ...paths, labelSelectorPath: ".spec.selector" }).status as any).selector

  it.each([
    ["app=shop", "app=shop"],
    [{ matchLabels: { tier: "a", app: "shop" } }, "app=shop,tier=a"],
    [
      {
        matchLabels: { m: "1" },
        matchExpressions: [
          { key: "z", operator: "In", values: ["b", "a"] },
          { key: "k", operator: "NotIn", values: ["c"] },
          { key: "n", operator: "Exists" },
          { key: "d", operator: "DoesNotExist" }
        ]
      },
      "!d,k notin (c),m=1,n,z in (a,b)"
    ],
    [undefined, undefined]
  ])("of %j is %j, in the order of its keys", (selector, expected) => {
    assert.strictEqual(selectorOf(selector), expected)
  })
})
