/** From what sets a built-in kind apart to all that the server knows of a kind. */
import type { KubeObject } from "@fixpoint/core/KubeObject"
import { builtInPrinter } from "./builtInPrinters.ts"
import { builtInBlank, builtInResetFields, builtInSchema } from "./builtInSchemas.ts"
import type { Definition, GenerationRule, KindRules } from "./definition.ts"
import type { JsonObject } from "./json.ts"
import type { NameRule } from "./objectMeta.ts"
import type { FieldLabels } from "./selector.ts"
import type { Schema } from "./structuralSchema.ts"

/** What is left out is as most kinds have it. */
export interface BuiltIn {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  readonly shortNames?: ReadonlyArray<string>
  readonly categories?: ReadonlyArray<string>
  readonly cluster?: true
  readonly status?: true
  readonly generation?: GenerationRule
  readonly name?: NameRule
  /** A PUT without a version is refused (F72). */
  readonly versioned?: true
  readonly createsOnUpdate?: true
  readonly answersDeleted?: true
  readonly noCollection?: true
  readonly fields?: Readonly<Record<string, string>>
  /** Says unknown field labels as custom resources do (F48). */
  readonly plainLabels?: true
  readonly rules?: KindRules
  /** The status of a new object, if the rules make none. */
  readonly first?: JsonObject
  readonly scale?: true
}

/** Where no schema is known, anything passes. */
const anything: Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true }

const read =
  (path: string) =>
  (object: KubeObject): string => {
    let value: unknown = object
    for (const part of path.split(".")) value = (value as Record<string, unknown> | undefined | null)?.[part]
    return value === undefined || value === null ? "" : String(value)
  }

const unknownPlainLabel = (label: string): string => `field label not supported: ${label}`

const unknownLabel = (label: string): string =>
  `${JSON.stringify(label)} is not a known field selector: only "metadata.name", "metadata.namespace"`

const labelsOf = ({ fields = {}, plainLabels }: BuiltIn): FieldLabels => ({
  read: Object.fromEntries(Object.entries(fields).map(([label, path]) => [label, read(path)])),
  unknown: plainLabels === true ? unknownPlainLabel : unknownLabel
})

const builtInVerbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]

const rulesOf = ({ first, rules = {} }: BuiltIn): KindRules =>
  first === undefined
    ? rules
    : {
        ...rules,
        prepare: (object, live, context) => {
          const prepared = rules.prepare?.(object, live, context) ?? object
          return live === undefined && prepared.status === undefined ? { ...prepared, status: first } : prepared
        }
      }

export const define = (kind: BuiltIn): Definition => {
  const apiVersion = kind.group === "" ? kind.version : `${kind.group}/${kind.version}`
  return {
    group: kind.group,
    version: kind.version,
    apiVersion,
    storageVersion: apiVersion,
    kind: kind.kind,
    listKind: `${kind.kind}List`,
    plural: kind.plural,
    singular: kind.kind.toLowerCase(),
    shortNames: kind.shortNames ?? [],
    categories: kind.categories ?? [],
    resource: kind.group === "" ? kind.plural : `${kind.plural}.${kind.group}`,
    namespaced: kind.cluster !== true,
    custom: false,
    schema: builtInSchema(kind) ?? anything,
    hasStatus: kind.status === true,
    scale:
      kind.scale === true
        ? {
            specReplicasPath: ".spec.replicas",
            statusReplicasPath: ".status.replicas",
            labelSelectorPath: ".spec.selector"
          }
        : undefined,
    fieldLabels: labelsOf(kind),
    nameRule: kind.name ?? "subdomain",
    generation: kind.generation ?? "none",
    unconditional: kind.versioned !== true,
    createsOnUpdate: kind.createsOnUpdate === true,
    answersDeleted: kind.answersDeleted === true,
    verbs: kind.noCollection === true ? builtInVerbs.filter((verb) => verb !== "deletecollection") : builtInVerbs,
    warning: undefined,
    terminating: false,
    rules: rulesOf(kind),
    toStorage: (object) => object,
    fromStorage: (object) => object,
    resetFields: (subresource) => builtInResetFields(kind, subresource),
    printer: builtInPrinter(kind),
    blank: builtInBlank(kind)
  }
}
