/** Operators written with Fixpoint: `access` keeps ConfigMaps with the rules of Roles, and registers the Roles outside of the cluster; in persisted mode it keeps rows in a database. */
export * from "./access/operator.ts"
export * from "./access/persisted/operator.ts"
export * from "./access/policies.ts"
