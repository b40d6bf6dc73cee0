/** Who asks, and whether they may: tokens, and the few paths that are free for all (F160, F161). RBAC is not modelled: who has a token may do everything. */
import * as Refusal from "../refusal.ts"
import type { ResourceTarget, Target } from "./path.ts"

/** Somebody with a token. */
export interface Token {
  readonly token: string
  readonly user: string
  readonly uid?: string
  readonly groups: ReadonlyArray<string>
}

export interface User {
  readonly name: string
  readonly uid?: string
  readonly groups: ReadonlyArray<string>
}

export interface PeerSubject {
  readonly CN?: string | Array<string>
  readonly O?: string | Array<string>
}

export const anonymous: User = { name: "system:anonymous", groups: ["system:unauthenticated"] }

/** Everybody who has said who they are is in this group. */
const known = "system:authenticated"

/** The users of tokens. */
export const usersOf = (tokens: ReadonlyArray<Token>): ReadonlyMap<string, User> =>
  new Map(
    tokens.map(({ groups, token, uid, user: name }) => [
      token,
      { name, ...(uid !== undefined && { uid }), groups: [...groups, known] }
    ])
  )

const free = /^\/(?:healthz|livez|readyz|version)$/

/** The user that a client's certificate names, which somebody has verified. */
export const userOfSubject = ({ CN, O }: PeerSubject): User | undefined =>
  typeof CN === "string" && CN !== ""
    ? { name: CN, groups: [...(O === undefined ? [] : typeof O === "string" ? [O] : O), known] }
    : undefined

/** Undefined: a token that nobody has, 401. Without a token, or with other credentials, one is `nobody`. */
export const userOf = (
  tokens: ReadonlyMap<string, User>,
  authorization: string | undefined,
  nobody: User
): User | undefined => {
  const token = /^bearer +(\S+) *$/i.exec(authorization ?? "")?.[1]
  return token === undefined ? nobody : tokens.get(token)
}

/** Why not; undefined if one may. */
export const refusal = (user: User, verb: string, path: string, target: Target): Refusal.Refusal | undefined => {
  if (user !== anonymous || free.test(path)) return undefined
  return target._tag === "Resource"
    ? Refusal.forbidden({ ...target, kind: "" }, nameOf(verb, target), why(user, verb, target))
    : Refusal.forbiddenPath(user.name, verb, path)
}

/** A create and what meets many name no object. */
const nameOf = (verb: string, { name }: ResourceTarget): string =>
  verb === "create" || verb === "deletecollection" ? "" : (name ?? "")

const why = ({ name: user }: User, verb: string, target: ResourceTarget): string => {
  const { group, name, namespace, plural, subresource } = target
  const within = namespace ?? (plural === "namespaces" && group === "" ? name : undefined)
  const where = within === undefined ? "at the cluster scope" : `in the namespace "${within}"`
  const resource = subresource === undefined ? plural : `${plural}/${subresource}`
  return `User "${user}" cannot ${verb} resource "${resource}" in API group "${group}" ${where}`
}
