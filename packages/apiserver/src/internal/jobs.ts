/** Jobs and autoscalers: what a server fills in. Nobody runs the ones or heeds the others. */
import type { KubeObject } from "@fixpoint/core/KubeObject"
import type { KindRules } from "./definition.ts"
import { equals, isList, isObject, type JsonObject } from "./json.ts"
import { fieldInvalid } from "./refusal.ts"
import { podRules } from "./workloads.ts"

const object = (value: unknown): JsonObject => (isObject(value) ? value : {})

type Labels = Readonly<Record<string, string>>

/** The labels by which a Job knows its Pods, in their older names too. */
const labelsOf = ({ metadata: { name, uid } }: KubeObject): Labels => ({
  "batch.kubernetes.io/controller-uid": uid,
  "batch.kubernetes.io/job-name": name,
  "controller-uid": uid,
  "job-name": name
})

/** Selects by the Job's uid, unless the selector is its author's business. */
const withSelector = (job: KubeObject): JsonObject => {
  const spec = object(job.spec)
  if (spec.manualSelector === true) return spec
  const template = object(spec.template)
  const metadata = object(template.metadata)
  const selector = object(spec.selector)
  return {
    ...spec,
    selector: {
      ...selector,
      matchLabels: { "batch.kubernetes.io/controller-uid": job.metadata.uid, ...object(selector.matchLabels) }
    },
    template: { ...template, metadata: { ...metadata, labels: { ...labelsOf(job), ...object(metadata.labels) } } }
  }
}

const common = podRules(["template", "spec"], undefined, true)

/** One Pod, once, unless it says how many; labelled as they are. What CronJobs make Jobs of has none of this yet. */
const withDefaults = (job: KubeObject): KubeObject => {
  const { spec } = job
  if (!isObject(spec)) return job
  const { completions, parallelism } = spec
  const own = object(job.metadata.labels)
  const labels = Object.keys(own).length > 0 ? own : object(object(object(spec.template).metadata).labels)
  return {
    ...job,
    metadata: { ...job.metadata, ...(Object.keys(labels).length > 0 && { labels: labels as Labels }) },
    spec: {
      backoffLimit: 6,
      completionMode: "NonIndexed",
      manualSelector: false,
      podReplacementPolicy: isObject(spec.podFailurePolicy) ? "Failed" : "TerminatingOrFailed",
      suspend: false,
      ...spec,
      ...(completions === undefined && parallelism === undefined && { completions: 1 }),
      parallelism: parallelism ?? 1
    }
  }
}

export const jobRules: KindRules = {
  ...common,
  defaults: (job) => withDefaults(common.defaults!(job)),
  prepare: (job, live) => {
    if (live !== undefined) return job
    const spec = withSelector(job)
    // The labels that came from the template are those of the template.
    const isShared = equals(job.metadata.labels, object(object(object(job.spec).template).metadata).labels)
    const labels = object(object(spec.template).metadata).labels as Labels
    return { ...job, ...(isShared && { metadata: { ...job.metadata, labels } }), spec, status: object(job.status) }
  }
}

const made = podRules(["jobTemplate", "spec", "template", "spec"], undefined, true)

export const cronJobRules: KindRules = {
  ...made,
  validate: (job, live, request) => {
    if (request.subresource === "status") return []
    const { schedule } = object(job.spec)
    const fields = String(schedule ?? "")
      .split(/\s+/)
      .filter((field) => field !== "")
    const isFive = fields.length === 5 || String(schedule).startsWith("@")
    const told = fields.length === 0 ? "" : ` [${fields.join(" ")}]`
    return [
      ...made.validate!(job, live, request),
      ...(isFive
        ? []
        : [fieldInvalid("spec.schedule", schedule ?? "", `expected exactly 5 fields, found ${fields.length}:${told}`)])
    ]
  }
}

/** By the processor, at four fifths, unless it says by what. */
const usual: JsonObject = {
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } }
}

export const autoscalerRules: KindRules = {
  defaults: (autoscaler) => {
    const { spec } = autoscaler
    if (!isObject(spec) || (isList(spec.metrics) && spec.metrics.length > 0)) return autoscaler
    return { ...autoscaler, spec: { ...spec, metrics: [usual] } }
  }
}
