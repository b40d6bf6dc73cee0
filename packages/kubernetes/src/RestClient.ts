/**
 * The verbs of `ApiClient` in the REST API of a real server, over a `Transport`.
 *
 * Guarantees: nothing is retried but a 401 with renewed credentials (see `Transport`); interruption closes the socket. A watch hands on whole, well-formed
 * events only, those before a failure first (B1, B2, B12). A name or namespace that cannot stand in a path is refused unsent.
 * Caveats: numbers are JavaScript's: integers beyond 2^53 lose digits when they are read (B76). Patches and applies send only what their author wrote,
 * so what they do not name keeps its digits (D26); `replace` writes back what was read, and must not be used on objects that may hold such numbers.
 * A watch whose server sends no bookmarks (B18) and has nothing to tell is cut at the idle limit.
 */
import { constants } from "node:buffer"
import type {
  ApiClient,
  DeleteOptions,
  Patch,
  SubresourceOptions,
  WatchOptions,
  WriteOptions
} from "@fixpoint/core/ApiClient"
import { formatResource } from "@fixpoint/core/ApiClient"
import { ApiError, fromAnswer, type Operation, type Verb } from "@fixpoint/core/ApiError"
import { FieldManager } from "@fixpoint/core/FieldManager"
import { apiVersion, type KubeObject, type ObjectInput, type ObjectRef, type Resource } from "@fixpoint/core/KubeObject"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as Answer from "./internal/answer.ts"
import * as OpenApi from "./internal/openapi.ts"
import * as Stored from "./internal/stored.ts"
import * as Urls from "./internal/urls.ts"
import { makeWarnings } from "./internal/warnings.ts"
import * as WatchBody from "./internal/watchBody.ts"
import type { HttpAnswer, HttpRequest, Transport } from "./Transport.ts"

export interface RestClientOptions {
  /** A watch fails as `Unreachable` after so long without a byte (B5). A server sends a bookmark each minute (F65). Default 90 s. */
  readonly idleLimit?: Duration.Input
}

const operationOf = (
  verb: Verb,
  resource: Resource,
  ref?: ObjectRef,
  subresource?: SubresourceOptions["subresource"]
): Operation => ({ verb, resource: formatResource(resource, subresource), ...(ref !== undefined && { ref }) })

const unsent = (operation: Operation, fault: string): ApiError =>
  new ApiError({
    ...operation,
    reason: { _tag: "BadRequest", code: 400, message: `not sent: ${fault}`, causes: [] }
  })

const malformed = (operation: Operation, message: string): ApiError =>
  new ApiError({ ...operation, reason: { _tag: "Malformed", message } })

const unreachable =
  (operation: Operation) =>
  ({ message }: { readonly message: string }): ApiError =>
    new ApiError({ ...operation, reason: { _tag: "Unreachable", message } })

/** How Go's servers answer plain HTTP on a port of TLS. */
const speaksTls = ({ body, code }: HttpAnswer): boolean =>
  code === 400 && body.startsWith("Client sent an HTTP request to an HTTPS server")

/** Every verb that answers anything but 2xx. */
const refusal = (operation: Operation, answer: HttpAnswer, origin: string): Effect.Effect<never, ApiError> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    if (speaksTls(answer))
      return Effect.fail(
        unreachable(operation)({ message: `${origin}: TLS is spoken on this port: write https:// in the server's URL` })
      )
    if (answer.code < 400) {
      const redirects = answer.code >= 300 ? "; redirects are not followed" : ""
      return Effect.fail(malformed(operation, `an answer ${answer.code}${redirects}`))
    }
    // Whose credentials they were is of use; the answer itself says nothing.
    if (answer.code === 401)
      return Effect.fail(
        fromAnswer(operation, { code: 401, body: { reason: "Unauthorized", message: `Unauthorized at ${origin}` } })
      )
    const retryAfterSeconds = Answer.retryAfterSeconds(answer.headers, now)
    return Effect.fail(
      fromAnswer(operation, {
        code: answer.code,
        body: Answer.errorBody(answer.body),
        ...(retryAfterSeconds !== undefined && { retryAfterSeconds })
      })
    )
  })

