/** What is wrong in the cluster: rights, definitions, objects. */
import * as Kind from "@fixpoint/core/Kind"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { ConfigMap } from "../../src/access/kinds.ts"
import { badInput, played, type Played, stops } from "./badInput.ts"
import { crds, named, namespaces, type Site, site, until, without } from "./cluster.ts"
import { type Options, partIn } from "./gadgets.ts"
import { type Program, start } from "./programs.ts"

/** Plays until it is told, mends it, and sees it go on. */
const mended = (options: {
  readonly site?: Omit<Options, "group">
  readonly prepare: (site: Site) => Effect.Effect<unknown, unknown, any>
  /** Once the program runs. */
  readonly meanwhile?: (site: Site, running: Program) => Effect.Effect<unknown, unknown, any>
  readonly told: string
  /** What else the user sees. */
  readonly looks?: (site: Site) => Effect.Effect<ReadonlyArray<string>, unknown>
  readonly mend: (site: Site) => Effect.Effect<unknown, unknown, any>
  /** What the mending is called. */
  readonly once: string
  readonly holds?: (site: Site, running: Program) => Effect.Effect<boolean, unknown>
}) =>
  Effect.gen(function* () {
    const here = yield* site(options.site)
    yield* options.prepare(here)
    const running = yield* start("gadgets", yield* here.env())
    if (options.meanwhile !== undefined) yield* options.meanwhile(here, running)
    yield* running.says(options.told)
    yield* Effect.sleep("500 millis")
    const looks = options.looks === undefined ? [] : yield* options.looks(here)
    const told = played(running, looks, "")
    yield* options.mend(here)
    yield* until(
      `it goes on once ${options.once}: ${running.output()}`,
      options.holds === undefined
        ? Effect.map(here.readyOf("a"), (ready) => ready.startsWith("True"))
        : options.holds(here, running)
    )
    yield* cleared(here)
    return { ...told, outcome: `waits; goes on by itself once ${options.once}${yield* stops(running)}` } as Played
  })

/** Takes the gadget away while its operator still runs. */
const cleared = ({ api, at, Gadget }: Site) =>
  Effect.gen(function* () {
    yield* api.delete(Gadget, at("a"))
    yield* until(
      "the gadget is gone",
      Effect.map(Effect.result(api.get(Gadget, at("a"))), ({ _tag }) => _tag === "Failure")
    )
  })

const whole = ({ gadget, Gadget, install }: Site) => Effect.andThen(install(Gadget), gadget("a"))

const readyLine = (here: Site) => Effect.map(here.readyOf("a"), (ready) => [`Gadget a: Ready ${ready}`])

/** The account lacks some verbs, and gets them. */
const denied = (
  input: string,
  resource: (group: string) => string,
  verbs: ReadonlyArray<string>,
  told: string,
  more: Partial<Parameters<typeof mended>[0]> = {}
) =>
  badInput(
    input,
    mended({
      prepare: (here) =>
        Effect.gen(function* () {
          yield* whole(here)
          yield* here.grant(without(resource(here.group), ...verbs))
        }),
      told,
      mend: (here) => here.grant(),
      once: "it is granted",
      ...more
    })
  )

/** A refusal of a write is tried again after 5 minutes, or at the next change of the object: here that comes first. */
const grantedAndTouched = {
  mend: (here: Site) =>
    Effect.andThen(
      here.grant(),
      here.api.patch(here.Gadget, here.at("a"), { type: "merge", body: { metadata: { labels: { touched: "yes" } } } })
    ),
  once: "it is granted, within 5 minutes or at the next change of the object"
}

const versionOf = (crd: any) => crd.spec.versions[0]

