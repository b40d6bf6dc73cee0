/** The kinds of the example: one Schema each is codec, CRD, generator of test objects and source of RBAC. */
import * as Kind from "@fixpoint/core/Kind"
import * as Schema from "effect/Schema"

const Name = Schema.String.check(Schema.isPattern(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/u), Schema.isMaxLength(63))

/** Where access is granted: its members get what the Roles of the Scope allow. */
export class Scope extends Kind.make({
  group: "access.example.com",
  version: "v1",
  kind: "Scope",
  scope: "Namespaced",
  spec: Schema.Struct({ members: Kind.listSet(Schema.Array(Name)) }),
  status: Schema.Struct({ roles: Schema.Int }),
  printerColumns: [
    { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Roles", type: "integer", jsonPath: ".status.roles" },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" }
  ]
}) {}

const Rule = Schema.Struct({
  resource: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(253)),
  verbs: Schema.Array(Schema.Literals(["read", "write", "delete"])).check(Schema.isMinLength(1))
})

/** A check that no CRD can state: the server accepts such a Role, and the operator tells that it is malformed. */
const eachResourceOnce = Schema.makeFilter((rules: ReadonlyArray<{ readonly resource: string }>) => {
  const twice = rules.find(({ resource }, index) => rules.findIndex((rule) => rule.resource === resource) < index)
  return twice === undefined || `there are two rules for ${twice.resource}: join them`
})

/** What may be done in a Scope; becomes a ConfigMap with the rules of each member. */
export class Role extends Kind.make({
  group: "access.example.com",
  version: "v1",
  kind: "Role",
  scope: "Namespaced",
  spec: Schema.Struct({
    scope: Name,
    rules: Schema.Array(Rule).check(eachResourceOnce),
    /** In persisted mode: its name outside of the cluster, which no other Role of any namespace may have. Default: the Role's own name. */
    externalName: Schema.optionalKey(Name)
  }),
  status: Schema.Struct({
    /** The Scope in which it counts: when the spec names another one, the former must hear of it too. */
    scope: Name,
    rules: Schema.Int,
    members: Schema.Int
  })
}) {}

/** The part of a core ConfigMap that the example writes. */
export class ConfigMap extends Kind.make({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  scope: "Namespaced",
  fields: { data: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)) }
}) {}
