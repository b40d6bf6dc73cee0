/**
 * The operator in persisted mode: Scopes and Roles are rows of a database, and nothing is made in the cluster.
 *
 * The two wake each other, and come to rest: a Scope wakes the Roles that wait for it, and a Role its Scope when its row has changed.
 */
import * as Controller from "@fixpoint/core/Controller"
import * as Watch from "@fixpoint/core/Watch"
import { Role, Scope } from "../kinds.ts"
import { role } from "./roles.ts"
import { scope } from "./scopes.ts"

/** The database tells nobody when a row is changed by hand: all are looked at again now and then. */
const again = Watch.every("10 minutes")

export const persistedRoles = Controller.make({ for: Role, watches: [again], reconciler: role })
export const persistedScopes = Controller.make({ for: Scope, polls: [Role], watches: [again], reconciler: scope })
