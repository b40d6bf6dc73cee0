/** Where the operator is killed: one point for each seed. */
import * as FaultProxy from "@fixpoint/testing/FaultProxy"
import type * as Effect from "effect/Effect"
import { chance } from "./wishes.ts"

const kinds = [
  "child | status",
  "status | event",
  "finalizer | child",
  "inside a list",
  "inside a watch line",
  "release | finalizer off",
  "start checks",
  "event | rest"
] as const

type KillKind = (typeof kinds)[number]

export interface KillPoint {
  readonly seed: number
  /** Between what and what. */
  readonly kind: KillKind
  /** For the table. */
  readonly text: string
  /** Whether it is met by the second operator that starts; the first is killed where it happens to be. */
  readonly second: boolean
  /** What makes the proxy kill by `kill`. */
  readonly rule: (kill: Effect.Effect<void>) => FaultProxy.Rule
}

type Place = Pick<FaultProxy.Rule, "match" | "nth" | "at">

const objects = {
  configMap: { method: "PATCH", path: /\/configmaps\// },
  status: { method: "PATCH", path: /\/roles\/[^/]+\/status$/ },
  event: { method: "POST", path: /\/events$/ },
  held: { method: "PATCH", path: /\/roles\/[^/]+$/, body: /"add"/ },
  released: { method: "PATCH", path: /\/roles\/[^/]+$/, body: /"remove"/ },
  listed: { method: "GET", path: /\/roles$/, query: /limit=|sendInitialEvents=true/ },
  watched: { watch: true, path: /\/roles$/ }
} as const satisfies Readonly<Record<string, FaultProxy.Match>>

/** The nth is small enough to be met by every script. */
export const killPoint = (seed: number): KillPoint => {
  const next = chance(seed * 31 + 7)
  const kind = kinds[(seed - 1) % kinds.length]!
  const upTo = (n: number): number => 1 + Math.floor(next() * n)
  const either = <A, B>(a: A, b: B): A | B => (next() < 0.5 ? a : b)
  const made = (text: string, place: Place, second = false): KillPoint => ({
    seed,
    kind,
    text: `${place.nth === undefined ? "" : `${place.nth}. `}${text}`,
    second,
    rule: (kill) => ({ ...place, deeds: [FaultProxy.run(kill), FaultProxy.cut("RST")] })
  })
  switch (kind) {
    case "child | status":
      return either(
        made("apply of a ConfigMap, answered", { match: objects.configMap, nth: upTo(6), at: "answer" }),
        made("write of a Role's status, unsent", { match: objects.status, nth: upTo(9), at: "request" })
      )
    case "status | event":
      return either(
        made("write of a Role's status, answered", { match: objects.status, nth: upTo(9), at: "answer" }),
        made("POST of an Event, unsent", { match: objects.event, nth: upTo(6), at: "request" })
      )
    case "finalizer | child":
      return either(
        made("PATCH of a finalizer, answered", { match: objects.held, nth: upTo(8), at: "answer" }),
        made("apply of a ConfigMap, unsent", { match: objects.configMap, nth: upTo(6), at: "request" })
      )
    case "inside a list": {
      const at = { afterBytes: 200 + upTo(3_000) }
      return made(`list of Roles, ${at.afterBytes} bytes told`, { match: objects.listed, at }, next() < 0.5)
    }
    case "inside a watch line": {
      const digit = upTo(9)
      return made(`line of the watch that says a Role ending in ${digit} was modified`, {
        match: objects.watched,
        at: { insideLine: new RegExp(`"type":"MODIFIED".*"name":"[a-z]+-[0-9]*${digit}"`) }
      })
    }
    case "release | finalizer off":
      return either(
        made("PATCH that takes a finalizer off, unsent", { match: objects.released, nth: upTo(2), at: "request" }),
        made("PATCH that takes a finalizer off, answered", { match: objects.released, nth: upTo(2), at: "answer" })
      )
    case "start checks": {
      const [text, match] = either(
        either(
          ["discovery of the group", { path: /^\/apis\/access\.example\.com\/v1$/ }] as const,
          ["index of OpenAPI", { path: /^\/openapi\/v3$/ }] as const
        ),
        either(
          ["review of the right to post events", { path: /selfsubjectaccessreviews$/ }] as const,
          ["OpenAPI document of the group", { path: /^\/openapi\/v3\/apis\/access/ }] as const
        )
      )
      const at = either("request", "answer") as "request" | "answer"
      return made(`${text}, ${at === "request" ? "unsent" : "answered"}`, { match, at }, next() < 0.5)
    }
    case "event | rest":
      return made("POST of an Event, answered", { match: objects.event, nth: upTo(6), at: "answer" })
  }
}
