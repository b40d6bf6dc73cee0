/** The text of a kubeconfig. JSON is YAML. */
import type { Token } from "../../Listener.ts"

/** Self-contained: no path of a file in it. */
export const kubeconfigOf = (url: string, ca: string | undefined, { token, user }: Token): string => {
  const authority = ca === undefined ? {} : { "certificate-authority-data": Buffer.from(ca).toString("base64") }
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "fixpoint",
    clusters: [{ name: "fixpoint", cluster: { server: url, ...authority } }],
    users: [{ name: user, user: { token } }],
    contexts: [{ name: "fixpoint", context: { cluster: "fixpoint", user, namespace: "default" } }]
  }
  return `${JSON.stringify(config, null, 2)}\n`
}
