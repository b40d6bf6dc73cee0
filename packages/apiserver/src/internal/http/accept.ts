/** What a client wants to read, from its Accept header (F50 to F52). JSON is the answer where nothing else is said. */

export type Media = "application/json" | "application/yaml"

export type Shape = "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList"

export interface Form {
  readonly media: Media
  /** Of meta.k8s.io/v1 or v1beta1. Absent: the object itself. */
  readonly as?: Shape
  readonly version?: "v1" | "v1beta1"
  /** Indented, by the parameter `pretty=1`. */
  readonly pretty: boolean
}

export const json: Form = { media: "application/json", pretty: false }

export interface Clause {
  readonly type: string
  readonly parameters: ReadonlyMap<string, string>
  readonly quality: number
}

/** The most that is read of a header: a longer one is no wish but an attack. */
const clausesMost = 32

const clause = (text: string): Clause => {
  const [type = "", ...rest] = text.split(";").map((part) => part.trim())
  const parameters = new Map<string, string>()
  for (const parameter of rest) {
    const at = parameter.indexOf("=")
    if (at > 0) parameters.set(parameter.slice(0, at).trim().toLowerCase(), parameter.slice(at + 1).trim())
  }
  const quality = Number(parameters.get("q") ?? "1")
  return { type: type.toLowerCase(), parameters, quality: Number.isFinite(quality) ? quality : 1 }
}

/** The parts of an Accept header: the wish for most first; among equals as they stand, wildcards last. */
export const clauses = (accept: string): ReadonlyArray<Clause> => {
  const wild = ({ type }: Clause): number => type.split("*").length
  return accept
    .split(",", clausesMost)
    .map(clause)
    .filter(({ type }) => type !== "")
    .toSorted((a, b) => b.quality - a.quality || wild(a) - wild(b))
}

const shapes: ReadonlySet<string> = new Set(["Table", "PartialObjectMetadata", "PartialObjectMetadataList"])

const mediaOf = (type: string, { custom, stream }: Asked): Media | undefined => {
  if (type === "application/json" || type === "*/*" || (custom && type === "application/*")) return "application/json"
  return type === "application/yaml" && !stream ? type : undefined
}

export interface Asked {
  /** Of a custom resource: built-in ones know no `application/*`. */
  readonly custom: boolean
  /** A watch, which has JSON alone (F58). */
  readonly stream: boolean
}

/** Undefined if nothing that the client accepts can be sent: 406. */
export const negotiate = (accept: string | undefined, asked: Asked): Form | undefined => {
  if (accept === undefined || accept === "" || accept === "application/json" || accept === "*/*") return json
  for (const { parameters, type } of clauses(accept)) {
    const media = mediaOf(type, asked)
    if (media === undefined) continue
    const pretty = parameters.get("pretty") === "1"
    const as = parameters.get("as")
    if (as === undefined) return { media, pretty }
    const version = parameters.get("v")
    if (parameters.get("g") !== "meta.k8s.io" || (version !== "v1" && version !== "v1beta1") || !shapes.has(as))
      continue
    return { media, pretty, as: as as Shape, version }
  }
  return undefined
}

const sent = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
const streamed = "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"

/** The text of a 406, in the words of a kind of its own or of a built-in one, whose router asks before its storage does. `listed`: of a collection. */
export const notAcceptable = (accept: string, custom: boolean, listed: boolean): string =>
  custom || /application\/(?:json|yaml)/.test(accept)
    ? `only the following media types are accepted: ${sent}`
    : `406: Not Acceptable\n\nAvailable representations: ${sent}${listed ? `, ${streamed}` : ""}`