const writeQuery = (options: WriteOptions, fieldManager: string, force?: boolean): string =>
  Urls.query({
    fieldManager,
    ...(options.dryRun === true && { dryRun: "All" }),
    fieldValidation: options.fieldValidation,
    ...(force === true && { force: true })
  })

const deleteRequest = (path: string, options: DeleteOptions): HttpRequest => {
  const { dryRun, gracePeriodSeconds, preconditions, propagationPolicy } = options
  return {
    method: "DELETE",
    path,
    contentType: "application/json",
    body: JSON.stringify({
      apiVersion: "v1",
      kind: "DeleteOptions",
      preconditions,
      propagationPolicy,
      gracePeriodSeconds,
      ...(dryRun === true && { dryRun: ["All"] })
    })
  }
}

const patchTypes: Readonly<Record<Patch["type"], string>> = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  // JSON is YAML.
  apply: "application/apply-patch+yaml"
}

/** The server wants to know of what kind it is (F21, F102). */
const typed = (resource: Resource, object: ObjectInput): ObjectInput => ({
  apiVersion: apiVersion(resource),
  kind: resource.kind,
  ...object
})

/** A list without pages may be very large: the limit is the longest text that there is. */
const listBytesMax = constants.MAX_STRING_LENGTH

type Service = ApiClient["Service"]

/** An error without the tokens that the server may have sent back in it. */
const concealing =
  (conceal: Transport["conceal"]) =>
  ({ reason, ...operation }: ApiError): ApiError =>
    new ApiError({
      ...operation,
      reason: {
        ...reason,
        message: conceal(reason.message),
        ...("causes" in reason && {
          causes: reason.causes.map(({ message, ...cause }) =>
            message === undefined ? cause : { ...cause, message: conceal(message) }
          )
        })
      }
    })

/** The verbs that one answer serves. */
const requests = (transport: Transport) => {
  const warn = makeWarnings(transport.conceal)

  /** The parsed body of a 2xx answer, and how large it was. */
  const ask = (
    operation: Operation,
    request: HttpRequest
  ): Effect.Effect<{ readonly value: unknown; readonly bytes: number }, ApiError> =>
    Effect.flatMap(Effect.mapError(transport.request(request), unreachable(operation)), (answer) => {
      if (answer.code < 200 || answer.code > 299) return refusal(operation, answer, transport.origin)
      const parsed = Answer.parseJson(answer.body)
      if (Option.isNone(parsed)) {
        const type = Answer.headerOf(answer.headers, "content-type") ?? "no type"
        return Effect.fail(malformed(operation, `an answer ${answer.code} that is not JSON (${type})`))
      }
      const body = { value: parsed.value, bytes: answer.body.length }
      const warnings = answer.headers.warning
      return warnings === undefined ? Effect.succeed(body) : Effect.as(warn(operation, warnings), body)
    }).pipe(Effect.mapError(concealing(transport.conceal)))

  const read = <A>(
    operation: Operation,
    request: HttpRequest,
    as: (body: unknown, bytes: number) => Answer.Read<A>
  ): Effect.Effect<A, ApiError> =>
    Effect.flatMap(ask(operation, request), ({ bytes, value }) =>
      Effect.mapError(Effect.fromResult(as(value, bytes)), (fault) => malformed(operation, fault))
    )

  /** `faultOf`: why the body is not the object that was to come. */
  const readObject = (operation: Operation, request: HttpRequest, faultOf: (body: unknown) => string | undefined) =>
    read(operation, request, (body) => {
      const fault = faultOf(body)
      return fault === undefined ? Result.succeed(body as KubeObject) : Result.fail(fault)
    })

  /** None where the server knows no such path. */
  const readOptional = (operation: Operation, path: string): Effect.Effect<Option.Option<unknown>, ApiError> =>
    ask(operation, { method: "GET", path }).pipe(
      Effect.map(({ value }) => Option.some(value)),
      Effect.catchIf(
        (error) => error.reason._tag === "NotFound",
        () => Effect.succeedNone
      )
    )

  return { read, readObject, readOptional }
}

