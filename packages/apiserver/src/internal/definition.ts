/** What the server serves under one group, version and plural, and how objects of that kind differ from others. */
import type { StatusCause } from "@fixpoint/core/ApiError"
import type { KubeObject } from "@fixpoint/core/KubeObject"
import type { NameRule } from "./objectMeta.ts"
import type { Draw } from "./random.ts"
import type { Named } from "./refusal.ts"
import type { FieldLabels } from "./selector.ts"
import type { JsonObject } from "./json.ts"
import type { Schema } from "./structuralSchema.ts"

/** What counts as a new generation (F7, F9, F10): nothing, the spec, all but metadata and status, all but metadata, spec and annotations. */
export type GenerationRule = "none" | "spec" | "content" | "everything" | "specAndAnnotations"

/** What a kind adds to the common rules. Objects are in the storage version here. */
export interface KindRules {
  /** Go's text of a value that the kind cannot decode, after the schema has found nothing (F153, F157). */
  readonly undecodable?: (object: KubeObject) => string | undefined
  /** Fills in what does not come from the schema. Runs before `prepare`, and on what the writer then owns. */
  readonly defaults?: (object: KubeObject) => KubeObject
  /** Fills in what nobody owns: addresses, phases, finalizers. `live` is undefined on create. */
  readonly prepare?: (object: KubeObject, live: KubeObject | undefined, context: KindContext) => KubeObject
  readonly validate?: (
    object: KubeObject,
    live: KubeObject | undefined,
    request: {
      readonly version: string
      readonly namespace: string | undefined
      readonly subresource: string | undefined
    }
  ) => ReadonlyArray<StatusCause>
  /** Why an object of that name may not be deleted (F128). */
  readonly undeletable?: (name: string) => string | undefined
  /** The object under deletion, if the kind holds it back by something else than finalizers (F128, F147). */
  readonly beginDeletion?: (object: KubeObject, context: KindContext) => KubeObject
}

export interface KindContext {
  readonly now: string
  readonly draw: Draw
}

export interface TableColumn {
  readonly name: string
  readonly type: string
  readonly format: string
  readonly description: string
  /** 0 is always shown, more only in wide output. */
  readonly priority: number
}

export interface TableRow {
  readonly cells: ReadonlyArray<unknown>
  /** Present where the row is done with: a Pod that has ended. */
  readonly conditions?: ReadonlyArray<JsonObject>
}

/** What a Table shows of the kind: all columns, and the row of an object as it is served at `now` in milliseconds since 1970. */
export interface Printer {
  readonly columns: ReadonlyArray<TableColumn>
  readonly row: (object: KubeObject, now: number) => TableRow
  /** The Table of an empty list has null for rows. */
  readonly nullWhenEmpty?: true
}

export interface Definition extends Named {
  /** Where its objects are stored, whatever the version: `widgets.facts.example.com`, `configmaps`. */
  readonly resource: string
  readonly version: string
  readonly apiVersion: string
  /** The apiVersion in which objects are stored. */
  readonly storageVersion: string
  readonly listKind: string
  readonly singular: string
  readonly shortNames: ReadonlyArray<string>
  readonly categories: ReadonlyArray<string>
  readonly namespaced: boolean
  readonly custom: boolean
  readonly schema: Schema
  readonly hasStatus: boolean
  readonly scale: ScalePaths | undefined
  readonly fieldLabels: FieldLabels
  readonly nameRule: NameRule
  readonly generation: GenerationRule
  /** A PUT without resourceVersion passes (F72). */
  readonly unconditional: boolean
  /** A PUT on an absent name creates (F74). */
  readonly createsOnUpdate: boolean
  /** DELETE answers the object even if it is gone at once (F111). */
  readonly answersDeleted: boolean
  readonly verbs: ReadonlyArray<string>
  readonly warning: string | undefined
  /** The CRD is under deletion: no creates (F147). */
  readonly terminating: boolean
  readonly rules: KindRules
  /** To the stored form and back, where they differ in more than apiVersion (F156). */
  readonly toStorage: (object: KubeObject) => KubeObject
  readonly fromStorage: (object: KubeObject) => KubeObject
  /** What nobody owns by writing to the main path, or to a subresource: it is set back (F85, F98, F99). */
  readonly resetFields: (subresource: string | undefined) => ReadonlyArray<string>
  readonly printer: Printer
  /** An object of the kind in which nothing is set, where that is more than nothing. */
  readonly blank: JsonObject | undefined
}

/** Dotted paths such as `.spec.replicas`. */
export interface ScalePaths {
  readonly specReplicasPath: string
  readonly statusReplicasPath: string
  readonly labelSelectorPath?: string
}

/** Under which a namespaced object is kept; names of cluster-scoped ones stand alone. */
export const keyOf = (namespace: string | undefined, name: string): string =>
  namespace === undefined ? name : `${namespace}/${name}`
