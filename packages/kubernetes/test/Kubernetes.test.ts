import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { assert, describe, it, vi } from "@effect/vitest"
import { ApiClient } from "@fixpoint/core/ApiClient"
import { OwnNamespace } from "@fixpoint/core/OwnNamespace"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import { TestClock } from "effect/testing"
import * as Kubernetes from "../src/Kubernetes.ts"
import type { KubernetesError } from "../src/KubernetesError.ts"
import { makeCertificate } from "@fixpoint/apiserver/Certificate"
import { configMap, configMaps, json, serve } from "./scriptedServer.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "fixpoint-kubeconfig-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

const nowhere: Kubernetes.Surroundings = { env: {}, home: "/nonexistent", folder: "/nonexistent" }

interface Written {
  readonly server?: string
  readonly cluster?: object
  readonly user?: object
  readonly context?: object
  readonly current?: string | undefined
}

const kubeconfig = ({ cluster = {}, context = {}, current = "main", server, user = {} }: Written): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": current,
    clusters: [{ name: "c", cluster: { server, ...cluster } }],
    users: [{ name: "u", user }],
    contexts: [{ name: "main", context: { cluster: "c", user: "u", ...context } }]
  })

const get = ApiClient.use((api) => api.get(configMaps, { namespace: "team", name: "a" }))

const run = <A, E>(effect: Effect.Effect<A, E, ApiClient>, options: Kubernetes.Options, surroundings = nowhere) =>
  Effect.provide(effect, Kubernetes.layerWith(options, surroundings), { local: true })

const failureOf = (options: Kubernetes.Options, surroundings = nowhere) =>
  Effect.flip(run(Effect.void as Effect.Effect<void, KubernetesError, ApiClient>, options, surroundings))

/** A server that echoes who came. */
const mirror = serve((asked, response) =>
  json(response, 200, { ...configMap("a"), data: { authorization: asked.headers.authorization ?? "" } })
)

