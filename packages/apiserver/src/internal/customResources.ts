/** CustomResourceDefinitions: what one must be, and what it serves (F130, F132, F139 to F146). */
import type { StatusCause } from "@fixpoint/core/ApiError"
import type { KubeObject } from "@fixpoint/core/KubeObject"
import { type Condition, withConditions } from "./crdConditions.ts"
import type { Definition, KindRules, ScalePaths } from "./definition.ts"
import { isList, isObject, type JsonObject } from "./json.ts"
import { compareVersions } from "./kubeVersion.ts"
import { nameMistakes } from "./objectMeta.ts"
import { printerCauses, printerOf } from "./printerColumns.ts"
import { fieldInvalid, fieldRequired, fieldUnsupported } from "./refusal.ts"
import type { FieldLabels } from "./selector.ts"
import { applyDefaults, check, prune, type Schema } from "./structuralSchema.ts"

export const crdResource = "customresourcedefinitions.apiextensions.k8s.io"
export const cleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io"

const object = (u: unknown): JsonObject => (isObject(u) ? u : {})
const list = (u: unknown): ReadonlyArray<JsonObject> => (isList(u) ? u.filter(isObject) : [])
const text = (u: unknown): string => (typeof u === "string" ? u : "")

interface Names {
  readonly plural: string
  readonly singular: string
  readonly kind: string
  readonly listKind: string
  readonly shortNames: ReadonlyArray<string>
  readonly categories: ReadonlyArray<string>
}

const texts = (u: unknown): ReadonlyArray<string> => (isList(u) ? u.map(text) : [])

export const namesOf = (crd: KubeObject): Names => {
  const names = object(object(crd.spec).names)
  const kind = text(names.kind)
  return {
    plural: text(names.plural),
    singular: text(names.singular) || kind.toLowerCase(),
    kind,
    listKind: text(names.listKind) || `${kind}List`,
    shortNames: texts(names.shortNames),
    categories: texts(names.categories)
  }
}

const versionsOf = (crd: KubeObject): ReadonlyArray<JsonObject> => list(object(crd.spec).versions)

export const storedUnder = (crd: KubeObject): string => `${namesOf(crd).plural}.${text(object(crd.spec).group)}`

const schemaOf = (version: JsonObject): Schema =>
  (isObject(object(version.schema).openAPIV3Schema)
    ? object(version.schema).openAPIV3Schema
    : { type: "object", "x-kubernetes-preserve-unknown-fields": true }) as Schema

const at = (value: unknown, path: string): unknown =>
  path
    .split(".")
    .filter((part) => part !== "")
    .reduce<unknown>((inner, part) => (isObject(inner) ? inner[part] : undefined), value)

const labelsOf = (version: JsonObject): FieldLabels => ({
  read: Object.fromEntries(
    list(version.selectableFields).map(({ jsonPath }) => {
      const path = text(jsonPath)
      return [
        path.replace(/^\./, ""),
        (stored: KubeObject) => {
          const value = at(stored, path)
          return value === undefined || value === null ? "" : String(value)
        }
      ]
    })
  ),
  unknown: (label) => `field label not supported: ${label}`
})

/** In its own words, or with the best later version that is none of the past itself. */
const deprecationOf = (
  { deprecationWarning, name }: JsonObject,
  versions: ReadonlyArray<JsonObject>,
  group: string,
  kind: string
): string => {
  const [better] = versions
    .filter((other) => other.served === true && other.deprecated !== true)
    .map((other) => text(other.name))
    .filter((other) => compareVersions(other, text(name)) < 0)
    .toSorted(compareVersions)
  const instead = better === undefined ? "" : `; use ${group}/${better} ${kind}`
  return text(deprecationWarning) || `${group}/${text(name)} ${kind} is deprecated${instead}`
}

const verbs = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"]

export interface Served {
  readonly served: ReadonlyArray<Definition>
  readonly storage: Definition
}

