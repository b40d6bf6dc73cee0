/**
 * What is asked by a POST and stored nowhere: who am I, may I, what may I. Everybody may do everything here, and is told what a real server tells an admin.
 *
 * Caveat: selectors of resourceAttributes are not validated.
 */
import type { StatusCause } from "@fixpoint/core/ApiError"
import type { KubeObject } from "@fixpoint/core/KubeObject"
import { type Decodable, decode, type FieldValidation } from "./decode.ts"
import { type JsonObject, withoutEntry } from "./json.ts"
import * as ManagedFields from "./managedFields.ts"
import * as Refusal from "./refusal.ts"
import type { Request, Response } from "./request.ts"
import type { Schema } from "./schema.ts"
import type { Transaction } from "./state.ts"

/** A resource of which nothing is stored. */
export interface VirtualResource {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  readonly singular: string
  readonly namespaced: boolean
  readonly verbs: ReadonlyArray<string>
}

const text: Schema = { type: "string" }
/** What clients send along and nobody reads. */
const anything: Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true }
const fields = (properties: Readonly<Record<string, Schema>>): Schema => ({ type: "object", properties })

const selector = (requirement: Readonly<Record<string, Schema>>): Schema =>
  fields({
    rawSelector: text,
    requirements: { type: "array", "x-kubernetes-list-type": "atomic", items: fields(requirement) }
  })
const requirement: Readonly<Record<string, Schema>> = {
  key: text,
  operator: text,
  values: { type: "array", items: text }
}

const accessSpec: Schema = fields({
  resourceAttributes: fields({
    namespace: text,
    verb: text,
    group: text,
    version: text,
    resource: text,
    subresource: text,
    name: text,
    fieldSelector: selector(requirement),
    labelSelector: selector(requirement)
  }),
  nonResourceAttributes: fields({ path: text, verb: text })
})

interface Review extends VirtualResource {
  readonly schema: Schema
  readonly answer: (asked: KubeObject, asking: Asking) => JsonObject
}

interface Asking {
  readonly txn: Transaction
  readonly request: Request
  readonly manager: string
}

const review = (
  group: string,
  kind: string,
  properties: Readonly<Record<string, Schema>>,
  answer: Review["answer"]
): Review => ({
  group,
  version: "v1",
  kind,
  plural: `${kind.toLowerCase()}s`,
  singular: kind.toLowerCase(),
  namespaced: false,
  verbs: ["create"],
  schema: fields({ status: anything, ...properties }),
  answer
})

const admin = { name: "admin", uid: "admin", groups: ["system:masters", "system:authenticated"] } as const

const whoAmI = (_: KubeObject, { request, txn }: Asking): JsonObject => {
  const { groups, name, uid } = request.user ?? admin
  return {
    metadata: { creationTimestamp: txn.time },
    status: { userInfo: { username: name, ...(uid !== undefined && { uid }), groups } }
  }
}

const accessCauses = (spec: JsonObject): StatusCause | undefined => {
  const { nonResourceAttributes, resourceAttributes } = spec
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined) {
    const { path = "", verb = "" } = nonResourceAttributes as JsonObject
    return Refusal.fieldInvalid(
      "spec.nonResourceAttributes",
      { Path: path, Verb: verb },
      "cannot be specified in combination with resourceAttributes"
    )
  }
  if (resourceAttributes !== undefined || nonResourceAttributes !== undefined) return undefined
  return Refusal.fieldInvalid(
    "spec.resourceAttributes",
    null,
    "exactly one of nonResourceAttributes or resourceAttributes must be specified"
  )
}

/** What clients of Go send along, empty. It counts for nothing. */
const answers: Readonly<Record<"access" | "rules", Schema>> = {
  access: fields({ allowed: { type: "boolean" }, denied: { type: "boolean" }, reason: text, evaluationError: text }),
  rules: fields({
    resourceRules: { type: "array", items: { type: "object", additionalProperties: true } },
    nonResourceRules: { type: "array", items: { type: "object", additionalProperties: true } },
    incomplete: { type: "boolean" },
    evaluationError: text
  })
}

