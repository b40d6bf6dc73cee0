/** The user's own manifests, applied in the order of their files: each is an act that ends when nothing moves any more. */
import * as Effect from "effect/Effect"
import type { Manifest } from "./manifestFolder.ts"
import { type Act, Stage } from "./stage.ts"
import * as User from "./user.ts"
import { Ground } from "./world.ts"

/** One act a file. What the server refuses fails the act, with the server's words. */
export const actsOf = (manifests: ReadonlyArray<Manifest>): ReadonlyArray<Act> =>
  [...new Set(manifests.map(({ file }) => file))].map((file) => ({
    title: file,
    play: Effect.gen(function* () {
      const { namespace } = yield* Ground
      const { note, rest } = yield* Stage
      for (const manifest of manifests.filter((one) => one.file === file)) {
        yield* note(`the user applies ${manifest.object.kind} ${manifest.object.metadata?.name ?? ""}`)
        yield* User.apply(manifest, namespace, "kubectl")
      }
      yield* rest("it has come to rest")
    })
  }))
