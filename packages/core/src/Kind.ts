/**
 * A `Kind` is one value that is codec, CRD, address, generator of test objects and type of a Kubernetes resource.
 *
 * Declare it as a class, so that the type has a name and every hover says `Role` instead of its fields:
 *
 * ```ts
 * import * as Schema from "effect/Schema"
 * import { Kind } from "@fixpoint/core"
 *
 * export class Role extends Kind.make({
 *   group: "access.example.com",
 *   version: "v1",
 *   kind: "Role",
 *   scope: "Namespaced",
 *   spec: Schema.Struct({ scope: Schema.String, rules: Schema.Array(Schema.String) }),
 *   status: Schema.Struct({ rules: Schema.Int })
 * }) {}
 * ```
 *
 * Caveats: a pattern reaches the CRD only if its RegExp has the `u` flag. A `minLength` of n becomes n / 2 in the CRD, since the codec counts UTF-16 units and the
 * server code points. An object that the CRD lets pass and the codec does not is malformed: the pass ends with `MalformedResource`.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Types from "effect/Types"
import type { JsonSchema } from "./ApiClient.ts"
import { Condition } from "./Condition.ts"
import { Failure } from "./internal/failure.ts"
import { pluralOf } from "./internal/plural.ts"
import * as StructuralSchema from "./internal/structuralSchema.ts"
import * as KubeObject from "./KubeObject.ts"

/** The kind's address in types and services: `"group/Kind"`, or `"Kind"` in the core group. */
export type MakeId<Group extends string, Name extends string> = Group extends "" ? Name : `${Group}/${Name}`

/** The metadata of an object of a kind: its namespace is there exactly if the kind is namespaced. */
export type ObjectMeta<S extends KubeObject.Scope> = Omit<KubeObject.ObjectMeta, "namespace"> & {
  readonly namespace: S extends "Namespaced" ? string : undefined
}

/** An object decoded by its kind. */
export interface Decoded<Name extends string, S extends KubeObject.Scope, Status> {
  readonly apiVersion: string
  readonly kind: Name
  readonly metadata: ObjectMeta<S>
  readonly status?: Types.Simplify<Status> & {
    readonly observedGeneration?: number
    readonly conditions?: ReadonlyArray<Condition>
  }
}

/** Both a description (statics) and, through `extends`, a nominal type for its objects. Never constructed. */
export interface Kind<out Id extends string, out Self> extends KubeObject.Resource {
  readonly id: Id
  readonly singular: string
  readonly shortNames: ReadonlyArray<string>
  readonly categories: ReadonlyArray<string>
  readonly printerColumns: ReadonlyArray<PrinterColumn>
  /** Content without metadata and status: `spec`, or the top-level fields of a core kind. */
  readonly content: Schema.Codec<any, any>
  readonly statusSchema: Schema.Codec<any, any>
  /** Whether the engine writes conditions: for kinds with a `status`, and for kinds of one's own with a `spec`. */
  readonly hasStatus: boolean
  new (_: never): Self
}

export type Any = Kind<string, Decoded<any, any, any>>
export type Id<K> = K extends { readonly id: infer I extends string } ? I : never
export type Type<K> = K extends { new (_: never): infer T } ? T : never
/** The fields of the status that are the author's own. */
export type Status<T> = T extends { readonly status?: infer S }
  ? Types.Simplify<Omit<NonNullable<S>, "conditions" | "observedGeneration">>
  : never
/** What a reconciler wants of a child: everything that the author may write. The namespace is the owner's unless given. */
export type Desired<T> = Omit<T, "apiVersion" | "kind" | "metadata" | "status"> & {
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
}

/** A column of `kubectl get`. `jsonPath` starts with a dot. */
export interface PrinterColumn {
  readonly name: string
  readonly type: "string" | "integer" | "number" | "boolean" | "date"
  readonly jsonPath: string
  readonly description?: string
  /** 0 is always shown, above only with `-o wide`. */
  readonly priority?: number
}

/** An array that the server merges by the given keys of its items (`x-kubernetes-list-type: map`). */
export const listMap = <S extends Schema.Codec<any, any>>(
  array: S,
  keys: readonly [string, ...ReadonlyArray<string>]
): S => array.annotate({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys }) as S

/** An array of distinct scalars whose managers each own their items (`x-kubernetes-list-type: set`). */
export const listSet = <S extends Schema.Codec<any, any>>(array: S): S =>
  array.annotate({ "x-kubernetes-list-type": "set" }) as S

