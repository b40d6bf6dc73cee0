/** What somebody may do about a refusal, where its text alone does not say. Pure. */
import type { Operation, Reason } from "../ApiError.ts"

/** The server's words for a right that RBAC does not give (F115 and others): webhooks and quotas refuse in words of their own. */
const rbac = /cannot (\w+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]+)")?/

/** An apply makes what is not there, so `create` and `patch` go together then. */
const verbsOf = (verb: string, asked: Operation["verb"]): string =>
  verb === "list" || verb === "watch" ? "list and watch" : asked === "apply" ? "create and patch" : verb

/** The right that is missing, as a rule of RBAC names it. */
const grant = (message: string, asked: Operation["verb"]): string | undefined => {
  const [found, verb = "", resource = "", group = "", namespace] = rbac.exec(message) ?? []
  if (found === undefined) return undefined
  const [plural, subresource] = resource.split("/")
  const name = `${plural}${group === "" ? "" : `.${group}`}${subresource === undefined ? "" : `/${subresource}`}`
  const verbs = subresource === undefined ? verbsOf(verb, asked) : verb
  const where = namespace === undefined ? "in the whole cluster" : `in namespace ${namespace}`
  return `grant this account ${verbs} on ${name} ${where}: Controller.rbac prints the rules`
}

export const remedyOf = (reason: Reason, { verb }: Operation): string | undefined => {
  switch (reason._tag) {
    case "Unauthorized":
      return "this account's credentials are not accepted: have they expired, or are they another cluster's?"
    case "Forbidden":
      return (
        grant(reason.message, verb) ??
        (verb === "list" || verb === "watch" ? "grant this account list and watch on it" : undefined)
      )
    case "NamespaceTerminating":
      return "nothing can be made there until the namespace is gone and made anew"
    case "ServerError":
      // Nothing in the answer but its words tells these two apart from a server that is ill.
      if (reason.message.includes("field not declared in schema"))
        return "the CRD is not that of this operator: apply what Kind.customResourceDefinition gives"
      if (reason.message.includes("etcdserver: request is too large"))
        return "the object would be larger than the server stores, 1.5 MiB by default: make it or its status smaller"
      return undefined
    case "Refused":
      return reason.code === 413 ? "make the object smaller" : undefined
    default:
      return undefined
  }
}
