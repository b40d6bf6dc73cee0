/**
 * The raw verbs of a Kubernetes API, over any kind, with objects as the server stores them. The only door to a cluster: `Kubernetes.layer` talks to
 * a real server, `ApiServer.layer` is one in memory.
 *
 * Guarantees: no verb tries again by itself, but for a 401 that `Kubernetes` asks once more with renewed credentials; interrupting one ends its request, and a
 * watch's connection.
 * Caveat: an interrupted or unanswered write may have been done.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Option from "effect/Option"
import { ApiError, type Status } from "./ApiError.ts"
import type { KubeObject, ObjectInput, ObjectRef, Resource } from "./KubeObject.ts"

export interface GetOptions {
  /** `"0"` allows an answer from the server's cache. Default: the newest. */
  readonly resourceVersion?: string
}

export interface ListOptions {
  /** One namespace; all of them if absent. */
  readonly namespace?: string
  /** In the form of URLs: `app=x,tier in (a,b)` (see `LabelSelector.format`). */
  readonly labelSelector?: string
  readonly fieldSelector?: string
  /** Objects a page at most. Default: no limit. */
  readonly limit?: number
  /** The token of the page before; the other options must be those of the first page. */
  readonly continue?: string
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: "Exact" | "NotOlderThan"
}

export interface ListPage {
  /** Every object bears apiVersion and kind, also where the server leaves them out of lists (F34). */
  readonly items: ReadonlyArray<KubeObject>
  /** The version of the whole list, from which a watch goes on. */
  readonly resourceVersion: string
  /** Present if there is another page. */
  readonly continue?: string
  readonly remainingItemCount?: number
  /** How large the answer was, where it came over a wire. */
  readonly bytes?: number
}

export interface WatchOptions {
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  /** Events after this version. Absent: first an ADDED for each present object. */
  readonly resourceVersion?: string
  /** The present objects as ADDED, then a bookmark with `initialEventsEnd` (F67). */
  readonly sendInitialEvents?: boolean
  /** After this many seconds the server ends the stream cleanly. */
  readonly timeoutSeconds?: number
}

/** Bookmarks are always asked for; a server may send none (B18). */
export type WatchEvent =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: KubeObject }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string; readonly initialEventsEnd: boolean }

export interface WriteOptions {
  /** Who writes (C10). Default: the `FieldManager` reference. */
  readonly fieldManager?: string
  /** Checked and answered, not stored. */
  readonly dryRun?: boolean
  /** What happens to unknown and double fields. The server's default is `Warn`. */
  readonly fieldValidation?: "Ignore" | "Warn" | "Strict"
}

export interface SubresourceOptions extends WriteOptions {
  readonly subresource?: "status" | "scale"
}

export type JsonPatchOperation =
  | { readonly op: "add" | "replace" | "test"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "move" | "copy"; readonly from: string; readonly path: string }

/** Merge patch (RFC 7396), JSON patch (RFC 6902), or server-side apply. `force` takes fields over from other managers. */
export type Patch =
  | { readonly type: "merge"; readonly body: ObjectInput }
  | { readonly type: "json"; readonly body: ReadonlyArray<JsonPatchOperation> }
  | { readonly type: "apply"; readonly body: ObjectInput; readonly force?: boolean }

export interface DeleteOptions {
  /** Refused with `Conflict` if the object is another one or has moved (F116). */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan"
  readonly gracePeriodSeconds?: number
  readonly dryRun?: boolean
}

/** What the server says of a resource that it serves. */
export interface Discovered {
  readonly plural: string
  readonly singular: string
  readonly kind: string
  readonly namespaced: boolean
  readonly verbs: ReadonlyArray<string>
  /** `status`, `scale` ... */
  readonly subresources: ReadonlyArray<string>
}