const Conditions = listMap(Schema.Array(Condition), ["type"])

type Codec = Schema.Codec<any, any>
type StatusOf<S> = [S] extends [never] ? {} : S extends Codec ? Partial<S["Type"]> : {}
type Content<Spec, Fields extends Schema.Struct.Fields> = ([keyof Fields] extends [never]
  ? unknown
  : Schema.Struct<Fields>["Type"]) &
  ([Spec] extends [never] ? unknown : { readonly spec: Spec extends Codec ? Spec["Type"] : never })

export interface Options<Group extends string, Name extends string, S extends KubeObject.Scope, Spec, Status, Fields> {
  /** `""` is the core group. */
  readonly group: Group
  readonly version: string
  readonly kind: Name
  readonly scope: S
  readonly spec?: Spec
  /** The author's own status fields. Each is made optional: the first write of a status may hold a condition alone. `conditions` and
   * `observedGeneration` are added. Leave it out for a kind of Kubernetes itself: its controllers write its status, and ours must not. */
  readonly status?: Status
  /** Top-level fields of a kind without spec, such as ConfigMap's `data`. */
  readonly fields?: Fields
  /** Default: guessed from the kind, as Kubernetes guesses. */
  readonly plural?: string
  readonly shortNames?: ReadonlyArray<string>
  readonly categories?: ReadonlyArray<string>
  /** Default: Ready, its reason, and Age. */
  readonly printerColumns?: ReadonlyArray<PrinterColumn>
}

const defaultColumns: ReadonlyArray<PrinterColumn> = [
  { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: "Reason", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
  { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" }
]

const optional = (fields: Schema.Struct.Fields): Schema.Struct.Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      field.ast.context?.isOptional ? field : Schema.optionalKey(field)
    ])
  )

/** The groups of Kubernetes itself, whose own controllers write the statuses. */
const isBuiltIn = (group: string): boolean => !group.includes(".") || group.endsWith(".k8s.io")

/** A kind of one's own (with `spec`, usually `status`), or one that exists (with what is read or written of it). */
export const make = <
  const Group extends string,
  const Name extends string,
  const S extends KubeObject.Scope,
  Spec extends Codec = never,
  Status extends Schema.Struct<any> = never,
  Fields extends Schema.Struct.Fields = {}
>(
  options: Options<Group, Name, S, Spec, Status, Fields>
): Kind<MakeId<Group, Name>, Decoded<Name, S, StatusOf<Status>> & Content<Spec, Fields>> => {
  const { group, kind, scope, version } = options
  const spec = options.spec as Codec | undefined
  const status = options.status as Schema.Struct<any> | undefined
  const hasStatus = status !== undefined || (spec !== undefined && !isBuiltIn(group))
  return class {
    static readonly id = group === "" ? kind : `${group}/${kind}`
    static readonly group = group
    static readonly version = version
    static readonly kind = kind
    static readonly scope = scope
    static readonly plural = options.plural ?? pluralOf(kind)
    static readonly singular = kind.toLowerCase()
    static readonly shortNames = options.shortNames ?? []
    static readonly categories = options.categories ?? []
    static readonly printerColumns = options.printerColumns ?? defaultColumns
    static readonly hasStatus = hasStatus
    static readonly content = Schema.Struct({ ...(spec !== undefined && { spec }), ...options.fields })
    static readonly statusSchema = Schema.Struct({
      ...optional(status?.fields ?? {}),
      observedGeneration: Schema.optionalKey(Schema.Int),
      conditions: Schema.optionalKey(Conditions)
    })
  } as any
}

/** An object that is not as its kind says. It stays so until someone edits it, so a pass waits for that (K7). */
export class MalformedResource extends Failure("MalformedResource")<{
  readonly kind: string
  readonly ref: KubeObject.ObjectRef
  /** Where and what, on one line. */
  readonly issue: string
}> {
  override get message(): string {
    return `${this.kind} ${KubeObject.formatRef(this.ref)} is malformed: ${this.issue}`
  }
}

const codecs = new WeakMap<
  Any,
  {
    readonly content: (u: unknown) => Result.Result<any, Schema.SchemaError>
    readonly status: (u: unknown) => Result.Result<any, Schema.SchemaError>
    readonly encode: (u: any) => any
    readonly encodeStatus: (u: any) => any
  }
