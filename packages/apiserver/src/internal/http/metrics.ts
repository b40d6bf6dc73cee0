/** Requests counted as kube-apiserver counts them, in the text that Prometheus reads. */
import type { Target } from "./path.ts"

export interface Metrics {
  readonly count: (target: Target, verb: string, code: number) => void
  readonly text: () => string
}

interface Series {
  readonly target: Target | undefined
  readonly verb: string
  readonly code: number
  count: number
}

/** How the verbs of access are called in metrics. */
const verbs: Readonly<Record<string, string>> = { create: "POST", update: "PUT" }

/** Names that clients make up must not fill the memory: past this many series, new ones are counted as one. */
const seriesMost = 10_000

const escaped = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")

const scopeOf = (target: Target | undefined): string => {
  if (target?._tag !== "Resource") return ""
  return target.name !== undefined ? "resource" : target.namespace !== undefined ? "namespace" : "cluster"
}

const lineOf = ({ code, count, target, verb }: Series): string => {
  const { group = "", plural = "", subresource = "", version = "" } = target?._tag === "Resource" ? target : {}
  const labels = {
    code,
    component: "apiserver",
    dry_run: "",
    group,
    resource: plural,
    scope: scopeOf(target),
    subresource,
    verb: verbs[verb] ?? verb.toUpperCase(),
    version
  }
  const text = Object.entries(labels).map(([label, value]) => `${label}="${escaped(String(value))}"`)
  return `apiserver_request_total{${text.join(",")}} ${count}`
}

const head = [
  "# HELP apiserver_request_total [STABLE] Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, and HTTP response code.",
  "# TYPE apiserver_request_total counter"
]

export const make = (): Metrics => {
  const series = new Map<string, Series>()
  const others: Series = { target: undefined, verb: "other", code: 0, count: 0 }
  return {
    count: (target, verb, code) => {
      const where =
        target._tag === "Resource"
          ? `${target.group}/${target.version}/${target.plural}/${target.subresource ?? ""}/${scopeOf(target)}`
          : ""
      const key = `${verb} ${code} ${where}`
      const known = series.get(key)
      if (known !== undefined) known.count++
      else if (series.size >= seriesMost) others.count++
      else series.set(key, { target, verb, code, count: 1 })
    },
    text: () => [...head, ...[...series.values(), ...(others.count > 0 ? [others] : [])].map(lineOf), ""].join("\n")
  }
}
