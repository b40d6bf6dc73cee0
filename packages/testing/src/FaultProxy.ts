/**
 * A proxy on loopback in front of an API server that does what networks and busy servers do: cuts connections, leaves them half-open, loses answers,
 * is slow, refuses. What it does to which request is said by rules, so that a test can kill a process between two requests that it chose.
 *
 * ```ts
 * import { ControlPlane, FaultProxy } from "@fixpoint/testing"
 * import * as Effect from "effect/Effect"
 *
 * export const test = Effect.scoped(
 *   Effect.gen(function* () {
 *     const proxy = yield* FaultProxy.make(yield* ControlPlane.ControlPlane)
 *     // The second status write is done, and its answer is lost.
 *     yield* proxy.add({ match: { method: "PATCH", path: /\/status$/ }, nth: 2, at: "answer", deeds: [FaultProxy.cut("RST")] })
 *   })
 * )
 * ```
 *
 * Guarantees: what no rule concerns is passed on as it is, in both directions, with its Authorization. A request that a rule ends at `"request"` never
 * reaches the server. The log and what is held of bodies are bounded. Everything ends with the scope.
 * Assumption: HTTP/1.1 from the client.
 * Caveats: TLS ends here, so client certificates do not reach the server; no upgrades (exec, port-forward); a request's body is at most 8 MiB.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Connection } from "./ControlPlane.ts"
import * as Server from "./internal/faultProxyServer.ts"

/** Which requests. What is absent fits all; patterns fit anywhere in the text. */
export interface Match {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  /** Without the query. */
  readonly path?: RegExp
  /** As it was sent, without the question mark. */
  readonly query?: RegExp
  readonly watch?: boolean
  readonly body?: RegExp
}

/**
 * When the deeds are done.
 * - `"request"`: it has come, and the server does not know of it.
 * - `"answer"`: the server has answered, a watch with its head, all else whole; the client does not know of it.
 * - `afterBytes`: so many bytes of the body have been relayed.
 * - `insideLine`: half of that line of the body has been relayed, the first one being 1, or of the first line that fits; if it has characters of several
 *   bytes, the first of them is torn.
 */
export type Moment = "request" | "answer" | { readonly afterBytes: number } | { readonly insideLine: number | RegExp }

/** What is done. After `Run` and `Delay` the exchange goes on; the others end it. */
export type Deed =
  | { readonly _tag: "Run"; readonly effect: Effect.Effect<void> }
  | { readonly _tag: "Delay"; readonly millis: number }
  | { readonly _tag: "Cut"; readonly how: Ending }
  | { readonly _tag: "Stall" }
  | { readonly _tag: "Answer"; readonly code: number; readonly retryAfterSeconds?: number }

/** How a connection ends: orderly, or as one that broke. */
export type Ending = "FIN" | "RST"

export interface Rule {
  readonly match: Match
  /** The first of the requests that fit for which it counts. Default 1. */
  readonly nth?: number
  /** For how many it counts. Default 1; `Infinity` is until `heal`. */
  readonly times?: number
  readonly at: Moment
  /** In this order. */
  readonly deeds: ReadonlyArray<Deed>
}

/** Runs an effect, as one that kills a process, and waits for it. */
export const run = (effect: Effect.Effect<void>): Deed => ({ _tag: "Run", effect })

export const delay = (millis: number): Deed => ({ _tag: "Delay", millis })

/**
 * Ends the connection. At `"answer"` that is an answer lost: the request was done. An RST destroys what was relayed just before and is not read yet; a
 * `delay` before it lets that arrive.
 */
export const cut = (how: Ending): Deed => ({ _tag: "Cut", how })

/** Nothing comes any more, and the connection stays open until the client leaves it. */
export const stall: Deed = { _tag: "Stall" }

/** Answers instead of the server; a plain text, as proxies and busy servers send. Before anything of the server's answer was relayed. */
export const answer = (code: number, retryAfterSeconds?: number): Deed => ({
  _tag: "Answer",
  code,
  ...(retryAfterSeconds !== undefined && { retryAfterSeconds })
})

/** A request that came in, and what became of it. */
export interface Logged {
  /** Unix time in milliseconds. */
  readonly at: number
  readonly method: string
  readonly path: string
  readonly query: string
  readonly watch: boolean
  /** What the client was told; undefined if it was told nothing, or nothing yet. */
  readonly code: number | undefined
}

export interface FaultProxy {
  /** `https://127.0.0.1:<port>` */
  readonly url: string
  /** The authority of its certificate, PEM. */
  readonly ca: string
  /** The text of a kubeconfig that leads here, with the token of the connection. */
  readonly kubeconfig: string
  readonly add: (rule: Rule) => Effect.Effect<void>
  /** Ends the open watches; answers how many. */
  readonly cutWatches: (how: Ending) => Effect.Effect<number>
  /** Leaves the open watches half-open; answers how many. */
  readonly stallWatches: Effect.Effect<number>
  /** Forgets all rules. What is stalled stays so: only its client can leave it. */
  readonly heal: Effect.Effect<void>
  /** The latest requests since `clearLog`, oldest first: 10,000 at most. */
  readonly log: Effect.Effect<ReadonlyArray<Logged>>
  /** How many came since `clearLog`. */
  readonly count: Effect.Effect<number>
  readonly clearLog: Effect.Effect<void>
}

/** Listens on a free port while the scope is open. */
export const make = ({
  ca,
  token,
  url
}: Pick<Connection, "ca" | "token" | "url">): Effect.Effect<FaultProxy, never, Scope.Scope> =>
  Effect.map(Server.make({ url, ca }), ({ certificate, port, server }) => {
    const own = `https://127.0.0.1:${port}`
    const cluster = { server: own, "certificate-authority-data": Buffer.from(certificate).toString("base64") }
    const kubeconfig = {
      apiVersion: "v1",
      kind: "Config",
      "current-context": "faults",
      clusters: [{ name: "faults", cluster }],
      users: [{ name: "admin", user: { token } }],
      contexts: [{ name: "faults", context: { cluster: "faults", user: "admin" } }]
    }
    return {
      url: own,
      ca: certificate,
      kubeconfig: JSON.stringify(kubeconfig, null, 2),
      add: (rule) => Effect.sync(() => server.add(rule)),
      cutWatches: (how) => Effect.sync(() => server.cutWatches(how)),
      stallWatches: Effect.sync(() => server.stallWatches()),
      heal: Effect.sync(() => server.heal()),
      log: Effect.sync(() => server.log()),
      count: Effect.sync(() => server.count),
      clearLog: Effect.sync(() => server.clearLog())
    }
  })
