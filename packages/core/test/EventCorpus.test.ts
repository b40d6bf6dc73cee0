import * as ApiServer from "@fixpoint/apiserver/ApiServer"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { layer, layerEventsV1 } from "../src/EventPoster.ts"
import * as Kind from "../src/Kind.ts"
import { corpus, type Row } from "./eventCorpus.ts"
import { expected, newer, play, Zone } from "./eventCorpusPlay.ts"
import { quiet } from "./world.ts"

const server = () =>
  ApiServer.layer({
    kinds: [Kind.customResourceDefinition(Zone)],
    objects: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "operators" } }]
  })

const ends = (row: Row, at: number, poster: typeof layer) =>
  Effect.gen(function* () {
    const { dropped, lines, told } = yield* play(row, at, { namespace: "operators", moment: quiet, poster })
    assert.deepStrictEqual(told, expected(row))
    assert.strictEqual(dropped, "dropped" in row.end ? row.end.dropped : 0)
    const patterns = "dropped" in row.end ? row.end.lines : []
    assert.strictEqual(lines.length, patterns.length, lines.join("\n"))
    patterns.forEach((pattern, i) => assert.match(lines[i]!, pattern))
  }).pipe(Effect.scoped, Effect.provide(server()))

describe("hard events, before a server in memory (P5, P12, P15, P16, P17, B79, B80, B81, B82, B86, D19, D20)", () => {
  for (const [at, row] of corpus.entries()) it.effect(`ends as decided: ${row.hazard}`, () => ends(row, at, layer))
})

describe("hard events through events.k8s.io/v1, before a server in memory (P16, B79, B80, B81, B82, B86, D19, D20, F151)", () => {
  for (const [at, row] of corpus.entries())
    it.effect(`ends as decided: ${row.hazard}`, () => ends(newer(row), at, layerEventsV1))
})
