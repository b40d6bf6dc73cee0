/** A program that ends as its argument says, for the tests of `Operator`. */
import { FieldManager } from "@fixpoint/core/FieldManager"
import * as Console from "effect/Console"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Operator from "../src/Operator.ts"

class Foreseen extends Data.TaggedError("Foreseen")<{ readonly message: string }> {}

const waits = (cleanUp: Effect.Effect<void>) =>
  Console.log("waiting").pipe(
    Effect.andThen(Effect.never),
    Effect.onInterrupt(() => cleanUp)
  )

const ends: Readonly<Record<string, Effect.Effect<unknown, { readonly message: string }>>> = {
  well: Effect.flatMap(FieldManager, (name) => Console.log(name)),
  failure: Effect.fail(new Foreseen({ message: "the file a.yaml\n  is not there" })),
  usage: Effect.fail(new Operator.UsageError({ message: "no such option" })),
  defect: Effect.die(new Error("a fault of the program")),
  cleanUp: Effect.ensuring(Effect.fail(new Foreseen({ message: "foreseen" })), Effect.die(new Error("not foreseen"))),
  waits: waits(Effect.andThen(Effect.sleep("50 millis"), Console.log("cleaned up"))),
  hangs: waits(Effect.never)
}

ends[process.argv[2]!]!.pipe(
  Operator.runMain("role-operator", process.argv[3] === undefined ? {} : { stopped: () => Number(process.argv[3]) })
)
