/** Operators written with Fixpoint: `access` keeps ConfigMaps with the rules of Roles, and registers the Roles outside of the cluster. */
export * from "./access/operator.ts"
export * from "./access/policies.ts"
