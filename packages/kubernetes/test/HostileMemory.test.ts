/** Bodies without end, read by a process of its own whose memory is looked at. */
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type Attack, chunk, chunkedHead, serveRaw, type Visit } from "./hostileServer.ts"

interface Report {
  readonly verb: string
  readonly end: string
  readonly peakMiB: number
}

const program = fileURLToPath(new URL("hostileReader.ts", import.meta.url))

const readBy = (url: string, seconds: number) =>
  Effect.callback<ReadonlyArray<Report>>((resume) => {
    const child = spawn(process.execPath, ["--conditions=@fixpoint/source", program, url, String(seconds)], {
      stdio: ["ignore", "pipe", "pipe"]
    })
    let text = ""
    const take = (chunk: Buffer): void => {
      text += chunk.toString()
    }
    child.stdout.on("data", take)
    child.stderr.on("data", take)
    child.on("close", (code) => {
      if (code !== 0) return resume(Effect.die(new Error(`the reader ended with ${code}: ${text}`)))
      resume(
        Effect.succeed(
          text
            .trim()
            .split("\n")
            .map((line) => JSON.parse(line) as Report)
        )
      )
    })
    return Effect.sync(() => void child.kill("SIGKILL"))
  })

/** As fast as the client reads. */
const flood = ({ socket, write }: Visit, bytes: Buffer): void => {
  const more = (): void => {
    // A client that has ended its side leaves a socket that is not destroyed yet, and takes nothing more.
    while (!socket.destroyed && socket.writable && socket.writableLength < 4 * 1024 * 1024) write(bytes)
  }
  socket.on("drain", more)
  more()
}

const letters = Buffer.alloc(64 * 1024, "x")
const single = Buffer.from("1\r\nx\r\n".repeat(10_000))

/** `seconds`: what the reader gives the server, little where only that ends it. */
const bodies: ReadonlyArray<
  readonly [what: string, attack: Attack, ends: Readonly<Record<string, RegExp>>, seconds: number]
> = [
  [
    "without end",
    (visit) => {
      visit.write(chunkedHead)
      visit.write(chunk('{"x":"'))
      flood(visit, chunk(letters))
    },
    {
      get: /Unreachable: .*: the answer is larger than any that a server should give here \(ERR_ANSWER_TOO_LARGE\)$/,
      create: /ERR_ANSWER_TOO_LARGE/,
      watch: /Malformed: a line of more than 33554432 bytes$/
    },
    15
  ],
  [
    "of single bytes without end",
    (visit) => {
      visit.write(chunkedHead)
      flood(visit, single)
    },
    { get: /Unreachable/, create: /Unreachable/, watch: /Malformed|timed out/ },
    1
  ],
  [
    "of an error without end",
    (visit) => {
      visit.write("HTTP/1.1 500 X\r\ntransfer-encoding: chunked\r\n\r\n")
      flood(visit, chunk(letters))
    },
    { get: /500/, create: /500/, watch: /500/ },
    15
  ],
  [
    "of an error in single bytes without end",
    (visit) => {
      visit.write("HTTP/1.1 500 X\r\ntransfer-encoding: chunked\r\n\r\n")
      flood(visit, single)
    },
    { get: /500/, create: /500/, watch: /500/ },
    15
  ],
  [
    "that says that it has ten gigabytes",
    (visit) => {
      visit.write("HTTP/1.1 200 X\r\ncontent-type: application/json\r\ncontent-length: 10737418240\r\n\r\n")
      flood(visit, letters)
    },
    { get: /ERR_ANSWER_TOO_LARGE/, create: /ERR_ANSWER_TOO_LARGE/, watch: /a line of more than/ },
    15
  ]
]

describe("a body", { concurrent: true, timeout: 120_000 }, () => {
  it.live.each(bodies)("%s takes less than 400 MiB", ([, attack, ends, seconds]) =>
    Effect.gen(function* () {
      const server = yield* serveRaw(attack)
      const reports = yield* readBy(server.url, seconds)
      assert.deepStrictEqual(
        reports.map(({ verb }) => verb),
        ["get", "create", "watch"]
      )
      for (const { end, peakMiB, verb } of reports) {
        assert.match(end, ends[verb]!, verb)
        assert.isBelow(peakMiB, 400, `${verb}: ${end}`)
      }
    })
  )
})