export const inTheCluster = [
  badInput(
    "403: the account may do nothing",
    mended({
      prepare: whole,
      // The last of what it tells at the start.
      told: "on events; Controller",
      mend: (here) => here.grant(),
      once: "it is granted"
    })
  ),
  denied("403 on the list of the kind", () => "gadgets", ["list"], "403"),
  denied("403 on the watch of the kind", () => "gadgets", ["watch"], "403"),
  denied("403 on the list and watch of its children", () => "configmaps", ["list", "watch"], "403"),
  denied("403 on the status", () => "gadgets/status", ["patch"], "403", grantedAndTouched),
  badInput(
    "403 on events",
    Effect.gen(function* () {
      const here = yield* site()
      yield* whole(here)
      yield* here.grant(without("events", "create", "patch"))
      const running = yield* start("gadgets", yield* here.env())
      yield* running.says("Failed to post an event")
      const told = played(running, yield* readyLine(here), "all but the events is done")
      yield* cleared(here)
      return { ...told, outcome: told.outcome + (yield* stops(running)) }
    })
  ),
  denied("403 on the creation of a child", () => "configmaps", ["create", "patch"], "403", {
    looks: readyLine,
    ...grantedAndTouched
  }),
  denied("403 on the finalizer", () => "gadgets", ["patch"], "403", { looks: readyLine, ...grantedAndTouched }),
  badInput(
    "the CRD is not installed",
    mended({
      prepare: (here) => here.grant(),
      told: "404",
      mend: whole,
      once: "it is installed"
    })
  ),
  badInput(
    "the CRD has another version only",
    mended({
      prepare: (here) =>
        Effect.andThen(
          here.grant(),
          here.install(here.Gadget, (crd) => Object.assign(versionOf(crd), { name: "v2" }))
        ),
      told: "404",
      mend: (here) =>
        Effect.gen(function* () {
          const name = `gadgets.${here.group}`
          const crd: any = yield* here.api.get(crds, named(name))
          const [version] = crd.spec.versions
          const versions = [version, { ...version, name: "v1", storage: false }]
          yield* here.api.patch(crds, named(name), { type: "merge", body: { spec: { versions } } })
          yield* Effect.retry(here.gadget("a"), { times: 100, schedule: Schedule.spaced("100 millis") })
        }),
      once: "the version is served"
    })
  ),
  badInput(
    "the CRD has no status subresource",
    Effect.gen(function* () {
      const here = yield* site()
      yield* here.grant()
      yield* here.install(here.Gadget, (crd) => delete versionOf(crd).subresources)
      const running = yield* start("gadgets", yield* here.env())
      const { code } = yield* running.ended
      return played(running, [], `exit code ${code}`)
    })
  ),
  badInput(
    "the CRD is installed later, and has no status subresource",
    mended({
      prepare: (here) => here.grant(),
      meanwhile: (here, running) =>
        Effect.andThen(
          running.says("404"),
          here.install(here.Gadget, (crd) => delete versionOf(crd).subresources)
        ),
      told: "subresource",
      mend: (here) =>
        Effect.andThen(
          here.api.patch(crds, named(`gadgets.${here.group}`), {
            type: "merge",
            body: { spec: { versions: (Kind.customResourceDefinition(here.Gadget) as any).spec.versions } }
          }),
          here.gadget("a")
        ),
      once: "its CRD has one"
    })
  ),
  badInput(
    "the CRD has another scope than the Kind",
    Effect.gen(function* () {
      const here = yield* site()
      yield* here.grant()
      yield* here.install(here.Gadget, (crd) => Object.assign(crd.spec, { scope: "Cluster" }))
      const running = yield* start("gadgets", yield* here.env())
      const { code } = yield* running.ended
      return played(running, [], `exit code ${code}`)
    })
  ),
  badInput(
    "the CRD's schema lacks a field of the status",
    mended({
      prepare: (here) =>
        Effect.gen(function* () {
          yield* here.grant()
          yield* here.install(here.Gadget, (crd) => {
            delete versionOf(crd).schema.openAPIV3Schema.properties.status.properties.note
          })
          yield* here.gadget("a")
        }),
      told: "field not declared",
      looks: readyLine,
      mend: (here) =>
        here.api.patch(crds, named(`gadgets.${here.group}`), {
          type: "merge",
          body: { spec: { versions: (Kind.customResourceDefinition(here.Gadget) as any).spec.versions } }
        }),
      once: "the CRD is applied anew"
    })
  ),
  badInput(
    "an object that the Kind refuses, though the CRD takes it",
    mended({
      prepare: (here) =>
        Effect.gen(function* () {
          yield* here.grant()
          yield* here.install(here.Gadget)
          yield* here.gadget("a", { size: -1 })
        }),
      told: "Malformed",
      looks: readyLine,
      mend: (here) => here.api.patch(here.Gadget, here.at("a"), { type: "merge", body: { spec: { size: 1 } } }),
      once: "it is edited"
    })
  ),
  badInput(
    "a child that its Kind refuses, though the CRD takes it",
    mended({
      site: { part: true },
      prepare: (here) =>
        Effect.gen(function* () {
          yield* here.grant()
          const Part = partIn(here.group)
          yield* here.install(Part, (crd) => {
            crd.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.padding = {
              "x-kubernetes-preserve-unknown-fields": true
            }
          })
          yield* here.install(here.Gadget)
          const { metadata } = yield* here.gadget("a")
          const owner = {
            apiVersion: `${here.group}/v1`,
            kind: "Gadget",
            name: "a",
            uid: metadata.uid,
            controller: true
          }
          yield* here.created(Part, {
            metadata: { namespace: here.namespace, name: "a-part", ownerReferences: [owner] },
            spec: { size: 1, padding: 7 }
          })
        }),
      told: "alformed",
      looks: readyLine,
      mend: (here) =>
        here.api.patch(
          partIn(here.group),
          { namespace: here.namespace, name: "a-part" },
          { type: "merge", body: { spec: { padding: "7" } } }
        ),
      once: "it is edited"
    })
  ),
  badInput(
    "the CRD of a child is not installed",
    mended({
      site: { part: true },
      prepare: (here) => Effect.andThen(here.grant(), whole(here)),
      told: "404",
      mend: (here) => here.install(partIn(here.group)),
      once: "it is installed"
    })
  ),
  badInput(
    "a child's name is taken by an object of somebody else",
    mended({
      prepare: (here) =>
        Effect.gen(function* () {
          yield* here.grant()
          yield* here.created(ConfigMap, { metadata: { namespace: here.namespace, name: "a-config" } })
          yield* whole(here)
        }),
      told: "ChildNotOurs",
      looks: readyLine,
      mend: (here) => here.api.delete(ConfigMap, { namespace: here.namespace, name: "a-config" }),
      once: "it is removed"
    })
  ),
  badInput(
    "the namespace of a child is being deleted",
    Effect.gen(function* () {
      const here = yield* site({ scope: "Cluster" })
      yield* here.grant()
      yield* here.install(here.Gadget)
      // It holds the namespace in its deletion.
      const held = yield* here.api.create(ConfigMap, {
        metadata: { namespace: here.namespace, name: "held", finalizers: ["example.com/held"] }
      })
      yield* here.api.delete(namespaces, named(here.namespace))
      yield* here.gadget("a")
      const running = yield* start("gadgets", yield* here.env())
      yield* running.says("403")
      yield* Effect.sleep("1 second")
      const told = played(running, yield* readyLine(here), "waits, and tries again every 5 minutes")
      yield* here.api.patch(
        ConfigMap,
        { namespace: here.namespace, name: held.metadata.name },
        { type: "merge", body: { metadata: { finalizers: [] } } }
      )
      yield* cleared(here)
      return { ...told, outcome: told.outcome + (yield* stops(running)) }
    })
  ),
  badInput(
    "an object of 1.4 MB",
    Effect.gen(function* () {
      const here = yield* site()
      yield* here.grant()
      yield* here.install(here.Gadget)
      yield* here.gadget("a", { size: 1, padding: "x".repeat(1_400_000) })
      const running = yield* start("gadgets", yield* here.env())
      yield* until(
        "it is ready",
        Effect.map(here.readyOf("a"), (ready) => ready.startsWith("True"))
      )
      const told = played(running, yield* readyLine(here), "nothing is amiss")
      yield* cleared(here)
      return { ...told, outcome: told.outcome + (yield* stops(running)) }
    })
  ),
  badInput(
    "a status that makes the object larger than etcd takes",
    mended({
      site: { statusBytes: 300_000 },
      prepare: (here) =>
        Effect.gen(function* () {
          yield* here.grant()
          yield* here.install(here.Gadget)
          yield* here.gadget("a", { size: 1, padding: "x".repeat(1_400_000) })
        }),
      told: "status",
      looks: readyLine,
      mend: (here) => here.api.patch(here.Gadget, here.at("a"), { type: "merge", body: { spec: { padding: "" } } }),
      once: "the object is smaller"
    })
  ),
  badInput(
    "a child that is larger than the server takes",
    Effect.gen(function* () {
      const here = yield* site({ childBytes: 1_100_000 })
      yield* here.grant()
      yield* whole(here)
      const running = yield* start("gadgets", yield* here.env())
      yield* running.says("ConfigMap")
      yield* Effect.sleep("1 second")
      const told = played(running, yield* readyLine(here), "waits, and tries again every 5 minutes")
      yield* cleared(here)
      return { ...told, outcome: told.outcome + (yield* stops(running)) }
    })
  ),
  badInput(
    "a child that is larger than any request may be",
    Effect.gen(function* () {
      const here = yield* site({ childBytes: 4_000_000 })
      yield* here.grant()
      yield* whole(here)
      const running = yield* start("gadgets", yield* here.env())
      yield* running.says("ConfigMap")
      yield* Effect.sleep("1 second")
      const told = played(running, yield* readyLine(here), "waits, and tries again")
      yield* cleared(here)
      return { ...told, outcome: told.outcome + (yield* stops(running)) }
    })
  )
]