/** What an accepted CRD serves. Undefined if it has no storage version. */
export const definitionsOf = (crd: KubeObject): Served | undefined => {
  const spec = object(crd.spec)
  const group = text(spec.group)
  const names = namesOf(crd)
  const versions = versionsOf(crd)
  const storage = versions.find((version) => version.storage === true)
  if (storage === undefined) return undefined
  const storageSchema = schemaOf(storage)
  const storageVersion = `${group}/${text(storage.name)}`
  const define = (version: JsonObject): Definition => {
    const schema = schemaOf(version)
    const apiVersion = `${group}/${text(version.name)}`
    const subresources = object(version.subresources)
    const same = apiVersion === storageVersion
    const hasStatus = isObject(subresources.status)
    return {
      ...names,
      group,
      version: text(version.name),
      apiVersion,
      storageVersion,
      resource: `${names.plural}.${group}`,
      namespaced: spec.scope !== "Cluster",
      custom: true,
      schema,
      hasStatus,
      scale: isObject(subresources.scale) ? (subresources.scale as unknown as ScalePaths) : undefined,
      fieldLabels: labelsOf(version),
      nameRule: "subdomain",
      generation: hasStatus ? "content" : "everything",
      unconditional: false,
      createsOnUpdate: false,
      answersDeleted: false,
      verbs,
      warning: version.deprecated === true ? deprecationOf(version, versions, group, names.kind) : undefined,
      terminating: crd.metadata.deletionTimestamp !== undefined,
      rules: {},
      toStorage: same ? (stored) => stored : (sent) => convert(sent, storageSchema, storageVersion),
      fromStorage: same ? (stored) => stored : (stored) => asVersion(stored, schema, apiVersion),
      resetFields: (subresource) => (subresource === "status" ? ["metadata", "spec"] : hasStatus ? ["status"] : []),
      printer: printerOf(version.additionalPrinterColumns),
      blank: undefined
    }
  }
  return { served: versions.filter((version) => version.served === true).map(define), storage: define(storage) }
}

/** By the strategy None: the same fields, as far as the other version has them, and none of its defaults (F141). */
const asVersion = (stored: KubeObject, schema: Schema, apiVersion: string): KubeObject => ({
  ...(prune(schema, stored).value as KubeObject),
  apiVersion
})

/** As it is stored: with the fields and defaults of the storage version, which every read of that version shows (F135). */
export const convert = (object: KubeObject, schema: Schema, apiVersion: string): KubeObject => {
  const known = applyDefaults(schema, prune(schema, object).value) as KubeObject
  return known.apiVersion === apiVersion ? known : { ...known, apiVersion }
}

/** Which of its names another accepted CRD of the group has taken (F132). */
export const nameConflict = (crd: KubeObject, others: ReadonlyArray<KubeObject>): Condition | undefined => {
  const group = object(crd.spec).group
  const mine = namesOf(crd)
  const taken = others
    .filter((other) => other.metadata.name !== crd.metadata.name && object(other.spec).group === group)
    .map((other) => object(object(other.status).acceptedNames))
  const resources = new Set(
    taken.flatMap((names) => [text(names.plural), text(names.singular), ...texts(names.shortNames)])
  )
  const kinds = new Set(taken.flatMap((names) => [text(names.kind), text(names.listKind)]))
  const conflict = (reason: string, name: string): Condition => ({
    type: "NamesAccepted",
    status: "False",
    reason,
    message: `${JSON.stringify(name)} is already in use`
  })
  // Of several conflicts the one that is looked for last is told.
  if (kinds.has(mine.listKind)) return conflict("ListKindConflict", mine.listKind)
  if (kinds.has(mine.kind)) return conflict("KindConflict", mine.kind)
  const short = mine.shortNames.find((name) => resources.has(name))
  if (short !== undefined) return conflict("ShortNamesConflict", short)
  if (resources.has(mine.singular)) return conflict("SingularConflict", mine.singular)
  if (resources.has(mine.plural)) return conflict("PluralConflict", mine.plural)
  return undefined
}

const singleLabel =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"