>()
const codecOf = (kind: Any) => {
  let found = codecs.get(kind)
  if (found === undefined) {
    // The JSON forms, as the CRD says them: a Date is a string there, an absent value may be null.
    const content = Schema.toCodecJson(kind.content)
    const status = Schema.toCodecJson(kind.statusSchema)
    found = {
      content: Schema.decodeUnknownResult(content),
      status: Schema.decodeUnknownResult(status),
      encode: Schema.encodeSync(content),
      encodeStatus: Schema.encodeSync(status)
    }
    codecs.set(kind, found)
  }
  return found
}

const issueOf = (error: Schema.SchemaError): string => String(error.message).replace(/\s*\n\s*/g, " ")

/**
 * The object as its kind says. Metadata stays as it is. A status that an older version of the operator wrote may not fit any more: its fields that
 * do not are left out, since the next write replaces it.
 */
export const decode = <K extends Any>(
  kind: K,
  object: KubeObject.KubeObject
): Result.Result<Type<K>, MalformedResource> => {
  const codec = codecOf(kind)
  const content = codec.content(object)
  if (Result.isFailure(content))
    return Result.fail(
      new MalformedResource({ kind: kind.kind, ref: KubeObject.ref(object), issue: issueOf(content.failure) })
    )
  const { apiVersion, metadata } = object
  return Result.succeed({
    apiVersion,
    kind: kind.kind,
    metadata,
    ...content.success,
    ...(object.status !== undefined && { status: statusOf(kind, object.status) })
  } as Type<K>)
}

const statusOf = (kind: Any, status: unknown): object => {
  const decode = codecOf(kind).status
  const whole = decode(status)
  if (Result.isSuccess(whole)) return whole.success
  const kept: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(typeof status === "object" && status !== null ? status : {})) {
    const one = decode({ [field]: value })
    if (Result.isSuccess(one)) Object.assign(kept, one.success)
  }
  return kept
}

/** What is sent to have a child as desired: its content encoded, its metadata as given. Throws a SchemaError if a value does not encode. */
export const encode = <K extends Any>(kind: K, desired: Desired<Type<K>>): KubeObject.ObjectInput => ({
  apiVersion: KubeObject.apiVersion(kind),
  kind: kind.kind,
  metadata: desired.metadata,
  ...codecOf(kind).encode(desired)
})

/** The status fields encoded, for a status write. Throws a SchemaError. */
export const encodeStatus = (kind: Any, fields: object): Readonly<Record<string, unknown>> =>
  codecOf(kind).encodeStatus(fields)

/** The CRD's openAPIV3Schema. Throws `UnstructuralSchema`, naming the path, for what a CRD cannot hold. */
export const structuralSchema = (kind: Any): JsonSchema => {
  const content = StructuralSchema.fromCodec(kind.content) as { properties?: object; required?: ReadonlyArray<string> }
  return {
    type: "object",
    ...((content.required?.length ?? 0) > 0 && { required: content.required }),
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object" },
      ...content.properties,
      ...(kind.hasStatus && { status: StructuralSchema.fromCodec(kind.statusSchema) })
    }
  }
}

/** The manifest of the CRD: one version, served and stored, with a status subresource and list types. */
export const customResourceDefinition = (kind: Any): KubeObject.ObjectInput => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${kind.plural}.${kind.group}` },
  spec: {
    group: kind.group,
    scope: kind.scope,
    names: {
      kind: kind.kind,
      listKind: `${kind.kind}List`,
      plural: kind.plural,
      singular: kind.singular,
      ...(kind.shortNames.length > 0 && { shortNames: kind.shortNames }),
      ...(kind.categories.length > 0 && { categories: kind.categories })
    },
    versions: [
      {
        name: kind.version,
        served: true,
        storage: true,
        ...(kind.hasStatus && { subresources: { status: {} } }),
        additionalPrinterColumns: kind.printerColumns,
        schema: { openAPIV3Schema: structuralSchema(kind) }
      }
    ]
  }
})

/** Objects as a user would create them: content drawn from the Schema, in its encoded form, with the given metadata. */
export const arbitrary = (
  kind: Any,
  metadata: { readonly name: string; readonly namespace?: string }
): Arbitrary.Arbitrary<KubeObject.ObjectInput> => {
  const encode = codecOf(kind).encode
  return Arbitrary.schema(kind.content).pipe(
    Arbitrary.map((content) => ({
      apiVersion: KubeObject.apiVersion(kind),
      kind: kind.kind,
      metadata,
      ...encode(content)
    }))
  )
}
