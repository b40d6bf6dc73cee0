import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as child from "node:child_process"
import * as fs from "node:fs"
import * as net from "node:net"
import * as os from "node:os"
import * as path from "node:path"
import { parseKubeFlags, parseTokens } from "../src/bin/kubeFlags.ts"
import { widgetCrd } from "./fixtures.ts"
import { ask, until } from "./wireClient.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "fixpoint-programs-"))),
  (made) => Effect.sync(() => fs.rmSync(made, { recursive: true, force: true }))
)

/** A program of this package, killed with the scope. */
const start = (command: string, args: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const running = child.spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] })
      let out = ""
      let err = ""
      let ended: string | undefined
      running.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()))
      running.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()))
      running.on("close", (code, signal) => (ended = String(code ?? signal)))
      return { running, out: () => out, err: () => err, ended: () => ended }
    }),
    ({ running }) => Effect.sync(() => void running.kill("SIGKILL"))
  )

const source = (name: string): ReadonlyArray<string> => [
  "--conditions=@fixpoint/source",
  path.join(import.meta.dirname, "../src/bin", name)
]

const apiserver = (...args: ReadonlyArray<string>) => start(process.execPath, [...source("apiserver.ts"), ...args])
const kubeApiserver = (...args: ReadonlyArray<string>) =>
  start(process.execPath, [...source("kubeApiserver.ts"), ...args])

/** How a kubeconfig says to reach its server. */
const reach = (file: string) => {
  const { clusters, users } = JSON.parse(fs.readFileSync(file, "utf8"))
  const { server, "certificate-authority-data": ca = "" } = clusters[0].cluster
  return {
    url: server as string,
    port: Number(new URL(server).port),
    ca: Buffer.from(ca, "base64").toString(),
    token: users[0].user.token as string
  }
}

const freePort = Effect.callback<number>((resume) => {
  const server = net.createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address() as net.AddressInfo
    server.close(() => resume(Effect.succeed(port)))
  })
})

describe("npm run apiserver", () => {
  it.live("prints how to reach it, serves the given kinds, and leaves nothing behind when it is told to end", () =>
    Effect.gen(function* () {
      const manifests = yield* folder
      fs.writeFileSync(path.join(manifests, "a.json"), JSON.stringify({ kind: "List", items: [widgetCrd()] }))
      fs.writeFileSync(path.join(manifests, "b.yaml"), "kind: Kustomization\n---\n")
      const program = yield* apiserver("--crds", manifests, "--audit")
      yield* until("it is up", () => program.out().includes("is up"))
      const file = /^export KUBECONFIG=(.*)$/m.exec(program.out())![1]!
      assert.strictEqual(fs.statSync(file).mode & 0o777, 0o600)
      const widgets = yield* ask(reach(file), "GET", "/apis/facts.example.com/v1/widgets", {
        headers: { "user-agent": "test" }
      })
      assert.strictEqual(widgets.json.kind, "WidgetList")
      yield* until("the audit tells it", () => /^GET \/apis\/facts.* 200 .* by admin \(test\)$/m.test(program.out()))
      program.running.kill("SIGTERM")
      yield* until("it has ended", () => program.ended() !== undefined)
      assert.deepStrictEqual([program.ended(), program.err(), fs.existsSync(file)], ["0", "", false])
    }).pipe(Effect.scoped)
  )

  it.live("a mistake is one line that says what to do, and exit code 2", () =>
    Effect.gen(function* () {
      const empty = yield* folder
      const broken = yield* folder
      fs.writeFileSync(path.join(broken, "a.yaml"), "kind: [\n")
      const refused = yield* folder
      const { spec: _, ...headless } = widgetCrd() as { readonly spec?: unknown }
      fs.writeFileSync(path.join(refused, "a.json"), JSON.stringify(headless))
      const taken = yield* Effect.acquireRelease(
        Effect.callback<net.Server>((resume) => {
          const server = net.createServer().listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
        }),
        (server) => Effect.sync(() => void server.close())
      )
      const { port } = taken.address() as net.AddressInfo
      const mistakes: ReadonlyArray<readonly [ReadonlyArray<string>, string]> = [
        [["--port", "x"], "apiserver: --port x: give a number from 0 to 65535 (see --help)"],
        [["--nope"], "apiserver: Unknown option '--nope' (see --help)"],
        [
          ["--crds", empty],
          `apiserver: --crds: ${empty}: no CustomResourceDefinition in its .yaml, .yml and .json files`
        ],
        [["--crds", broken], `apiserver: --crds: ${path.join(broken, "a.yaml")}: `],
        [
          ["--crds", refused],
          "apiserver: create customresourcedefinitions.apiextensions.k8s.io widgets.facts.example.com: "
        ],
        [
          ["--kubeconfig", path.join(empty, "no/such")],
          `apiserver: --kubeconfig ${path.join(empty, "no/such")}: ENOENT`
        ],
        [["--port", String(port)], `apiserver: the API server cannot listen: port ${port} of 127.0.0.1 is taken`]
      ]
      yield* Effect.forEach(
        mistakes,
        ([args, said]) =>
          Effect.gen(function* () {
            const program = yield* apiserver(...args)
            yield* until("it has ended", () => program.ended() !== undefined)
            assert.strictEqual(program.err().slice(0, said.length), said)
            assert.deepStrictEqual([program.ended(), program.out(), program.err().split("\n").length], ["2", "", 2])
          }),
        { concurrency: 2 }
      )
    }).pipe(Effect.scoped)
  )
})

