/** Paths and queries of the Kubernetes API, pure. */
import type { ListOptions, SubresourceOptions, WatchOptions } from "@fixpoint/core/ApiClient"
import type { Resource } from "@fixpoint/core/KubeObject"

type Values = Readonly<Record<string, string | number | boolean | undefined>>

/** `?a=b&c=d`, or nothing. Absent values are left out. */
export const query = (values: Values): string => {
  let text = ""
  for (const name in values) {
    const value = values[name]
    if (value !== undefined)
      text += `${text === "" ? "?" : "&"}${name}=${encodeURIComponent(String(value).toWellFormed())}`
  }
  return text
}

/** `/api/v1` or `/apis/group/version`. */
export const root = ({ group, version }: Pick<Resource, "group" | "version">): string =>
  group === ""
    ? `/api/${encodeURIComponent(version)}`
    : `/apis/${encodeURIComponent(group)}/${encodeURIComponent(version)}`

/** All objects of a kind, or those of one namespace. A namespace means nothing to a cluster-scoped kind. */
export const collection = (resource: Resource, namespace: string | undefined): string =>
  namespace === undefined || resource.scope === "Cluster"
    ? `${root(resource)}/${resource.plural}`
    : `${root(resource)}/namespaces/${encodeURIComponent(namespace)}/${resource.plural}`

/** One object, or a subresource of it. */
export const single = (
  resource: Resource,
  namespace: string | undefined,
  name: string,
  subresource?: SubresourceOptions["subresource"]
): string =>
  `${collection(resource, namespace)}/${encodeURIComponent(name)}${subresource === undefined ? "" : `/${subresource}`}`

/**
 * Why a name or namespace may not stand in a path, or undefined. An empty name would make a DELETE of one object a DELETE of all (a path that ends
 * in `/` is the collection's), and `..` would climb.
 */
export const segmentFault = (what: "name" | "namespace", segment: string | undefined): string | undefined => {
  if (segment === undefined) return undefined
  if (segment === "") return `the ${what} is empty`
  if (segment === "." || segment === "..") return `the ${what} may not be '${segment}'`
  if (!segment.isWellFormed()) return `the ${what} is not Unicode`
  if (segment.includes("/") || segment.includes("%")) return `the ${what} may not contain '/' or '%'`
  return undefined
}

export const listQuery = (options: ListOptions): string =>
  query({
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    limit: options.limit,
    continue: options.continue,
    resourceVersion: options.resourceVersion,
    resourceVersionMatch: options.resourceVersionMatch
  })

/** `sendInitialEvents` is valid only with its match, and without bookmarks the end of the initial events is never told (F67). */
export const watchQuery = (options: WatchOptions, timeoutSeconds: number): string =>
  query({
    watch: true,
    allowWatchBookmarks: true,
    timeoutSeconds,
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    resourceVersion: options.resourceVersion,
    ...(options.sendInitialEvents === true && { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" })
  })
