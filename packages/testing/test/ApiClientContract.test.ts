import * as ApiServer from "@fixpoint/apiserver/ApiServer"
import * as ApiClientContract from "@fixpoint/testing/ApiClientContract"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

describe("the contract itself", () => {
  it("has more than a hundred cases, in all areas, each under a name of its own", () => {
    const names = ApiClientContract.cases.map(({ area, name }) => `${area}: ${name}`)
    assert.isAtLeast(names.length, 100)
    assert.strictEqual(new Set(names).size, names.length)
    const areas = new Set(ApiClientContract.cases.map(({ area }) => area))
    for (const area of ["create", "merge patch", "json patch", "apply", "delete", "list", "watch"])
      assert.include([...areas], area)
  })

  it.effect("fails a case whose server answers otherwise", () =>
    Effect.gen(function* () {
      const server = yield* ApiServer.ApiServer
      yield* ApiClientContract.prepare
      yield* server.hook({
        before: (call) =>
          call.operation.verb === "create" ? Effect.fail(ApiServer.refused(call, { code: 500 })) : Effect.void
      })
      const exit = yield* Effect.exit(ApiClientContract.run(ApiClientContract.cases[0]!))
      assert.isTrue(Exit.isFailure(exit))
    }).pipe(Effect.scoped, Effect.provide(ApiServer.layer()))
  )
})
