import * as KubectlScript from "@fixpoint/testing/KubectlScript"
import { assert, describe, it } from "@effect/vitest"
import { words } from "../src/internal/kubectlScene.ts"
import { normalise } from "../src/internal/kubectlText.ts"

const answer = (given: Partial<KubectlScript.Answer>): KubectlScript.Answer => ({
  scene: "a",
  line: "get widgets",
  code: 0,
  stdout: "",
  stderr: "",
  milliseconds: 1,
  ...given
})

const differ = (left: Partial<KubectlScript.Answer>, right: Partial<KubectlScript.Answer>) =>
  KubectlScript.compare([answer(left)], [answer(right)])[0]!

describe("the kubectl script", () => {
  it("has the commands that a user types, sixty at the very least", () => {
    assert.isAtLeast(KubectlScript.commands, 60)
  })

  it.each([
    ["get widgets -o jsonpath='{.a b}'", ["get", "widgets", "-o", "jsonpath={.a b}"]],
    [`label a note="it's"  b=''`, ["label", "a", "note=it's", "b="]],
    ["", []]
  ])("splits %s as a shell does", (line, expected) => {
    assert.deepStrictEqual(words(line), expected)
  })
})

describe("what is taken out of kubectl's output", () => {
  const same: ReadonlyArray<readonly [string, string, string]> = [
    ["an age of two digits", "NAME   AGE\na      9s\n", "NAME   AGE\na      10s\n"],
    ["an age that widens its column", "AGE   LABELS\n9s    <none>\n", "AGE     LABELS\n2m10s   <none>\n"],
    [
      "an age in front of other columns",
      "LAST SEEN   TYPE\n5s          Normal\n",
      "LAST SEEN   TYPE\n12s         Normal\n"
    ],
    ["an age without a header", "anna   3     9s\n", "anna   3     10s\n"],
    ["a time of the API", 'a: "2026-11-30T18:00:00Z"', 'a: "2026-11-30T18:00:01.123456Z"'],
    ["a version", 'resourceVersion: "12"', 'resourceVersion: "9999"'],
    ["a version that describe shows", "Resource Version:  12", "Resource Version:  9999"],
    ["a port", "at https://127.0.0.1:4000", "at https://127.0.0.1:51234"],
    ["an address", "CLUSTER-IP   PORTS\n10.0.0.1     80\n", "CLUSTER-IP    PORTS\n10.0.213.13   80\n"]
  ]

  it.each(same)("%s is no difference", (_, left, right) => {
    assert.strictEqual(normalise(left, "/folder"), normalise(right, "/folder"))
  })

  const kept: ReadonlyArray<readonly [string, string, string]> = [
    ["a name", "NAME   AGE\na      9s\n", "NAME   AGE\nb      9s\n"],
    ["a column that is shifted", "AGE   USERS   GROUPS\n9s            a\n", "AGE   USERS   GROUPS\n9s    a\n"],
    ["a span of time that was written", "timeoutSeconds: 30s", "timeoutSeconds: 31s"],
    ["a missing version", 'resourceVersion: "12"', 'resourceVersion: ""'],
    ["a missing age", "NAME   AGE\na      9s\n", "NAME   AGE\na      <unknown>\n"],
    ["a generation", "generation: 1", "generation: 2"],
    ["a blank at the end of a line", "a\n", "a \n"]
  ]

  it.each(kept)("%s stays one", (_, left, right) => {
    assert.notStrictEqual(normalise(left, "/folder"), normalise(right, "/folder"))
  })

  it("two uids stay two, and one stays one", () => {
    const [a, b] = ["00000000-0000-4000-8000-00000000000a", "00000000-0000-4000-8000-00000000000b"]
    assert.strictEqual(normalise(`${a} ${b} ${a}`, "/folder"), "<uid 1> <uid 2> <uid 1>")
  })
})

describe("a forged difference between two servers is found", () => {
  it.each([
    ["another exit code", { code: 0 }, { code: 1 }, "exit code"],
    ["another output", { stdout: "a\nb\n" }, { stdout: "a\nc\n" }, "stdout"],
    ["a warning that is missing", { stderr: "Warning: old\n" }, { stderr: "" }, "stderr"],
    ["a row too many", { stdout: "a\n" }, { stdout: "a\nb\n" }, "stdout"],
    ["an order", { stdout: "a\nb\n" }, { stdout: "b\na\n" }, "stdout"]
  ])("%s", (_, left, right, expected) => {
    const found = differ(left, right)
    assert.deepStrictEqual<ReadonlyArray<string>>(found.differences, [expected])
    assert.lengthOf(KubectlScript.explain(found), 1)
  })

  it("but not in the rows of what the in-memory API does not serve", () => {
    const [missing] = [...KubectlScript.unserved]
    const left = { line: "api-resources -o name", stdout: `pods\n${missing}\n` }
    assert.isEmpty(differ(left, { ...left, stdout: "pods\n" }).differences)
    assert.isNotEmpty(differ(left, { ...left, stdout: "" }).differences)
    assert.isNotEmpty(differ({ ...left, line: "get all" }, { line: "get all", stdout: "pods\n" }).differences)
  })
})