export class ApiClient extends Context.Service<
  ApiClient,
  {
    readonly get: (resource: Resource, ref: ObjectRef, options?: GetOptions) => Effect.Effect<KubeObject, ApiError>
    /** One page. See `pages`. */
    readonly list: (resource: Resource, options?: ListOptions) => Effect.Effect<ListPage, ApiError>
    /**
     * Ends when the server ends it cleanly; fails with `Expired` if the version is too old, whether the server says so by code or by an ERROR event
     * (B1, B2), with `Malformed` on anything that is not an event (B12), with `Unreachable` if the connection breaks or falls silent (B5).
     */
    readonly watch: (resource: Resource, options?: WatchOptions) => Stream.Stream<WatchEvent, ApiError>
    /** The namespace is that of the object's metadata. */
    readonly create: (
      resource: Resource,
      object: ObjectInput,
      options?: WriteOptions
    ) => Effect.Effect<KubeObject, ApiError>
    /** Replaces the whole object, or its subresource; the object's resourceVersion guards it. */
    readonly replace: (
      resource: Resource,
      ref: ObjectRef,
      object: ObjectInput,
      options?: SubresourceOptions
    ) => Effect.Effect<KubeObject, ApiError>
    readonly patch: (
      resource: Resource,
      ref: ObjectRef,
      patch: Patch,
      options?: SubresourceOptions
    ) => Effect.Effect<KubeObject, ApiError>
    /** Answers the object if it waits for finalizers, and for a few kinds always; else a Status (F111, F112). */
    readonly delete: (
      resource: Resource,
      ref: ObjectRef,
      options?: DeleteOptions
    ) => Effect.Effect<KubeObject | Status, ApiError>
    /** Deletes what the selectors choose; answers it as it was before. */
    readonly deleteCollection: (
      resource: Resource,
      options?: Pick<ListOptions, "namespace" | "labelSelector" | "fieldSelector"> & DeleteOptions
    ) => Effect.Effect<ReadonlyArray<KubeObject>, ApiError>
    /** None if the server does not serve the resource in that version. Never cached. */
    readonly discover: (
      resource: Pick<Resource, "group" | "version" | "plural">
    ) => Effect.Effect<Option.Option<Discovered>, ApiError>
    /** The OpenAPI v3 schema of a kind, with list types; none if the server publishes none. */
    readonly schema: (
      resource: Pick<Resource, "group" | "version" | "kind">
    ) => Effect.Effect<Option.Option<JsonSchema>, ApiError>
  }
>()("@fixpoint/core/ApiClient") {}

/** A node of an OpenAPI v3 schema. */
export interface JsonSchema {
  readonly [key: string]: unknown
}

/** `roles.access.example.com`, `configmaps`, with `/status` where a subresource is meant: how RBAC and messages name a resource. */
export const formatResource = (resource: Pick<Resource, "group" | "plural">, subresource?: string): string =>
  `${resource.plural}${resource.group === "" ? "" : `.${resource.group}`}${subresource === undefined ? "" : `/${subresource}`}`

/**
 * All pages of a list, each as it comes. Fails with `Expired` if the server forgot the list between two pages (B16): begin again then; with
 * `Malformed` if a page leads on to itself.
 */
export const pages = (
  resource: Resource,
  options: ListOptions & { readonly limit: number }
): Stream.Stream<ListPage, ApiError, ApiClient> =>
  Stream.paginate(undefined as string | undefined, (token) =>
    ApiClient.use((api) =>
      // The version belongs to the first page alone (F44).
      api.list(resource, token === undefined ? options : { ...omitVersion(options), continue: token })
    ).pipe(
      Effect.filterOrFail(
        (page) => token === undefined || page.continue !== token,
        () =>
          new ApiError({
            verb: "list",
            resource: formatResource(resource),
            reason: { _tag: "Malformed", message: "a page that leads on to itself" }
          })
      ),
      Effect.map(
        (page) =>
          [[page], Option.map(Option.fromUndefinedOr(page.continue), (next) => next as string | undefined)] as const
      )
    )
  )

const omitVersion = ({ resourceVersion: _, resourceVersionMatch: __, ...rest }: ListOptions): ListOptions => rest
