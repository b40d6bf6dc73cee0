/** A registry that outlives its process: a file with a line for each call, so that what was done twice can be seen. */
import * as fs from "node:fs"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Registry, RegistryError } from "../src/access/Registry.ts"

/** One call. `did`: whether it changed anything. */
export interface RegistryCall {
  readonly call: "register" | "release"
  readonly uid: string
  readonly name: string
  readonly did: boolean
}

/** A last line without its end was being written when its writer died. */
export const callsIn = (path: string): ReadonlyArray<RegistryCall> =>
  fs.existsSync(path)
    ? fs
        .readFileSync(path, "utf8")
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line) as RegistryCall)
    : []

/** The names that are registered, by uid. */
export const registeredBy = (calls: ReadonlyArray<RegistryCall>): ReadonlyMap<string, string> => {
  const names = new Map<string, string>()
  for (const { call, name, uid } of calls) {
    if (call === "register") names.set(uid, name)
    else names.delete(uid)
  }
  return names
}

/** Reads what the file says when it is built. A call is done when its line is written. */
export const layerFile = (path: string): Layer.Layer<Registry> =>
  Layer.sync(Registry, () => {
    const names = new Map(registeredBy(callsIn(path)))
    const done = (call: RegistryCall) =>
      Effect.try({
        try: () => fs.appendFileSync(path, `${JSON.stringify(call)}\n`),
        catch: (error) => new RegistryError({ message: String(error) })
      })
    return Registry.of({
      register: (uid, name) =>
        Effect.suspend(() => {
          const did = !names.has(uid)
          names.set(uid, name)
          return Effect.as(done({ call: "register", uid, name, did }), did)
        }),
      release: (uid) =>
        Effect.suspend(() => {
          const name = names.get(uid)
          const did = names.delete(uid)
          return Effect.as(done({ call: "release", uid, name: name ?? "", did }), did)
        }),
      entries: Effect.sync(() => new Map(names))
    })
  })
