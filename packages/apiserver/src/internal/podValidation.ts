/**
 * What a server asks of the spec of a Pod, and of what makes Pods: names, images, ports, volumes and selectors, in its order and words.
 *
 * Caveat: of probes, resources, security, scheduling and the fields of volumes nothing is asked beyond their types.
 */
import type { StatusCause } from "@fixpoint/core/ApiError"
import { isList, isObject, type JsonObject } from "./json.ts"
import { nameMistakes } from "./objectMeta.ts"
import { fieldForbidden, fieldInvalid, fieldRequired, fieldUnsupported } from "./refusal.ts"

type Causes = ReadonlyArray<StatusCause>

const object = (value: unknown): JsonObject => (isObject(value) ? value : {})
const objects = (value: unknown): ReadonlyArray<JsonObject> => (isList(value) ? value.map(object) : [])
const text = (value: unknown): string => (typeof value === "string" ? value : "")

const duplicate = (field: string, value: string): StatusCause => ({
  reason: "FieldValueDuplicate",
  message: `Duplicate value: ${JSON.stringify(value)}`,
  field
})
const notFound = (field: string, value: string): StatusCause => ({
  reason: "FieldValueNotFound",
  message: `Not found: ${JSON.stringify(value)}`,
  field
})

const required = (value: unknown, field: string): Causes => (text(value) === "" ? [fieldRequired(field)] : [])

const oneOf = (value: unknown, field: string, supported: ReadonlyArray<string>): Causes =>
  value === undefined || supported.includes(text(value)) ? [] : [fieldUnsupported(field, value, supported)]

/** A label, or why it is none. */
const nameCauses = (name: unknown, field: string): Causes =>
  text(name) === ""
    ? [fieldRequired(field)]
    : nameMistakes(text(name), "label").map((mistake) => fieldInvalid(field, name, mistake))

/** Each item judged; names that came before are told of once more. */
const eachNamed = (
  items: ReadonlyArray<JsonObject>,
  field: string,
  seen: Set<string>,
  judge: (item: JsonObject, at: string) => Causes
): Causes =>
  items.flatMap((item, index) => {
    const at = `${field}[${index}]`
    const name = text(item.name)
    const causes = judge(item, at)
    const isTwice = name !== "" && seen.has(name)
    seen.add(name)
    return isTwice ? [...causes, duplicate(`${at}.name`, name)] : causes
  })

const volumeCauses = (volumes: unknown, field: string): Causes =>
  eachNamed(objects(volumes), field, new Set(), (volume, at) => [
    ...Object.keys(volume)
      .filter((key) => key !== "name")
      .slice(1)
      .map((key) => fieldForbidden(`${at}.${key}`, "may not specify more than 1 volume type")),
    ...nameCauses(volume.name, `${at}.name`)
  ])

const largestPort = 65_535

const portCauses = (ports: unknown, field: string): Causes =>
  eachNamed(objects(ports), field, new Set(), ({ containerPort }, at) => {
    const own = `${at}.containerPort`
    if (typeof containerPort !== "number" || containerPort === 0) return [fieldRequired(own)]
    return containerPort < 0 || containerPort > largestPort
      ? [fieldInvalid(own, containerPort, `must be between 1 and ${largestPort}, inclusive`)]
      : []
  })

const environmentCauses = (env: unknown, field: string): Causes =>
  objects(env).flatMap(({ name }, index) => {
    const own = `${field}[${index}].name`
    if (text(name) === "") return [fieldRequired(own)]
    return /^[ -<>-~]+$/.test(text(name))
      ? []
      : [
          fieldInvalid(
            own,
            name,
            "a valid environment variable name must consist only of printable ASCII characters other than '='"
          )
        ]
  })

const mountCauses = (mounts: unknown, field: string, volumes: ReadonlySet<string>): Causes =>
  objects(mounts).flatMap(({ mountPath, name }, index) => {
    const at = `${field}[${index}]`
    return [
      ...required(name, `${at}.name`),
      ...(volumes.has(text(name)) ? [] : [notFound(`${at}.name`, text(name))]),
      ...required(mountPath, `${at}.mountPath`)
    ]
  })

const pullPolicies = ["Always", "IfNotPresent", "Never"]

const containerCauses = (container: JsonObject, at: string, volumes: ReadonlySet<string>): Causes => [
  ...nameCauses(container.name, `${at}.name`),
  ...required(container.image, `${at}.image`),
  ...portCauses(container.ports, `${at}.ports`),
  ...environmentCauses(container.env, `${at}.env`),
  ...mountCauses(container.volumeMounts, `${at}.volumeMounts`, volumes),
  ...oneOf(container.imagePullPolicy, `${at}.imagePullPolicy`, pullPolicies)
]

/** Of the spec of a Pod at this field. */
export const podSpecCauses = (of: unknown, field: string): Causes => {
  const spec = object(of)
  const told = volumeCauses(spec.volumes, `${field}.volumes`)
  const unsound = new Set(
    told.map((cause) => /^\[(\d+)\]/.exec(cause.field?.slice(`${field}.volumes`.length) ?? "")?.[1])
  )
  // A volume that does not hold is none.
  const volumes = new Set(
    objects(spec.volumes).flatMap(({ name }, at) => (unsound.has(String(at)) ? [] : [text(name)]))
  )
  const names = new Set<string>()
  const judge = (container: JsonObject, at: string): Causes => containerCauses(container, at, volumes)
  const containers = objects(spec.containers)
  return [
    ...told,
    ...(containers.length === 0 ? [fieldRequired(`${field}.containers`)] : []),
    ...eachNamed(containers, `${field}.containers`, names, judge),
    ...eachNamed(objects(spec.initContainers), `${field}.initContainers`, names, judge),
    ...oneOf(spec.restartPolicy, `${field}.restartPolicy`, ["Always", "OnFailure", "Never"]),
    ...oneOf(spec.dnsPolicy, `${field}.dnsPolicy`, ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"])
  ]
}

/** Pods that are to run for ever, or to come to an end. */
export const restartCauses = (spec: unknown, field: string, ends: boolean): Causes => {
  const { restartPolicy } = object(spec)
  const own = `${field}.restartPolicy`
  if (!ends) return oneOf(restartPolicy, own, ["Always"])
  return restartPolicy === "Always"
    ? [fieldRequired(own, 'valid values: "OnFailure", "Never"')]
    : oneOf(restartPolicy, own, ["OnFailure", "Never"])
}

const matches = (selector: unknown, labels: JsonObject): boolean =>
  isObject(selector) &&
  Object.entries(object(selector.matchLabels)).every(([key, value]) => labels[key] === value) &&
  objects(selector.matchExpressions).every(({ key, operator, values }) => {
    const has = Object.hasOwn(labels, text(key))
    const isAmong = has && isList(values) && values.includes(labels[text(key)])
    switch (operator) {
      case "In":
        return isAmong
      case "NotIn":
        return !isAmong
      case "Exists":
        return has
    }
    return !has
  })

/** The selector chooses the Pods of the template. */
export const selectorCauses = (of: unknown): Causes => {
  const { selector, template } = object(of)
  const { labels } = object(object(template).metadata)
  return matches(selector, object(labels))
    ? []
    : [fieldInvalid("spec.template.metadata.labels", labels ?? null, "`selector` does not match template `labels`")]
}