type Requests = ReturnType<typeof requests>

/** Refuses a name or namespace that would make another request of it. */
const checked = <A, E, R>(
  operation: Operation,
  namespace: string | undefined,
  name: string | undefined,
  then: () => Effect.Effect<A, E, R>
): Effect.Effect<A, E | ApiError, R> => {
  const fault = Urls.segmentFault("namespace", namespace) ?? Urls.segmentFault("name", name)
  return fault === undefined ? then() : Effect.fail(unsent(operation, fault))
}

const reads = ({
  read,
  readObject,
  readOptional
}: Requests): Pick<Service, "get" | "list" | "discover" | "schema"> => ({
  get: (resource, ref, options = {}) => {
    const operation = operationOf("get", resource, ref)
    return checked(operation, ref.namespace, ref.name, () =>
      readObject(
        operation,
        {
          method: "GET",
          path:
            Urls.single(resource, ref.namespace, ref.name) + Urls.query({ resourceVersion: options.resourceVersion })
        },
        (body) => Stored.storedFault(resource, ref, body)
      )
    )
  },
  list: (resource, options = {}) => {
    const operation = operationOf("list", resource)
    return checked(operation, options.namespace, undefined, () =>
      read(
        operation,
        {
          method: "GET",
          path: Urls.collection(resource, options.namespace) + Urls.listQuery(options),
          answerBytesMax: listBytesMax,
          gzip: true
        },
        (body, bytes) => Answer.asPage(resource, options.namespace, body, bytes)
      )
    )
  },
  discover: (resource) => {
    const operation: Operation = { verb: "discover", resource: formatResource(resource) }
    return Effect.flatMap(readOptional(operation, Urls.root(resource)), (body) => {
      if (Option.isNone(body)) return Effect.succeedNone
      const found = Effect.fromResult(Answer.asDiscovered(resource.plural, body.value))
      return Effect.mapError(found, (fault) => malformed(operation, fault))
    })
  },
  schema: (resource) => {
    const operation: Operation = { verb: "discover", resource: OpenApi.kindName(resource) }
    return Effect.gen(function* () {
      const index = yield* readOptional(operation, "/openapi/v3")
      const path = OpenApi.documentPath(Option.getOrUndefined(index), resource)
      if (path === undefined) return Option.none()
      const document = yield* readOptional(operation, path)
      return yield* Effect.try({
        try: () => Option.fromUndefinedOr(OpenApi.schemaOf(Option.getOrUndefined(document), resource)),
        catch: () => malformed(operation, "a schema that is nested too deeply")
      })
    })
  }
})

const writtenFault =
  (resource: Resource, ref: ObjectRef, { subresource }: SubresourceOptions) =>
  (body: unknown): string | undefined =>
    subresource === "scale" ? Stored.scaleFault(ref, body) : Stored.storedFault(resource, ref, body)

