/** The errors that the server answers, with the texts, reasons and codes of a real one. Thrown inside a step, which answers them. */
import type { Status, StatusCause } from "@fixpoint/core/ApiError"

/** How messages name a resource: the plural with its group. */
export interface Named {
  readonly group: string
  readonly plural: string
  readonly kind: string
}

type Details = NonNullable<Status["details"]>

/** An answer that ends a request; nothing of it is stored. `body` is text where the server sends none of its own forms (F36). */
export class Refusal {
  readonly code: number
  readonly body: Status | string
  readonly retryAfterSeconds: number | undefined
  constructor(code: number, body: Status | string, retryAfterSeconds?: number) {
    this.code = code
    this.body = body
    this.retryAfterSeconds = retryAfterSeconds
  }
}

const status = (code: number, reason: string | undefined, message: string, details?: Details): Refusal =>
  new Refusal(
    code,
    {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message,
      ...(reason !== undefined && { reason }),
      ...(details !== undefined && { details }),
      code
    },
    details?.retryAfterSeconds
  )

const qualified = (name: string, group: string): string => (group === "" ? name : `${name}.${group}`)

const aboutResource = ({ group, plural }: Named, name: string): Details => ({
  name,
  ...(group !== "" && { group }),
  kind: plural
})

/** F35. */
export const notFound = (resource: Named, name: string): Refusal =>
  status(
    404,
    "NotFound",
    `${qualified(resource.plural, resource.group)} "${name}" not found`,
    aboutResource(resource, name)
  )

/** An unknown group, version or plural (F36). */
export const unknownPath = (group: string): Refusal =>
  group === ""
    ? status(404, "NotFound", "the server could not find the requested resource", {})
    : new Refusal(404, "404 page not found\n")

/** F70. */
export const alreadyExists = (resource: Named, name: string, deleting: boolean): Refusal =>
  status(
    409,
    "AlreadyExists",
    `${deleting ? "object is being deleted: " : ""}${qualified(resource.plural, resource.group)} "${name}" already exists`,
    aboutResource(resource, name)
  )

const conflict = (resource: Named, name: string, message: string): Refusal =>
  status(
    409,
    "Conflict",
    `Operation cannot be fulfilled on ${qualified(resource.plural, resource.group)} "${name}": ${message}`,
    aboutResource(resource, name)
  )

/** Another version than was said (F71). */
export const modified = (resource: Named, name: string): Refusal =>
  conflict(
    resource,
    name,
    "the object has been modified; please apply your changes to the latest version and try again"
  )

/** A PUT with another uid (F75). `key` is where etcd keeps the object. */
export const otherUid = (resource: Named, name: string, key: string, sent: string, stored: string): Refusal =>
  conflict(
    resource,
    name,
    `StorageError: invalid object, Code: 4, Key: /registry/${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${sent}, UID in object meta: ${stored}`
  )

/** An apply with a uid where no object is (F87). */
export const uidOfNone = (resource: Named, name: string, uid: string): Refusal =>
  conflict(resource, name, `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`)

/** A precondition of a DELETE; here the details name the kind (F116). */
export const precondition = (resource: Named, name: string, message: string): Refusal =>
  status(
    409,
    "Conflict",
    `Operation cannot be fulfilled on ${qualified(resource.kind, resource.group)} "${name}": ${message}`,
    { name, ...(resource.group !== "" && { group: resource.group }), kind: resource.kind }
  )

/** Fields that other managers own (F91). */
export const applyConflict = (causes: ReadonlyArray<StatusCause>, message: string): Refusal =>
  status(409, "Conflict", message, { causes })

const causeText = ({ field, message }: StatusCause): string => `${field}: ${message}`

/** 422 with the causes of which there must be one at least. `kind` and `group` name what is invalid, which may be the options. */
export const invalid = (
  about: { readonly kind: string; readonly group: string },
  name: string,
  causes: ReadonlyArray<StatusCause>
): Refusal => {
  // The text names a repeated cause once.
  const texts = [...new Set(causes.map(causeText))]
  return status(
    422,
    "Invalid",
    `${qualified(about.kind, about.group)} "${name}" is invalid: ${texts.length === 1 ? texts[0]! : `[${texts.join(", ")}]`}`,
    {
      ...(name !== "" && { name }),
      ...(about.group !== "" && { group: about.group }),
      ...(about.kind !== "" && { kind: about.kind }),
      causes
    }
  )
}

/** Options of a request that do not hold: `PatchOptions.meta.k8s.io "" is invalid`. */
export const invalidOptions = (kind: string, cause: StatusCause, ...more: ReadonlyArray<StatusCause>): Refusal =>
  invalid({ kind, group: "meta.k8s.io" }, "", [cause, ...more])

/** A JSON patch that does not fit: nothing tells which operation (F80). */
export const patchRejected = (): Refusal =>
  status(422, "Invalid", "the server rejected our request due to an error in our request", {})

export const badRequest = (message: string): Refusal => status(400, "BadRequest", message)