const goVersion = (version: JsonObject): unknown => ({
  Name: version.name,
  Served: version.served === true,
  Storage: version.storage === true,
  Deprecated: version.deprecated === true,
  DeprecationWarning: version.deprecationWarning ?? null,
  Schema: null,
  Subresources: null,
  AdditionalPrinterColumns: null,
  SelectableFields: null
})

const nameCauses = (crd: KubeObject): ReadonlyArray<StatusCause> => {
  const spec = object(crd.spec)
  const group = text(spec.group)
  const names = object(spec.names)
  const plural = text(names.plural)
  const kind = text(names.kind)
  const causes: Array<StatusCause> = []
  if (crd.metadata.name !== `${plural}.${group}`) {
    causes.push(fieldInvalid("metadata.name", crd.metadata.name, 'must be spec.names.plural+"."+spec.group'))
  }
  if (group === "") causes.push(fieldRequired("spec.group"))
  if (nameMistakes(plural, "dns1035").length > 0) causes.push(fieldInvalid("spec.names.plural", plural, singleLabel))
  if (nameMistakes(kind.toLowerCase(), "dns1035").length > 0) {
    causes.push(
      fieldInvalid("spec.names.kind", kind, `may have mixed case, but should otherwise match: ${singleLabel}`)
    )
  }
  if (
    /(^|\.)(k8s|kubernetes)\.io$/.test(group) &&
    crd.metadata.annotations?.["api-approved.kubernetes.io"] === undefined
  ) {
    causes.push(
      fieldRequired(
        "metadata.annotations[api-approved.kubernetes.io]",
        'protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111'
      )
    )
  }
  return causes
}

const versionCauses = (crd: KubeObject): ReadonlyArray<StatusCause> => {
  const spec = object(crd.spec)
  const versions = versionsOf(crd)
  const causes: Array<StatusCause> = []
  if (spec.scope !== "Cluster" && spec.scope !== "Namespaced") {
    causes.push(fieldUnsupported("spec.scope", spec.scope ?? "", ["Cluster", "Namespaced"]))
  }
  if (versions.filter((version) => version.storage === true).length !== 1) {
    causes.push(
      fieldInvalid("spec.versions", versions.map(goVersion), "must have exactly one version marked as storage version")
    )
  }
  versions.forEach((version, i) => {
    if (!isObject(object(version.schema).openAPIV3Schema)) {
      causes.push(fieldRequired(`spec.versions[${i}].schema.openAPIV3Schema`))
    } else causes.push(...check(schemaOf(version)))
    list(version.selectableFields).forEach(({ jsonPath }, j) => {
      const path = text(jsonPath)
      const node = path
        .split(".")
        .slice(1)
        .reduce<Schema | undefined>((schema, part) => schema?.properties?.[part], schemaOf(version))
      const where = `spec.selectableFields[${j}].jsonPath`
      if (node === undefined)
        causes.push(fieldInvalid(where, path, "is an invalid path: does not refer to a valid field"))
      else if (!["string", "boolean", "integer"].includes(node.type ?? "")) {
        causes.push(
          fieldInvalid(
            where,
            path,
            "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed."
          )
        )
      }
    })
  })
  causes.push(...printerCauses(versions.map(({ additionalPrinterColumns }) => additionalPrinterColumns ?? [])))
  if (spec.preserveUnknownFields === true) {
    causes.push(
      fieldInvalid(
        "spec.preserveUnknownFields",
        true,
        "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
      )
    )
  }
  return causes
}

const storedVersionCauses = (crd: KubeObject): ReadonlyArray<StatusCause> => {
  const names = versionsOf(crd).map(({ name }) => text(name))
  const stored = texts(object(crd.status).storedVersions)
  const missing = versionsOf(crd)
    .filter((version) => version.storage === true && !stored.includes(text(version.name)))
    .map(({ name }) => `must have the storage version ${text(name)}`)
  if (stored.length === 0) missing.push("must have at least one stored version")
  const said = stored.length === 0 ? null : stored
  return [
    ...missing.map((message) => fieldInvalid("status.storedVersions", said, message)),
    ...goneVersionCauses(crd, names)
  ]
}

