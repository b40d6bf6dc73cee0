/** The system outside of the cluster in which Roles are registered: what the example's finalizer cleans up. Here it lives in memory. */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** The registry refused or could not be reached. */
export class RegistryError extends Data.TaggedError("RegistryError")<{ readonly message: string }> {}

/** Keeps names by the uid of their Role, so that a Role which is made anew under its old name is another one. */
export class Registry extends Context.Service<
  Registry,
  {
    /** True if it was not registered before. Registering twice changes nothing. */
    readonly register: (uid: string, name: string) => Effect.Effect<boolean, RegistryError>
    /** True if it was registered; releasing twice changes nothing. */
    readonly release: (uid: string) => Effect.Effect<boolean, RegistryError>
    /** The names that are registered, by uid. */
    readonly entries: Effect.Effect<ReadonlyMap<string, string>, RegistryError>
  }
>()("@fixpoint/examples/Registry") {
  static readonly layerMemory = Layer.sync(Registry, () => {
    const names = new Map<string, string>()
    return Registry.of({
      register: (uid, name) =>
        Effect.sync(() => {
          const isNew = !names.has(uid)
          names.set(uid, name)
          return isNew
        }),
      release: (uid) => Effect.sync(() => names.delete(uid)),
      entries: Effect.sync(() => new Map(names))
    })
  })
}