describe("the kube-apiserver of a folder of assets", () => {
  it.live("it starts as the real one is started for tests, and keeps its certificate for the next start", () =>
    Effect.gen(function* () {
      const home = yield* folder
      const writing = yield* apiserver("--assets", home)
      yield* until("the folder is written", () => writing.ended() === "0")
      const tokens = path.join(home, "tokens.csv")
      fs.writeFileSync(tokens, 'secret,admin,admin,"system:masters"\n')
      const certs = path.join(home, "certs")
      const port = yield* freePort
      const flags = [
        "--etcd-servers=http://127.0.0.1:1",
        "--secure-port",
        String(port),
        "--bind-address",
        "127.0.0.1",
        `--cert-dir=${certs}`,
        "--token-auth-file",
        tokens,
        "--authorization-mode=RBAC",
        "--disable-admission-plugins",
        "ServiceAccount",
        "--allow-privileged=true",
        "--made-up=1",
        "--made-up=2"
      ]
      const first = yield* start(path.join(home, "kube-apiserver"), flags)
      yield* until("it serves", () => first.err().includes("serving on"))
      const ca = fs.readFileSync(path.join(certs, "apiserver.crt"), "utf8")
      assert.strictEqual(fs.statSync(path.join(certs, "apiserver.key")).mode & 0o777, 0o600)
      const where = { url: `https://127.0.0.1:${port}`, port, ca, token: "secret" }
      assert.strictEqual((yield* ask(where, "GET", "/readyz")).text, "ok")
      assert.strictEqual((yield* ask(where, "GET", "/api/v1/namespaces/default")).code, 200)
      assert.strictEqual(first.err().split("unknown flags, ignored: --made-up\n").length, 2)
      first.running.kill("SIGTERM")
      yield* until("it has ended", () => first.ended() === "0")
      const second = yield* kubeApiserver(...flags)
      yield* until("it serves again", () => second.err().includes("serving on"))
      assert.strictEqual((yield* ask(where, "GET", "/readyz")).text, "ok")
    }).pipe(Effect.scoped)
  )

  it("flags are read with and without an equals sign, and what a test tool gives is known", () => {
    const { unknown, values } = parseKubeFlags([
      "--a=b=c",
      "--d",
      "e",
      "--f",
      "--etcd-servers",
      "x",
      "-v=2",
      "stray",
      "--f"
    ])
    assert.deepStrictEqual(
      [...values],
      [
        ["a", "b=c"],
        ["d", "e"],
        ["f", "true"],
        ["etcd-servers", "x"],
        ["v", "2"]
      ]
    )
    assert.deepStrictEqual(unknown, ["a", "d", "f"])
  })

  it("a token file may have quotes, comments and empty lines, and a line that is none is named", () => {
    assert.deepStrictEqual(parseTokens('# all\na,ann,1,"x,y"\n\nb,"bob ""b""",2\r\nc,carol,3,z\n'), [
      { token: "a", user: "ann", groups: ["x", "y"] },
      { token: "b", user: 'bob "b"', groups: [] },
      { token: "c", user: "carol", groups: ["z"] }
    ])
    assert.throws(() => parseTokens("a,b\nc\n"), "line 2 is not token,user,uid")
  })
})