describe("Kubernetes", () => {
  it.live("without any configuration the error names all that was looked for", () =>
    Effect.gen(function* () {
      const error = yield* failureOf({})
      assert.strictEqual(error.reason, "NotConfigured")
      assert.strictEqual(
        error.message,
        "no cluster is configured: KUBECONFIG is not set, there is no /nonexistent/.kube/config, and this is no Pod (KUBERNETES_SERVICE_HOST is not set): set KUBECONFIG to the path of a kubeconfig"
      )
      const missing = yield* failureOf({}, { ...nowhere, env: { KUBECONFIG: `/x${delimiter}/y` } })
      assert.include(missing.message, "KUBECONFIG names no file that exists (/x, /y)")
    })
  )

  it.live("looks at options, then KUBECONFIG, then the home folder, then the Pod", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const at = (name: string, token: string) => {
        writeFileSync(join(path, name), kubeconfig({ server: server.url, user: { token } }))
        return join(path, name)
      }
      const server = yield* mirror
      mkdirSync(join(path, ".kube"))
      const option = at("option", "option")
      const env = at("env", "env")
      at(join(".kube", "config"), "home")
      const pod = { KUBERNETES_SERVICE_HOST: "127.0.0.1", KUBERNETES_SERVICE_PORT: "1" }
      const who = (options: Kubernetes.Options, surroundings: Partial<Kubernetes.Surroundings>) =>
        Effect.map(
          run(get, options, { ...nowhere, ...surroundings }),
          ({ data }) => (data as { authorization: string }).authorization
        )
      const all = { env: { ...pod, KUBECONFIG: env }, home: path }
      assert.strictEqual(yield* who({ server: server.url, token: Redacted.make("plain") }, all), "Bearer plain")
      assert.strictEqual(yield* who({ kubeconfig: option }, all), "Bearer option")
      assert.strictEqual(yield* who({}, all), "Bearer env")
      assert.strictEqual(yield* who({}, { ...all, env: pod }), "Bearer home")
      const last = yield* failureOf({}, { ...nowhere, env: pod })
      assert.include(last.message, "/nonexistent/token")
    })
  )

  it.live("the layer without options looks in the process, each time that it is built", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const server = yield* mirror
      writeFileSync(join(path, "config"), kubeconfig({ server: server.url, user: { token: "own" } }))
      vi.stubEnv("KUBECONFIG", join(path, "config"))
      const object = yield* Effect.provide(get, Kubernetes.layer, { local: true })
      vi.stubEnv("KUBECONFIG", join(path, "missing"))
      const error = yield* Effect.flip(Effect.provide(get, Kubernetes.layer, { local: true }))
      vi.unstubAllEnvs()
      assert.deepStrictEqual(object.data, { authorization: "Bearer own" })
      assert.include(error.message, "KUBECONFIG names no file that exists")
    })
  )

  it.live("in a Pod only the Pod's environment counts, and the error says what it lacks", () =>
    Effect.gen(function* () {
      const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443", KUBECONFIG: "/nonexistent" }
      const of = (surroundings: Kubernetes.Surroundings) =>
        Effect.flip(Effect.provide(get, Kubernetes.layerInCluster({}, surroundings), { local: true }))
      assert.strictEqual(
        (yield* of({ ...nowhere, env })).message,
        "cannot read /nonexistent/token of the service account: there is no such file (ENOENT); is automountServiceAccountToken off?"
      )
      assert.strictEqual(
        (yield* of(nowhere)).message,
        "this is no Pod (KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set): run it in one, or give a kubeconfig"
      )
    })
  )

  it.live("files of KUBECONFIG are merged: the first that names a thing wins, missing ones are passed over", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const server = yield* mirror
      writeFileSync(join(path, "one"), kubeconfig({ server: server.url, user: { token: "one" }, current: "" }))
      writeFileSync(join(path, "two"), kubeconfig({ server: "http://127.0.0.1:1", user: { token: "two" } }))
      const KUBECONFIG = [join(path, "missing"), join(path, "one"), join(path, "two")].join(delimiter)
      const object = yield* run(get, {}, { ...nowhere, env: { KUBECONFIG } })
      assert.deepStrictEqual(object.data, { authorization: "Bearer one" })
    })
  )

  it.live(
    "the operator lives in the namespace of whatever lets it in: the context's, else the service account's file, else default; an option replaces it (P14)",
    () =>
      Effect.gen(function* () {
        const path = yield* folder
        const file = join(path, "config")
        const own = OwnNamespace as unknown as Effect.Effect<string>
        const server = "http://127.0.0.1:1"
        writeFileSync(file, kubeconfig({ server, context: { namespace: "operators" } }))
        assert.strictEqual(yield* run(own, { kubeconfig: file }), "operators")
        assert.strictEqual(yield* run(own, { kubeconfig: file, namespace: "other" }), "other")
        writeFileSync(file, kubeconfig({ server }))
        assert.strictEqual(yield* run(own, { kubeconfig: file }), "default")
        assert.strictEqual(yield* run(own, { server }), "default")

        const env = { KUBERNETES_SERVICE_HOST: "127.0.0.1", KUBERNETES_SERVICE_PORT: "1" }
        const pod = { ...nowhere, env, folder: path }
        const { cert } = makeCertificate("server")
        writeFileSync(join(path, "token"), "secret")
        writeFileSync(join(path, "ca.crt"), cert)
        // Not mounted, empty, and as kubelet writes it.
        assert.strictEqual(yield* run(own, {}, pod), "default")
        writeFileSync(join(path, "namespace"), "\n")
        assert.strictEqual(yield* run(own, {}, pod), "default")
        writeFileSync(join(path, "namespace"), "access-system\n")
        assert.strictEqual(yield* run(own, {}, pod), "access-system")
        assert.strictEqual(yield* run(own, { namespace: "other" }, pod), "other")
        // A kubeconfig that is found first counts alone, with the Pod's file beside it.
        assert.strictEqual(yield* run(own, {}, { ...pod, env: { ...env, KUBECONFIG: file } }), "default")
        // Without any of them, as over a server in memory.
        assert.strictEqual(yield* own, "default")
      })
  )

  it.live("a kubeconfig with a client certificate, an authority and another server name works over TLS", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const [server, client] = [makeCertificate("server"), makeCertificate("client")]
      const scripted = yield* serve((_, response) => json(response, 200, configMap("a")), server)
      writeFileSync(join(path, "ca.pem"), server.cert)
      const file = join(path, "config")
      writeFileSync(
        file,
        kubeconfig({
          server: scripted.url,
          cluster: { "certificate-authority": "ca.pem", "tls-server-name": "localhost" },
          user: {
            "client-certificate-data": Buffer.from(client.cert).toString("base64"),
            "client-key-data": Buffer.from(client.key).toString("base64")
          }
        })
      )
      assert.strictEqual((yield* run(get, { kubeconfig: file })).metadata.name, "a")
      // A context without a user still trusts the cluster's authority.
      writeFileSync(
        file,
        kubeconfig({
          server: scripted.url,
          cluster: { "certificate-authority": "ca.pem" },
          context: { user: undefined }
        })
      )
      assert.strictEqual((yield* run(get, { kubeconfig: file })).metadata.name, "a")
    })
  )

  it.live("a plugin is run once, and again when its token is refused (B22)", () =>
    Effect.gen(function* () {
      const path = yield* folder
      let wanted = "t1"
      const server = yield* serve((asked, response) =>
        asked.headers.authorization === `Bearer ${wanted}`
          ? json(response, 200, configMap("a"))
          : json(response, 401, {})
      )
      const plugin = join(path, "plugin.mjs")
      const log = join(path, "log")
      writeFileSync(join(path, "token"), "t1")
      writeFileSync(log, "")
      writeFileSync(
        plugin,
        `import { appendFileSync, readFileSync } from "node:fs"
         appendFileSync(${JSON.stringify(log)}, "run\\n")
         const token = readFileSync(${JSON.stringify(join(path, "token"))}, "utf8")
         console.log(JSON.stringify({ apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status: { token } }))`
      )
      const file = join(path, "config")
      const exec = { apiVersion: "client.authentication.k8s.io/v1", command: process.execPath, args: [plugin] }
      writeFileSync(file, kubeconfig({ server: server.url, user: { exec } }))
      yield* run(
        Effect.gen(function* () {
          yield* get
          yield* get
          assert.strictEqual(readFileSync(log, "utf8"), "run\n")
          wanted = "t2"
          writeFileSync(join(path, "token"), "t2")
          // Not again within 5 s of its last run.
          assert.strictEqual((yield* Effect.flip(get)).reason._tag, "Unauthorized")
          yield* Effect.sleep("5 seconds")
          yield* get
          assert.strictEqual(readFileSync(log, "utf8"), "run\nrun\n")
        }),
        { kubeconfig: file }
      )
    })
  )

  it.effect("a plugin that does not end is given up after a minute", () =>
    Effect.gen(function* () {
      const file = join(yield* folder, "config")
      const exec = {
        apiVersion: "client.authentication.k8s.io/v1",
        command: process.execPath,
        args: ["--eval", "setTimeout(() => {}, 8000)"]
      }
      writeFileSync(file, kubeconfig({ server: "http://127.0.0.1:1", user: { exec } }))
      const building = yield* Effect.forkChild(failureOf({ kubeconfig: file }))
      // The file is read and the plugin started in real time, the minute is the test clock's.
      for (let i = 0; i < 60 && building.pollUnsafe() === undefined; i++) {
        yield* TestClock.withLive(Effect.sleep("50 millis"))
        yield* TestClock.adjust("61 seconds")
      }
      const error = yield* Fiber.join(building)
      assert.strictEqual(
        error.message.replace(file, "F"),
        "no credentials from the kubeconfig F: its plugin did not end within 60 s"
      )
    })
  )

  const one = makeCertificate("one")
  const other = makeCertificate("other")
  const withPlugin = (command: string, ...args: ReadonlyArray<string>): string =>
    kubeconfig({
      server: "https://x",
      user: {
        exec: { apiVersion: "client.authentication.k8s.io/v1", command, args, installHint: "see the manual\n" }
      }
    })

  const faults: ReadonlyArray<readonly [what: string, text: string, message: string]> = [
    [
      "YAML that is none",
      "users:\n- name: u\n  user: {token: s3cr3t, x: [}\n",
      "the kubeconfig F is malformed: it is not YAML: missed comma between flow collection entries in line 3"
    ],
    ["a list", "[]", "the kubeconfig F is malformed: it has no clusters, users and contexts"],
    ["nothing", "", "the kubeconfig F is malformed: it is empty"],
    ["a word", "hello", "the kubeconfig F is malformed: it has no clusters, users and contexts"],
    [
      "a token that YAML takes for a reference",
      "token: *s3cr3t",
      'the kubeconfig F is malformed: it is not YAML: unidentified alias "..." in line 1'
    ],
    [
      "a token that YAML takes for a tag",
      "token: !s3cr3t",
      "the kubeconfig F is malformed: it is not YAML: unknown scalar tag ... in line 1"
    ],
    [
      "no current context",
      kubeconfig({ server: "http://x", current: "" }),
      "the kubeconfig F has no current-context: choose one by kubectl config use-context, or by the option context (it has main)"
    ],
    [
      "an unknown context",
      kubeconfig({ server: "http://x", current: "other" }),
      "the kubeconfig F has no context other: choose another (it has main)"
    ],
    [
      "an unknown cluster",
      kubeconfig({ server: "http://x", context: { cluster: "gone" } }),
      "the context main of the kubeconfig F names the cluster gone, which is not in it (it has c)"
    ],
    [
      "an unknown user",
      kubeconfig({ server: "http://x", context: { user: "gone" } }),
      "the context main of the kubeconfig F names the user gone, who is not in it (it has u)"
    ],
    ["no server", kubeconfig({}), "the kubeconfig F is malformed: clusters[0].cluster.server is missing"],
    [
      "a server that is no URL",
      kubeconfig({ server: "not a url" }),
      "the cluster c of the kubeconfig F has a server that is no URL: it must be https://host:port"
    ],
    [
      "a proxy of another kind",
      kubeconfig({ server: "https://x", cluster: { "proxy-url": "socks5://127.0.0.1:1" } }),
      "the cluster c of the kubeconfig F has a proxy-url that is not http or https; no other is supported"
    ],
    [
      "a key file that is away",
      kubeconfig({ server: "https://x", user: { "client-certificate": "gone.pem", "client-key": "gone.key" } }),
      "no credentials from the kubeconfig F: cannot read the client-certificate D/gone.pem: there is no such file (ENOENT)"
    ],
    [
      "another manifest",
      "apiVersion: v1\nkind: Secret\ndata: {token: s3cr3t}\n",
      "the kubeconfig F is malformed: it is a manifest of kind Secret"
    ],
    ["users that are no list", "users: s3cr3t\n", "the kubeconfig F is malformed: users is not a list"],
    [
      "a user without a name",
      "users: [{user: {token: s3cr3t}}]\n",
      "the kubeconfig F is malformed: users[0].name is missing"
    ],
    [
      "a name that YAML takes for a number",
      "users: [{name: 7, user: {token: s3cr3t}}]\n",
      "the kubeconfig F is malformed: users[0].name is no text: put it in quotes"
    ],
    [
      "an authority that is not base64",
      kubeconfig({ server: "https://x", cluster: { "certificate-authority-data": "-----BEGIN" } }),
      "no credentials from the kubeconfig F: its certificate-authority-data is not base64: encode the PEM file with base64"
    ],
    [
      "an authority that is no certificate",
      kubeconfig({ server: "https://x", cluster: { "certificate-authority-data": btoa("s3cr3t") } }),
      "no credentials from the kubeconfig F: its certificate-authority-data is no PEM certificate"
    ],
    [
      "a certificate without its key",
      kubeconfig({ server: "https://x", user: { "client-certificate-data": btoa(one.cert) } }),
      "no credentials from the kubeconfig F: its user has a client-certificate but no client-key: they belong together"
    ],
    [
      "the key of another certificate",
      kubeconfig({
        server: "https://x",
        user: { "client-certificate-data": btoa(one.cert), "client-key-data": btoa(other.key) }
      }),
      "no credentials from the kubeconfig F: the client-key of its user is not that of the client-certificate"
    ],
    [
      "a token file that is away",
      kubeconfig({ server: "https://x", user: { tokenFile: "gone" } }),
      "no credentials from the kubeconfig F: cannot read the tokenFile D/gone: there is no such file (ENOENT)"
    ],
    [
      "a plugin that is away",
      withPlugin("no-such-plugin"),
      "no credentials from the kubeconfig F: the exec plugin no-such-plugin is not there: install it, or put it on the PATH of this process; see the manual"
    ],
    [
      "a plugin that fails",
      withPlugin("sh", "-c", "echo s3cr3t; echo log in >&2; echo first >&2; exit 3"),
      "no credentials from the kubeconfig F: the exec plugin sh ended with 3: log in first"
    ],
    [
      "a plugin that fails without a word",
      withPlugin("false"),
      "no credentials from the kubeconfig F: the exec plugin false ended with 1: it said nothing on stderr"
    ],
    [
      "a plugin that prints something else",
      withPlugin("echo", "s3cr3t"),
      "no credentials from the kubeconfig F: the exec plugin echo printed no JSON: it must print an ExecCredential"
    ],
    [
      "a plugin that prints no credential",
      withPlugin("echo", '{"status":{"note":"s3cr3t"}}'),
      "no credentials from the kubeconfig F: the exec plugin echo printed an ExecCredential without a token or certificate in its status"
    ]
  ]
  it.live.each(faults)("a kubeconfig with %s is told in one line without its contents", ([, text, message]) =>
    Effect.gen(function* () {
      const file = join(yield* folder, "config")
      writeFileSync(file, text)
      const error = yield* failureOf({ kubeconfig: file })
      assert.strictEqual(error.message.replaceAll(file, "F").replaceAll(dirname(file), "D"), message)
      assert.notInclude(error.message, "s3cr3t")
    })
  )

  it.live("options that do not go together are told", () =>
    Effect.gen(function* () {
      const one = yield* failureOf({ server: "ftp://x" })
      const two = yield* failureOf({ server: "https://x", cert: "c" })
      assert.deepStrictEqual(
        [one.message, two.message],
        [
          "the option server is not a http or https URL: ftp://x",
          "the options cert and key belong together: one is missing"
        ]
      )
      const user = yield* failureOf({ server: "https://me:s3cr3t@x" })
      assert.strictEqual(user.message, "the option server holds a user: give a token or a certificate")
      const limits: ReadonlyArray<Kubernetes.Options> = [
        { requestTimeout: "Infinity" },
        { requestTimeout: 0 },
        { idleLimit: -1 },
        { connections: 0 },
        { connections: 1.5 }
      ]
      for (const options of limits) {
        assert.match((yield* failureOf({ server: "https://x", ...options })).message, /^the option \w+ is not /)
      }
      const three = yield* failureOf({ kubeconfig: "/nonexistent/config" })
      assert.strictEqual(
        three.message,
        "cannot read the kubeconfig /nonexistent/config: there is no such file (ENOENT)"
      )
    })
  )

  /** What a program of its own loads of client-node, and of undici's front door, until its Layer is built. */
  const loadedFor = (options: Kubernetes.Options): ReadonlyArray<string> => {
    const program = `
      import { registerHooks } from "node:module"
      const seen = []
      registerHooks({ resolve(specifier, context, next) { seen.push(specifier); return next(specifier, context) } })
      const { Kubernetes } = await import("@fixpoint/kubernetes")
      const Effect = await import("effect/Effect")
      const Layer = await import("effect/Layer")
      await Effect.runPromise(Effect.scoped(Layer.build(Kubernetes.layerWith(${JSON.stringify(options)}))))
      console.log(JSON.stringify(seen.filter((s) => s === "undici" || s === "js-yaml" || s.includes("client-node"))))
    `
    const output = execFileSync(
      process.execPath,
      ["--conditions=@fixpoint/source", "--input-type=module", "--eval", program],
      { cwd: join(import.meta.dirname, ".."), encoding: "utf8", timeout: 30_000 }
    )
    return [...new Set<string>(JSON.parse(output))]
  }

  it("client-node is loaded for old auth-providers only, since it costs 0.4 s and 80 MiB: not for a server, a token or a plugin", () => {
    assert.deepStrictEqual(loadedFor({ server: "http://127.0.0.1:1" }), [])
    const directory = mkdtempSync(join(tmpdir(), "fixpoint-kubeconfig-"))
    const written = (user: object): string => {
      const path = join(directory, "config")
      writeFileSync(path, kubeconfig({ server: "https://127.0.0.1:1", user }))
      return path
    }
    assert.deepStrictEqual(loadedFor({ kubeconfig: written({ token: "t" }) }), ["js-yaml"])
    const credential = { apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status: { token: "t" } }
    const exec = { apiVersion: credential.apiVersion, command: "echo", args: [JSON.stringify(credential)] }
    assert.deepStrictEqual(loadedFor({ kubeconfig: written({ exec }) }), ["js-yaml"])
    const provider = { name: "custom", config: { "cmd-path": "echo", "token-key": "{.t}", "access-token": "t" } }
    const byProvider = loadedFor({ kubeconfig: written({ "auth-provider": provider }) })
    assert.includeMembers([...byProvider], ["@kubernetes/client-node"])
    rmSync(directory, { recursive: true })
  })
})
