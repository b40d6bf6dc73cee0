/** The files that a control plane is started with. */
import * as crypto from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import type { User } from "../ControlPlane.ts"

/** Where everything of one control plane is. */
export interface Ground {
  readonly folder: string
  readonly etcdUrl: string
  readonly peerUrl: string
  readonly port: number
  readonly url: string
  readonly certs: string
  /** Written by the API server when it starts. */
  readonly ca: string
  readonly key: string
  readonly tokens: string
  readonly token: string
  readonly users: Readonly<Record<string, string>>
  readonly kubeconfig: string
}

const secret = (): string => crypto.randomBytes(24).toString("hex")
const at = (port: number | undefined): string => `127.0.0.1:${port}`

/** Writes the signing key, the token file and the kubeconfig into the folder. Three ports: etcd, its peers (none), the API server. */
export const prepare = (
  folder: string,
  [etcd, peer, port]: ReadonlyArray<number>,
  further: ReadonlyArray<User>
): Effect.Effect<Ground> =>
  Effect.sync(() => {
    const token = secret()
    const users = Object.fromEntries(further.map((user) => [user.name, secret()]))
    const certs = path.join(folder, "certs")
    const ground: Ground = {
      folder,
      etcdUrl: `http://${at(etcd)}`,
      peerUrl: `http://${at(peer)}`,
      port: port!,
      url: `https://${at(port)}`,
      certs,
      ca: path.join(certs, "apiserver.crt"),
      key: path.join(folder, "service-account.key"),
      tokens: path.join(folder, "tokens.csv"),
      token,
      users,
      kubeconfig: path.join(folder, "kubeconfig")
    }
    const { privateKey } = crypto.generateKeyPairSync("ec", { namedCurve: "P-256" })
    write(ground.key, privateKey.export({ type: "sec1", format: "pem" }).toString())
    const lines = [
      `${token},admin,admin,"system:masters"`,
      ...further.map((user) => `${users[user.name]},${user.name},${user.name},"${user.groups.join(",")}"`)
    ]
    write(ground.tokens, `${lines.join("\n")}\n`)
    write(ground.kubeconfig, JSON.stringify(kubeconfig(ground), null, 2))
    return ground
  })

const write = (file: string, text: string): void => fs.writeFileSync(file, text, { mode: 0o600 })

/** JSON is YAML. The authority is named by path: it does not exist yet. */
const kubeconfig = (ground: Ground) => ({
  apiVersion: "v1",
  kind: "Config",
  "current-context": "test",
  clusters: [{ name: "test", cluster: { server: ground.url, "certificate-authority": ground.ca } }],
  users: [{ name: "admin", user: { token: ground.token } }],
  contexts: [{ name: "test", context: { cluster: "test", user: "admin" } }]
})
