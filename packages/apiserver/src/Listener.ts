/**
 * The in-memory API over HTTP on loopback, for kubectl and every other client of Kubernetes: what `ApiServer.listen` gives.
 *
 * Guarantees: requests over HTTP take the way of those in memory, through the same hooks, the same log and the same open watches; no bytes that a client
 * sends end the process or make it grow without bound; with the scope all connections and the port are gone.
 *
 * Assumptions: everybody with a token is trusted; the port is reached from this machine alone.
 *
 * Caveats:
 * - HTTP/1.1 only: every client of Kubernetes speaks it, and each watch then has a connection and a backlog of its own.
 * - A body may nest 500 levels deep (the real server: 10,000) and have 32,768 keys and items; where it is YAML and not JSON, which is read as YAML 1.2,
 *   64 KiB and some 1,000 lines. A head may have 16 KiB. 20,000 connections may be open.
 * - What takes long (bodies over 16 KiB, collections of more than 1,000 objects) is done one after another with rests between, so that others are served
 *   meanwhile; past 1,000 that wait it is 429.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"

/** Somebody with a token. */
export interface Token {
  readonly token: string
  readonly user: string
  /** Default: none. */
  readonly uid?: string
  /** Besides `system:authenticated`. Shown by the audit's readers and reviews; every group may do everything. */
  readonly groups: ReadonlyArray<string>
}

/** One request that is over: a watch when it has ended. */
export interface AuditEntry {
  /** get, list, watch, create, update, patch, apply, delete, deletecollection; the method in small letters where no resource was meant. */
  readonly verb: string
  readonly method: string
  /** With its query. */
  readonly path: string
  /** `system:anonymous` without a token. */
  readonly user: string
  readonly userAgent: string
  /** 0: the connection broke before an answer, by the client or as a hook wished. */
  readonly code: number
  /** Milliseconds from the head of the request to the answer, or to the end of the watch. */
  readonly millis: number
  /** Of the answer's body, as sent. */
  readonly bytes: number
}

export interface ListenOptions {
  /** Default: a free one. */
  readonly port?: number
  /** HTTPS, with a certificate of its own made at the start unless one is given (PEM). False is HTTP. Default: true. */
  readonly tls?: boolean | { readonly cert: string; readonly key: string }
  /** Who may ask. Default: an admin with a random token. */
  readonly tokens?: ReadonlyArray<Token>
  /** Takes requests without credentials for the first token's: kubectl sends no token over HTTP. Default: false, and they are `system:anonymous`, who may do nothing. */
  readonly trustAnonymous?: boolean
  /** Clients with a certificate of this authority (PEM) are its CN, in the groups of its O. Default: certificates are not asked for. Needs TLS. */
  readonly clientCa?: string
  /** Told of every request when it is over. Must not block. */
  readonly audit?: (entry: AuditEntry) => void
}

/** How to reach a listener. */
export interface Listening {
  /** `https://127.0.0.1:<port>`. */
  readonly url: string
  readonly port: number
  /** The certificate authority, PEM. Undefined without TLS. */
  readonly ca: string | undefined
  /** The first token. */
  readonly token: string
  /** The text of a kubeconfig file for the first token, self-contained. */
  readonly kubeconfig: string
  /** How many connections are open. */
  readonly connections: Effect.Effect<number>
  /** Ends it before its scope does: open watches end cleanly, other connections are closed. */
  readonly close: Effect.Effect<void>
}

/** A listener as a service: what `ApiServer.layerListener` provides. */
export class Listener extends Context.Service<Listener, Listening>()("@fixpoint/apiserver/Listener") {}

/** Why nothing listens. `PortTaken`: choose another or 0. `BadCertificate`: the given one and its key do not fit. */
export type ListenReason =
  | { readonly _tag: "PortTaken"; readonly port: number }
  | { readonly _tag: "PortForbidden"; readonly port: number }
  | { readonly _tag: "BadCertificate"; readonly detail: string }
  | { readonly _tag: "NoTokens" }
  | { readonly _tag: "Failed"; readonly detail: string }

const texts = (reason: ListenReason): string => {
  switch (reason._tag) {
    case "PortTaken":
      return `port ${reason.port} of 127.0.0.1 is taken: choose another, or 0 for a free one`
    case "PortForbidden":
      return `port ${reason.port} of 127.0.0.1 may not be opened by this user: choose one above 1023, or 0 for a free one`
    case "BadCertificate":
      return `the certificate or its key cannot be used: ${reason.detail}: give both as PEM, belonging together`
    case "NoTokens":
      return "nobody could ask anything: give one token at least, or leave tokens out"
    case "Failed":
      return reason.detail
  }
}

/** The only error of listening. */
export class ListenError extends Data.TaggedError("ListenError")<{ readonly reason: ListenReason }> {
  override get message(): string {
    return `the API server cannot listen: ${texts(this.reason)}`
  }
}