const writes = ({ readObject }: Requests): Pick<Service, "create" | "replace" | "patch"> => ({
  create: (resource, object, options = {}) => {
    const namespace = resource.scope === "Namespaced" ? object.metadata?.namespace : undefined
    const name = object.metadata?.name ?? object.metadata?.generateName
    const operation = operationOf("create", resource, name === undefined ? undefined : { namespace, name })
    return checked(operation, namespace, undefined, () =>
      Effect.flatMap(FieldManager, (manager) =>
        readObject(
          operation,
          {
            method: "POST",
            path: Urls.collection(resource, namespace) + writeQuery(options, options.fieldManager ?? manager),
            contentType: "application/json",
            body: JSON.stringify(typed(resource, object))
          },
          (body) => Stored.createdFault(resource, object.metadata?.name, body)
        )
      )
    )
  },
  replace: (resource, ref, object, options = {}) => {
    const operation = operationOf("replace", resource, ref, options.subresource)
    return checked(operation, ref.namespace, ref.name, () =>
      Effect.flatMap(FieldManager, (manager) =>
        readObject(
          operation,
          {
            method: "PUT",
            path:
              Urls.single(resource, ref.namespace, ref.name, options.subresource) +
              writeQuery(options, options.fieldManager ?? manager),
            contentType: "application/json",
            body: JSON.stringify(options.subresource === "scale" ? object : typed(resource, object))
          },
          writtenFault(resource, ref, options)
        )
      )
    )
  },
  patch: (resource, ref, patch, options = {}) => {
    const operation = operationOf(patch.type === "apply" ? "apply" : "patch", resource, ref, options.subresource)
    return checked(operation, ref.namespace, ref.name, () =>
      Effect.flatMap(FieldManager, (manager) =>
        readObject(
          operation,
          {
            method: "PATCH",
            path:
              Urls.single(resource, ref.namespace, ref.name, options.subresource) +
              writeQuery(options, options.fieldManager ?? manager, patch.type === "apply" && patch.force),
            contentType: patchTypes[patch.type],
            body: JSON.stringify(
              patch.type === "apply" && options.subresource !== "scale" ? typed(resource, patch.body) : patch.body
            )
          },
          writtenFault(resource, ref, options)
        )
      )
    )
  }
})

const deletes = ({ read, readObject }: Requests): Pick<Service, "delete" | "deleteCollection"> => ({
  delete: (resource, ref, options = {}) => {
    const operation = operationOf("delete", resource, ref)
    return checked(operation, ref.namespace, ref.name, () =>
      readObject(operation, deleteRequest(Urls.single(resource, ref.namespace, ref.name), options), (body) =>
        Stored.isStatus(body) ? undefined : Stored.storedFault(resource, ref, body)
      )
    )
  },
  deleteCollection: (resource, options = {}) => {
    const { fieldSelector, labelSelector, namespace, ...rest } = options
    const operation = operationOf("deletecollection", resource)
    return checked(operation, namespace, undefined, () =>
      read(
        operation,
        {
          ...deleteRequest(Urls.collection(resource, namespace) + Urls.query({ labelSelector, fieldSelector }), rest),
          answerBytesMax: listBytesMax
        },
        (body) => Answer.asDeleted(resource, namespace, body)
      )
    )
  }
})

const watch =
  (transport: Transport, idleMillis: number): Service["watch"] =>
  (resource: Resource, options: WatchOptions = {}) => {
    const operation = operationOf("watch", resource)
    return checked(operation, options.namespace, undefined, () =>
      Effect.gen(function* () {
        // Spread, so that many watches opened at once do not end at once.
        const seconds = options.timeoutSeconds ?? (yield* Random.nextIntBetween(300, 600))
        const body = yield* Effect.mapError(
          transport.stream({
            method: "GET",
            path: Urls.collection(resource, options.namespace) + Urls.watchQuery(options, seconds)
          }),
          unreachable(operation)
        )
        if (body.code !== 200) {
          const text = yield* WatchBody.text(body, idleMillis).pipe(Effect.mapError(unreachable(operation)))
          return yield* refusal(operation, { code: body.code, headers: body.headers, body: text }, transport.origin)
        }
        return WatchBody.events(body, {
          origin: transport.origin,
          idleMillis,
          timeoutSeconds: seconds,
          watched: { resource, namespace: options.namespace },
          failure: (failure) => {
            switch (failure._tag) {
              case "Error":
                return fromAnswer(operation, { code: failure.code, body: failure.status })
              case "Malformed":
                return malformed(operation, failure.message)
              case "Unreachable":
                return unreachable(operation)(failure)
            }
          }
        })
      })
    ).pipe(Stream.unwrap, Stream.mapError(concealing(transport.conceal)))
  }

/** All verbs. `discover` and `schema` ask anew each time. */
export const make = (transport: Transport, options: RestClientOptions = {}): Service => {
  const asked = requests(transport)
  return {
    ...reads(asked),
    ...writes(asked),
    ...deletes(asked),
    watch: watch(transport, Duration.toMillis(options.idleLimit ?? "90 seconds"))
  }
}
