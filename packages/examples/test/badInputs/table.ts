/** Plays the bad inputs in lanes and says what came of them, as rows of a table. */
import * as Kubernetes from "@fixpoint/kubernetes/Kubernetes"
import { ControlPlane } from "@fixpoint/testing/ControlPlane"
import * as SharedControlPlane from "@fixpoint/testing/SharedControlPlane"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { atStart } from "./atStart.ts"
import type { BadInput, Played } from "./badInput.ts"
import { inTheCluster } from "./inTheCluster.ts"
import { onTheWay } from "./onTheWay.ts"

export const badInputs: ReadonlyArray<BadInput> = [...atStart, ...onTheWay, ...inTheCluster]

export interface Row {
  readonly input: string
  readonly sees: ReadonlyArray<string>
  readonly outcome: string
  readonly toldMillis: number | undefined
}

/** Without what differs from run to run: times, ports, folders, drawn names. */
export const normalised = (text: string): string =>
  text
    .replace(/\b(127\.0\.0\.1:|port )\d{2,5}\b/g, "$1PORT")
    .replace(/[^\s:"]*fixpoint-bad-inputs-\w+/g, "DIR")
    .replace(/case-\d+-\d+\.example\.com/g, "example.com")
    .replace(/operator-of-bad-input-\w+/g, "operator")
    .replace(/bad-input-\w+/g, "team")
    .replace(/fixpoint-[0-9a-f]{16}/g, "fixpoint-HASH")
    .replace(/, for \d+ s now$/, "")
    .replace(/EAI_AGAIN/g, "ENOTFOUND")

const rowOf = ({ input }: BadInput, { sees, outcome, toldMillis }: Played): Row => ({
  input,
  sees: [...new Set(sees.map(normalised))],
  outcome: normalised(outcome),
  toldMillis
})

const lanes = 4

const admin = Layer.unwrap(
  Effect.map(ControlPlane, ({ ca, token, url }) =>
    Kubernetes.layerWith({ server: url, ca, token: Redacted.make(token) })
  )
).pipe(Layer.provideMerge(SharedControlPlane.layer))

/** All of them, in the order in which they stand here. One that does not go as it should says so in its row, in capitals. */
export const play = (inputs: ReadonlyArray<BadInput> = badInputs): Effect.Effect<ReadonlyArray<Row>> =>
  Effect.forEach(
    inputs,
    (one) =>
      Effect.scoped(one.play).pipe(
        Effect.catchCause((cause) =>
          Effect.succeed<Played>({ sees: [], outcome: `FAILED: ${String(Cause.squash(cause))}`, toldMillis: undefined })
        ),
        Effect.map((played) => rowOf(one, played))
      ),
    { concurrency: lanes }
  ).pipe(Effect.provide(Layer.orDie(admin)))

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("<", "&lt;")

export const markdown = (rows: ReadonlyArray<Row>): string =>
  [
    "| the input | what the user sees | what happens then |",
    "| --- | --- | --- |",
    ...rows.map(
      ({ input, sees, outcome }) =>
        `| ${cell(input)} | ${sees.length === 0 ? "nothing" : sees.map((line) => `\`${line.replaceAll("|", "\\|")}\``).join("<br>")} | ${cell(outcome)} |`
    ),
    ""
  ].join("\n")

const begin = "<!-- made by npm run bad-inputs -- --write -->"
const end = "<!-- end -->"

/** The document with this table between its markers. */
export const withTable = (document: string, rows: ReadonlyArray<Row>): string => {
  const [before, rest = ""] = document.split(begin)
  return `${before}${begin}\n\n${markdown(rows)}\n${end}${rest.split(end)[1] ?? ""}`
}
