/** Requests counted as kube-apiserver counts them, in the text that Prometheus reads. */
import type { Target } from "./path.ts"

export interface Metrics {
  readonly count: (target: Target, verb: string, code: number) => void
  readonly text: () => string
}

/** How the verbs of access are called in metrics. */
const verbs: Readonly<Record<string, string>> = { create: "POST", update: "PUT" }

/** Names that clients make up must not fill the memory: past this many series, new ones are counted as one. */
const seriesMost = 10_000

const escaped = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")

export const make = (): Metrics => {
  const counts = new Map<string, number>()
  const labelsOf = (target: Target, verb: string, code: number): string => {
    const resource = target._tag === "Resource" ? target : undefined
    const { group = "", namespace, name, plural = "", subresource = "", version = "" } = resource ?? {}
    const scope =
      resource === undefined ? "" : name !== undefined ? "resource" : namespace !== undefined ? "namespace" : "cluster"
    const labels = {
      code,
      component: "apiserver",
      dry_run: "",
      group,
      resource: plural,
      scope,
      subresource,
      verb: verbs[verb] ?? verb.toUpperCase(),
      version
    }
    return Object.entries(labels)
      .map(([label, value]) => `${label}="${escaped(String(value))}"`)
      .join(",")
  }
  return {
    count: (target, verb, code) => {
      const labels = labelsOf(target, verb, code)
      const key = counts.has(labels) || counts.size < seriesMost ? labels : 'code="0",verb="other"'
      counts.set(key, (counts.get(key) ?? 0) + 1)
    },
    text: () =>
      [
        "# HELP apiserver_request_total [STABLE] Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, and HTTP response code.",
        "# TYPE apiserver_request_total counter",
        ...[...counts].map(([labels, count]) => `apiserver_request_total{${labels}} ${count}`),
        ""
      ].join("\n")
  }
}
