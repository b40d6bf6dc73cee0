/** A process of its own that asks a server for everything once within so many seconds, and prints how each request ended and how much memory that took. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { clientOf, configMaps } from "./scriptedServer.ts"

const ref = { namespace: "team", name: "a" }

const [server = "", seconds = 1] = process.argv.slice(2)
const limit = Duration.seconds(Number(seconds))

const asked = Effect.gen(function* () {
  const api = yield* clientOf({ server, requestTimeout: limit, idleLimit: limit })
  const requests = {
    get: api.get(configMaps, ref),
    create: api.create(configMaps, { metadata: ref }),
    watch: Effect.timeout(Stream.runDrain(api.watch(configMaps)), Duration.times(limit, 4))
  }
  for (const [verb, request] of Object.entries(requests)) {
    let peak = 0
    const timer = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage.rss())
    }, 5)
    const end = yield* Effect.match(request, { onSuccess: () => "taken", onFailure: ({ message }) => message })
    clearInterval(timer)
    process.stdout.write(`${JSON.stringify({ verb, end, peakMiB: Math.round(peak / 2 ** 20) })}\n`)
  }
})

await Effect.runPromise(Effect.scoped(asked))
process.exit(0)
