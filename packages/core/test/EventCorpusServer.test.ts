import { assert, describe, layer } from "@effect/vitest"
import * as ControlPlane from "@fixpoint/testing/ControlPlane"
import * as Effect from "effect/Effect"
import { corpus, type Told } from "./eventCorpus.ts"
import { expected, type Ground, play, type Played, Zone } from "./eventCorpusPlay.ts"
import { kubectl, ownNamespace, real, served } from "./realServer.ts"

/** The kind is served, and the operator's namespace is there, as long as the scope lives. */
const prepared = Effect.gen(function* () {
  yield* served(Zone)
  const ground: Ground = { namespace: yield* ownNamespace("corpus-"), moment: Effect.sleep("10 millis") }
  return ground
})

/** Runs of whitespace as one space, since kubectl sets columns, and a text may have lines. */
const inOneLine = (text: string): string => text.replace(/\s+/g, " ").trim()

/** The Events section of each object that `kubectl describe` finds, by its name. */
const described = (args: ReadonlyArray<string>) =>
  // Of many objects at once it shows no Events unless it is told to.
  Effect.map(
    kubectl([...args.slice(0, -1), "describe", "--show-events=true", args.at(-1)!]),
    (text) =>
      new Map(
        text
          .split(/^(?=Name: )/m)
          .map((part) => [/^Name:\s+(\S+)/.exec(part)?.[1] ?? "", inOneLine(part.slice(part.lastIndexOf("\nEvents:")))])
      )
  )

/** What stands in the section of a shown Event, beside its age. */
const shownAs = ({ component, message, reason, type }: Told, shown: boolean | string): ReadonlyArray<string> => [
  inOneLine(`${type} ${reason}`),
  inOneLine(`${component} ${typeof shown === "string" ? shown : message}`)
]

/** Rows whose table would be too wide to read if they were told whole. */
const brief = (played: Pick<Played, "told" | "dropped">) => ({ told: played.told, dropped: played.dropped })

describe.skipIf(!ControlPlane.available())("hard events, before a real API server", () => {
  layer(real, { excludeTestServices: true, timeout: 120_000 })((it) => {
    it.effect(
      "are stored or dropped as in memory, and shown by kubectl describe where they should be (P5, P12, P15, P16, P17, B79, B80, B81, B82, B86, D19, D20)",
      () =>
        Effect.gen(function* () {
          const ground = yield* prepared
          const plays = new Map<string, Played>()
          for (const [at, row] of corpus.entries()) plays.set(row.hazard, yield* play(row, at, ground))
          const table = (of: (row: (typeof corpus)[number]) => Pick<Played, "told" | "dropped">) =>
            Object.fromEntries(corpus.map((row) => [row.hazard, brief(of(row))]))
          assert.deepStrictEqual(
            table((row) => plays.get(row.hazard)!),
            table((row) => ({ told: expected(row), dropped: "dropped" in row.end ? row.end.dropped : 0 }))
          )
          const lines = (of: (row: (typeof corpus)[number]) => number) =>
            corpus.map((row) => `${row.hazard}: ${of(row)} lines`)
          assert.deepStrictEqual(
            lines((row) => plays.get(row.hazard)!.lines.length),
            lines((row) => ("dropped" in row.end ? row.end.lines.length : 0))
          )
          const shows = new Map([
            ...(yield* described(["-n", ground.namespace, "configmaps"])),
            ...(yield* described(["-n", "kube-system", "configmaps"])),
            ...(yield* described(["-n", "default", "configmaps"])),
            ...(yield* described([`${Zone.plural}.${Zone.group}`]))
          ])
          const wrong = corpus.flatMap((row) => {
            if (!("stored" in row.end)) return []
            const shown = row.end.shown
            const section = shows.get(plays.get(row.hazard)!.object.name)
            if (shown === false)
              return section === undefined || section === "Events: <none>" ? [] : [`${row.hazard}: shows ${section}`]
            return shownAs(expected(row)[0]!, shown)
              .filter((part) => section?.includes(part) !== true)
              .map((part) => `${row.hazard}: ${part} is not in ${section}`)
          })
          assert.deepStrictEqual(wrong, [])
        }).pipe(Effect.scoped),
      300_000
    )
  })
})
