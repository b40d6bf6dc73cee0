/**
 * What a request needs to be let in: headers and TLS material, kept for a minute and renewed when a server refuses them.
 *
 * Guarantees: the first load succeeded, or there are no Credentials. Afterwards a failed load keeps what was there and is tried again after 5 s; it is logged
 * when its text is new, and every minute as long as it lasts; many fibers that need a load share one. A load that brings nothing new gives the same value, so callers compare by identity.
 */
import { unposted } from "@fixpoint/core/EventLogger"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { KubernetesError } from "./KubernetesError.ts"

/** As `node:tls` takes them; PEM texts. */
export interface Tls {
  readonly ca?: string | Buffer
  readonly cert?: string | Buffer
  readonly key?: string | Buffer
  readonly pfx?: string | Buffer
  readonly passphrase?: string
  /** The name that the server's certificate must bear, where it is not the host of the URL. */
  readonly servername?: string
  /** False accepts any server. */
  readonly rejectUnauthorized?: boolean
}

/** One set of credentials. The same value as long as nothing in it changes, and so is its `tls`. */
export interface Access {
  /** Authorization, and Impersonate-User. Secret. */
  readonly headers: Readonly<Record<string, string>>
  readonly tls: Tls
}

/** Where a cluster is and how to get in. */
export interface Source {
  /** `https://host:port`, with a path on some gateways, without a slash at its end. */
  readonly server: string
  /** Where the operator lives, or works by default. */
  readonly namespace: string
  /** An HTTP proxy to go through. */
  readonly proxy?: string
  /** Reads files and asks plugins. `renew`: what is held was refused, so caches of its own do not count. */
  readonly load: (renew: boolean) => Effect.Effect<Access, KubernetesError>
  /** After a load, for so long a refusal does not cause another: a plugin is a process (B22). 0 for files. */
  readonly renewIntervalMillis: number
}

export interface Credentials extends Omit<Source, "load" | "renewIntervalMillis"> {
  /** Never older than a minute if the source gives newer. */
  readonly current: Effect.Effect<Access>
  /** After a 401 to `refused`: newer credentials, or the same value if there are none. */
  readonly renew: (refused: Access) => Effect.Effect<Access>
}

/** How long loaded credentials are used before the source is asked again: kubelet renews tokens well before their end. */
const freshMillis = 60_000
/** The pause after a failed load. */
const failedMillis = 5_000
/** The pause between two lines of the log that say the same. */
const toldMillis = 60_000

const sameBytes = (a: string | Buffer | undefined, b: string | Buffer | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && Buffer.compare(Buffer.from(a), Buffer.from(b)) === 0)

const sameTls = (a: Tls, b: Tls): boolean =>
  sameBytes(a.ca, b.ca) &&
  sameBytes(a.cert, b.cert) &&
  sameBytes(a.key, b.key) &&
  sameBytes(a.pfx, b.pfx) &&
  a.passphrase === b.passphrase &&
  a.servername === b.servername &&
  a.rejectUnauthorized === b.rejectUnauthorized

const sameHeaders = (a: Access["headers"], b: Access["headers"]): boolean => {
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name])
}

/** The value of `before` where `now` says the same. */
const settle = (before: Access, now: Access): Access => {
  const tls = sameTls(before.tls, now.tls) ? before.tls : now.tls
  return tls === before.tls && sameHeaders(before.headers, now.headers) ? before : { headers: now.headers, tls }
}

/** Loads once, at once; fails if that fails. */
export const make = (source: Source): Effect.Effect<Credentials, KubernetesError> =>
  Effect.gen(function* () {
    const first = yield* source.load(false)
    let held = first
    let loadedAt = yield* Clock.currentTimeMillis
    let dueAt = loadedAt + freshMillis
    let told: { readonly message: string; readonly at: number } | undefined
    const gate = yield* Semaphore.make(1)
    const origin = new URL(source.server).origin

    const tell = (message: string, now: number): Effect.Effect<void> => {
      if (told?.message === message && now >= told.at && now < told.at + toldMillis) return Effect.void
      told = { message, at: now }
      return unposted(Effect.logWarning(`the credentials for ${origin} stay as they were: ${message}; trying again`))
    }

    const load = (renew: boolean) =>
      source.load(renew).pipe(
        Effect.matchEffect({
          onSuccess: (access) =>
            Effect.flatMap(Clock.currentTimeMillis, (now) => {
              const recovered = told !== undefined
              told = undefined
              held = settle(held, access)
              loadedAt = now
              dueAt = now + freshMillis
              return Effect.as(
                recovered ? unposted(Effect.logInfo(`the credentials for ${origin} were read again`)) : Effect.void,
                held
              )
            }),
          onFailure: (error) =>
            Effect.flatMap(Clock.currentTimeMillis, (now) => {
              dueAt = now + failedMillis
              return Effect.as(tell(error.message, now), held)
            })
        })
      )

    // A clock set back must not stop renewals.
    const due = (now: number): boolean => now >= dueAt || now < loadedAt

    const loadIfDue = gate.withPermits(1)(
      Effect.flatMap(Clock.currentTimeMillis, (now) => (due(now) ? load(false) : Effect.succeed(held)))
    )

    return {
      server: source.server,
      namespace: source.namespace,
      ...(source.proxy !== undefined && { proxy: source.proxy }),
      current: Effect.flatMap(Clock.currentTimeMillis, (now) => (due(now) ? loadIfDue : Effect.succeed(held))),
      renew: (refused) =>
        gate.withPermits(1)(
          Effect.flatMap(Clock.currentTimeMillis, (now) =>
            held !== refused || (now >= loadedAt && now < loadedAt + source.renewIntervalMillis)
              ? Effect.succeed(held)
              : load(true)
          )
        )
    }
  })

/** Credentials that never change. */
export const fixed = (options: {
  readonly server: string
  readonly namespace: string
  readonly access: Access
}): Source => ({
  server: options.server,
  namespace: options.namespace,
  load: () => Effect.succeed(options.access),
  renewIntervalMillis: 0
})