const mayI = (asked: KubeObject, { manager, txn }: Asking): JsonObject => {
  const group = "authorization.k8s.io"
  const spec = (asked.spec ?? {}) as JsonObject
  const invalid = (cause: StatusCause) => Refusal.invalid({ kind: "", group }, "", [cause])
  const cause = accessCauses(spec)
  if (cause !== undefined) throw invalid(cause)
  const managedFields = ManagedFields.update({
    schema: fields({ spec: accessSpec }),
    manager,
    apiVersion: asked.apiVersion,
    now: txn.time,
    resetFields: [],
    // The spec is a struct, which nobody adds.
    blank: { apiVersion: asked.apiVersion, kind: asked.kind, spec: {} },
    live: undefined,
    next: withoutEntry(asked as unknown as JsonObject, "status")
  })
  const metadata = { ...asked.metadata, ...(managedFields !== undefined && { managedFields }) }
  if (Object.keys(asked.metadata).length > 0) {
    throw invalid(Refusal.fieldInvalid("metadata", metadata, "must be empty"))
  }
  return { metadata, spec, status: { allowed: true } }
}

const rules: JsonObject = {
  resourceRules: [
    {
      verbs: ["create"],
      apiGroups: ["authorization.k8s.io"],
      resources: ["selfsubjectaccessreviews", "selfsubjectrulesreviews"]
    },
    { verbs: ["create"], apiGroups: ["authentication.k8s.io"], resources: ["selfsubjectreviews"] },
    { verbs: ["*"], apiGroups: ["*"], resources: ["*"] }
  ],
  nonResourceRules: [
    { verbs: ["*"], nonResourceURLs: ["*"] },
    { verbs: ["get"], nonResourceURLs: ["/healthz", "/livez", "/readyz", "/version", "/version/"] },
    {
      verbs: ["get"],
      nonResourceURLs: [
        "/api",
        "/api/*",
        "/apis",
        "/apis/*",
        "/healthz",
        "/livez",
        "/openapi",
        "/openapi/*",
        "/readyz",
        "/version",
        "/version/"
      ]
    }
  ],
  incomplete: false
}

const whatMayI = (asked: KubeObject): JsonObject => {
  const { namespace } = (asked.spec ?? {}) as JsonObject
  if (namespace === undefined || namespace === "") throw Refusal.badRequest("no namespace on request")
  return { metadata: {}, spec: {}, status: rules }
}

const reviews: ReadonlyArray<Review> = [
  review("authentication.k8s.io", "SelfSubjectReview", {}, whoAmI),
  review("authorization.k8s.io", "SelfSubjectAccessReview", { spec: accessSpec, status: answers.access }, mayI),
  review(
    "authorization.k8s.io",
    "SelfSubjectRulesReview",
    { spec: fields({ namespace: text }), status: answers.rules },
    whatMayI
  )
]

/** Served beside the stored ones, and told of by discovery. */
export const virtualResources: ReadonlyArray<VirtualResource> = reviews

const decodableOf = ({ group, kind, schema, version }: Review): Decodable => ({
  group,
  version,
  kind,
  apiVersion: `${group}/${version}`,
  custom: false,
  schema,
  rules: {}
})

/** Answers a request for a virtual resource; undefined if it asks for none. Nothing is stored. */
export const respond = (
  txn: Transaction,
  request: Request,
  optionsOf: () => { readonly manager: string; readonly fieldValidation: FieldValidation }
): Response | undefined => {
  const { group, name, namespace, plural, version } = request
  const found = reviews.find((one) => one.group === group && one.version === version && one.plural === plural)
  if (found === undefined) return undefined
  if (name !== undefined || namespace !== undefined) throw Refusal.unknownPath("")
  if (request.method !== "POST") throw Refusal.methodNotAllowed()
  const { fieldValidation, manager } = optionsOf()
  const asked = decode(txn, decodableOf(found), request.body, {
    fieldValidation,
    patched: false,
    applied: false,
    duplicates: request.duplicates ?? []
  })
  const { apiVersion, kind } = asked
  return {
    code: 201,
    body: { kind, apiVersion, ...found.answer(asked, { txn, request, manager }) },
    warnings: txn.warnings
  }
}