const goneVersionCauses = (crd: KubeObject, names: ReadonlyArray<string>): ReadonlyArray<StatusCause> => {
  return texts(object(crd.status).storedVersions).flatMap((version, i) =>
    names.includes(version)
      ? []
      : [
          fieldInvalid(
            `status.storedVersions[${i}]`,
            version,
            `missing from spec.versions; ${version} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${version} and removes ${version} from status.storedVersions`
          )
        ]
  )
}

const conversionCauses = (crd: KubeObject): ReadonlyArray<StatusCause> => {
  const { strategy, webhook } = object(object(crd.spec).conversion)
  if (strategy !== "Webhook") return []
  const { clientConfig, conversionReviewVersions } = object(webhook)
  const { url } = object(clientConfig)
  return [
    ...(isObject(clientConfig)
      ? []
      : [fieldRequired("spec.conversion.webhookClientConfig", "required when strategy is set to Webhook")]),
    ...(typeof url === "string" && !url.startsWith("https://")
      ? [
          fieldInvalid(
            "spec.conversion.webhookClientConfig.url",
            url.split(":")[0],
            "'https' is the only allowed URL scheme; desired format: https://host[/path]"
          )
        ]
      : []),
    ...(isList(conversionReviewVersions) && conversionReviewVersions.length > 0
      ? []
      : [fieldRequired("spec.conversion.conversionReviewVersions")])
  ]
}

const immutableCauses = (crd: KubeObject, live: KubeObject | undefined): ReadonlyArray<StatusCause> => {
  if (live === undefined) return []
  const [next, before] = [object(crd.spec), object(live.spec)]
  const causes: Array<StatusCause> = []
  for (const field of ["scope", "group"]) {
    if (next[field] !== before[field]) causes.push(fieldInvalid(`spec.${field}`, next[field], "field is immutable"))
  }
  for (const field of ["kind", "plural"]) {
    const value = object(next.names)[field]
    if (value !== object(before.names)[field]) {
      causes.push(fieldInvalid(`spec.names.${field}`, value, "field is immutable"))
    }
  }
  return causes
}

export const customResourceDefinitionRules: KindRules = {
  defaults: (crd) => {
    const spec = object(crd.spec)
    const names = object(spec.names)
    const { listKind, singular } = namesOf(crd)
    return {
      ...crd,
      spec: { ...spec, names: { ...names, singular, listKind }, conversion: spec.conversion ?? { strategy: "None" } }
    }
  },
  prepare: (crd, live) => {
    const storage = versionsOf(crd).find((version) => version.storage === true)
    const current = storage === undefined ? [] : [text(storage.name)]
    if (live === undefined) {
      const status = { conditions: null, acceptedNames: { plural: "", kind: "" }, storedVersions: current }
      return { ...crd, status }
    }
    const status = object(crd.status)
    const before = texts(status.storedVersions)
    const added = current.filter((version) => !before.includes(version))
    return added.length === 0 ? crd : { ...crd, status: { ...status, storedVersions: [...before, ...added] } }
  },
  // Whatever is wrong with the names shows in other causes too; a changed name is told of alone.
  validate: (crd, live, { subresource }) => {
    if (subresource !== undefined) return []
    const immutable = immutableCauses(crd, live)
    if (immutable.length > 0) return immutable
    return [...nameCauses(crd), ...versionCauses(crd), ...conversionCauses(crd), ...storedVersionCauses(crd)]
  },
  beginDeletion: (crd, { now }) => {
    const finalizers = crd.metadata.finalizers ?? []
    const marked = finalizers.includes(cleanupFinalizer)
      ? crd
      : { ...crd, metadata: { ...crd.metadata, finalizers: [...finalizers, cleanupFinalizer] } }
    return withConditions(
      marked,
      [
        {
          type: "Terminating",
          status: "True",
          reason: "InstanceDeletionPending",
          message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"
        }
      ],
      now
    )
  }
}
