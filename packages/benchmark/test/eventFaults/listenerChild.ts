/** The API in memory behind HTTPS, as a program: tells its parent how to reach it, and runs until that ends. */
import * as ApiServer from "@fixpoint/apiserver/ApiServer"
import * as Kind from "@fixpoint/core/Kind"
import * as Effect from "effect/Effect"
import { Widget } from "../../src/widget/kinds.ts"

process.on("disconnect", () => process.exit(1))

const serve = Effect.gen(function* () {
  const { ca, token, url } = yield* ApiServer.listen()
  process.send?.({ ca, token, url })
  return yield* Effect.never
})

Effect.runFork(
  serve.pipe(Effect.scoped, Effect.provide(ApiServer.layer({ kinds: [Kind.customResourceDefinition(Widget)] })))
)
