/**
 * What users want of the access operator while it is killed: a seeded script of what they do, and as a pure model what they have wished for when they
 * have done it.
 */

/** Of a Role. */
export interface RoleWish {
  readonly scope: string
  readonly rules: ReadonlyArray<{ readonly resource: string; readonly verbs: ReadonlyArray<string> }>
}

/** By name. */
export interface Wish {
  readonly scopes: ReadonlyMap<string, ReadonlyArray<string>>
  readonly roles: ReadonlyMap<string, RoleWish>
}

/** One thing that a user does. `spoil` and `drop` are done to the ConfigMap of a Role, and change no wish. */
export type Act =
  | { readonly do: "set scope"; readonly name: string; readonly members: ReadonlyArray<string> }
  | { readonly do: "remove scope"; readonly name: string }
  | { readonly do: "set role"; readonly name: string; readonly wish: RoleWish }
  | { readonly do: "remove role"; readonly name: string }
  | { readonly do: "spoil"; readonly name: string }
  | { readonly do: "drop"; readonly name: string }

/** What `spoil` writes into an entry of the ConfigMap. */
export const spoilt = "all"

export const nothing: Wish = { scopes: new Map(), roles: new Map() }

const without = <A>(all: ReadonlyMap<string, A>, name: string): ReadonlyMap<string, A> =>
  new Map([...all].filter(([key]) => key !== name))

export const wished = (wish: Wish, act: Act): Wish => {
  switch (act.do) {
    case "set scope":
      return { ...wish, scopes: new Map([...wish.scopes, [act.name, act.members]]) }
    case "remove scope":
      return { ...wish, scopes: without(wish.scopes, act.name) }
    case "set role":
      return { ...wish, roles: new Map([...wish.roles, [act.name, act.wish]]) }
    case "remove role":
      return { ...wish, roles: without(wish.roles, act.name) }
    case "spoil":
    case "drop":
      return wish
  }
}

/** What the Role's ConfigMap is to hold, told without the operator's own code. */
export const rulesOf = ({ rules }: RoleWish): string =>
  rules.map(({ resource, verbs }) => `${resource}: ${verbs.join(", ")}`).join("\n")

/** Numbers in [0, 1), the same ones for the same seed. */
export const chance = (seed: number): (() => number) => {
  let state = (seed * 0x9e3779b1) | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const people = ["ada", "alan", "barbara", "donald", "edsger", "grace"]
const verbs = ["read", "write", "delete"]
/** The last one is in no script made at first, so that some Roles wait for it. */
const scopeNames = ["code", "docs", "wiki", "later"]

export interface Script {
  /** What is so before the operator starts. */
  readonly given: ReadonlyArray<Act>
  /** What is done while it runs and is killed. */
  readonly acts: ReadonlyArray<Act>
}

/** Some thirty objects and twenty acts; each act makes sense after those before it. */
export const script = (seed: number): Script => {
  const next = chance(seed)
  const below = (n: number): number => Math.floor(next() * n)
  const pick = <A>(all: ReadonlyArray<A>): A => all[below(all.length)]!
  const some = <A>(all: ReadonlyArray<A>): ReadonlyArray<A> => {
    const chosen = all.filter(() => next() < 0.5)
    return chosen.length === 0 ? [pick(all)] : chosen
  }
  const roleWish = (): RoleWish => ({
    scope: pick(scopeNames),
    rules: Array.from({ length: 1 + below(2) }, (_, i) => ({ resource: `things-${i}-${below(9)}`, verbs: some(verbs) }))
  })
  const given: ReadonlyArray<Act> = [
    ...scopeNames.slice(0, -1).map((name): Act => ({ do: "set scope", name, members: some(people) })),
    ...Array.from({ length: 10 }, (_, i): Act => ({ do: "set role", name: `role-${i}`, wish: roleWish() }))
  ]
  let wish = given.reduce(wished, nothing)
  const draw = (index: number): Act => {
    const roles = [...wish.roles.keys()]
    // What is registered outside, so that there is something to release.
    const granted = roles.filter((name) => wish.scopes.has(wish.roles.get(name)!.scope))
    const role = pick(roles)
    switch (index % 10) {
      case 0:
      case 5:
        return { do: "set role", name: `more-${index}`, wish: roleWish() }
      case 1:
      case 6:
        return { do: "remove role", name: pick(granted.length === 0 ? roles : granted) }
      case 2:
        return { do: "set role", name: role, wish: roleWish() }
      case 3:
        return { do: "set scope", name: pick([...wish.scopes.keys()]), members: some(people) }
      case 4:
        return { do: "spoil", name: role }
      case 7:
        return { do: "drop", name: role }
      case 8:
        return wish.scopes.size > 2
          ? { do: "remove scope", name: pick([...wish.scopes.keys()]) }
          : { do: "set scope", name: pick(scopeNames), members: some(people) }
      default:
        return { do: "set scope", name: pick(scopeNames), members: some(people) }
    }
  }
  const acts: Array<Act> = []
  for (let index = 0; index < 20; index++) {
    const act = draw(index)
    acts.push(act)
    wish = wished(wish, act)
  }
  return { given, acts }
}