/** Of a body that cannot be read (F21). `why` is Go's text, `quoted` the beginning of the body. */
export const unreadable = (
  { kind }: Named,
  method: string,
  { quoted, why }: { readonly why: string; readonly quoted: string }
): Refusal =>
  badRequest(
    method === "PATCH" || method === "DELETE"
      ? why
      : `the object provided is unrecognized (must be of type ${kind}): ${why} (${quoted})`
  )

/** F160. */
export const unauthorized = (): Refusal => status(401, "Unauthorized", "Unauthorized")

/** `name` is empty where none is meant (F161). */
export const forbidden = (resource: Named, name: string, why: string, causes?: ReadonlyArray<StatusCause>): Refusal => {
  const { name: _, ...unnamed } = aboutResource(resource, name)
  return status(
    403,
    "Forbidden",
    `${qualified(resource.plural, resource.group)}${name === "" ? "" : ` "${name}"`} is forbidden: ${why}`,
    { ...(name !== "" && { name }), ...unnamed, ...(causes !== undefined && { causes }) }
  )
}

/** A path that is no resource (F161). */
export const forbiddenPath = (user: string, verb: string, path: string): Refusal =>
  status(403, "Forbidden", `forbidden: User "${user}" cannot ${verb} path "${path}"`, {})

/** Text, as priority and fairness answer it (F165). */
export const tooManyRequests = (): Refusal => new Refusal(429, "Too many requests, please try again later.\n", 1)

/** F52. */
export const notAcceptable = (message: string): Refusal => status(406, "NotAcceptable", message)

/** F127. */
export const terminating = (resource: Named, name: string, namespace: string): Refusal =>
  forbidden(resource, name, `unable to create new content in namespace ${namespace} because it is being terminated`, [
    {
      reason: "NamespaceTerminating",
      message: `namespace ${namespace} is being terminated`,
      field: "metadata.namespace"
    }
  ])

export const methodNotAllowed = (): Refusal =>
  status(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {})

/** POST and DELETE on a subresource of a custom resource (F137), and methods without a verb. */
export const notSupported = (resource: Named, verb: "create" | "delete" | ""): Refusal =>
  status(
    405,
    "MethodNotAllowed",
    `${verb} is not supported on resources of kind "${qualified(resource.plural, resource.group)}"`,
    { ...(resource.group !== "" && { group: resource.group }), kind: resource.plural }
  )

export const internalError = (message: string): Refusal =>
  status(500, "InternalError", `Internal error occurred: ${message}`, { causes: [{ message }] })

export const unsupportedMediaType = (message: string): Refusal => status(415, "UnsupportedMediaType", message)

export const tooLarge = (limit: number): Refusal =>
  status(413, "RequestEntityTooLarge", `Request entity too large: limit is ${limit}`)

/** A JSON patch of too many operations (F28). */
export const tooManyOperations = (limit: number, count: number): Refusal =>
  status(
    413,
    "RequestEntityTooLarge",
    `Request entity too large: The allowed maximum operations in a JSON patch is ${limit}, got ${count}`
  )

/** A 500 without a reason: type errors of an apply, unreadable versions, objects that etcd refuses (F4, F28, F97). */
export const internal = (message: string): Refusal => status(500, undefined, message)

/** F45, F55. `token` begins the rest of a list at the newest version. */
export const expired = (message: string, token?: string): Refusal => {
  const refusal = status(410, "Expired", message)
  return token === undefined
    ? refusal
    : new Refusal(410, { ...(refusal.body as Status), metadata: { continue: token } })
}

/** A version from the future; the real server waits 3 s before it says so (F41). */
export const tooLargeVersion = (rv: number, current: number): Refusal =>
  status(504, "Timeout", `Timeout: Too large resource version: ${rv}, current: ${current}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1
  })

/** The causes of a 422, in the words of the server's field package. */
export const fieldInvalid = (field: string, value: unknown, message: string): StatusCause => ({
  reason: "FieldValueInvalid",
  message: `Invalid value: ${JSON.stringify(value)}: ${message}`,
  field
})
export const fieldRequired = (field: string, message = ""): StatusCause => ({
  reason: "FieldValueRequired",
  message: `Required value${message === "" ? "" : `: ${message}`}`,
  field
})
export const fieldForbidden = (field: string, message: string): StatusCause => ({
  reason: "FieldValueForbidden",
  message: `Forbidden: ${message}`,
  field
})
export const fieldTooLong = (field: string, bytes: number): StatusCause => ({
  reason: "FieldValueTooLong",
  message: `Too long: may not be more than ${bytes} bytes`,
  field
})
export const fieldUnsupported = (field: string, value: unknown, supported: ReadonlyArray<string>): StatusCause => ({
  reason: "FieldValueNotSupported",
  message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported.map((s) => JSON.stringify(s)).join(", ")}`,
  field
})
/** Tells that rules were left out because others failed (SKIP of the facts). */
export const fieldsSkipped: StatusCause = {
  reason: "FieldValueInvalid",
  message:
    "Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
  field: "<nil>"
}
