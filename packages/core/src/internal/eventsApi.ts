/**
 * The two APIs through which an Event is posted. Both show the same objects, in words of their own (F156): core/v1 takes any type and lets its texts change;
 * events.k8s.io/v1 takes Normal and Warning, and lets nothing change but the series of repeats (F151, F155). Pure; all that differs between them is here.
 */
import type { KubeObject, ObjectInput, Resource } from "../KubeObject.ts"
import type { Subject } from "../PostingPolicy.ts"
import { microTime, type Place, type Reporter, wholeTime, type Words } from "./eventBody.ts"

/** How often, and when first and last, in milliseconds since 1970. */
export interface Counted {
  readonly count: number
  readonly firstAt: number
  readonly lastAt: number
}

/** An Event before any API has worded it. */
export interface Draft {
  readonly name: string
  readonly about: Subject
  readonly place: Place
  readonly words: Words
  readonly counted: Counted
  readonly reporter: Reporter
}

export interface EventsApi {
  readonly resource: Resource
  /** How the names of its Events begin, where this is wanted; letters and digits follow. */
  readonly prefixOf: (prefix: string) => string
  /** The type under which it posts this one. */
  readonly typeOf: (type: string) => string
  readonly bodyOf: (draft: Draft) => ObjectInput
  /** What a repeat changes on the Event that is there; `message`: of a combined one, as far as it may change. The count is 2 at least. */
  readonly repeatOf: (counted: Counted, message: string | undefined) => ObjectInput
  /** What an Event that is there says of its repeats; undefined if it was posted through the other API, whose counts are kept elsewhere. */
  readonly countedOf: (event: KubeObject) => Counted | undefined
}

const aboutOf = ({ about, place }: Draft): Readonly<Record<string, string>> => ({
  apiVersion: about.apiVersion,
  kind: about.kind,
  name: about.metadata.name,
  ...(place.involved !== undefined && { namespace: place.involved }),
  ...(about.metadata.uid !== undefined && { uid: about.metadata.uid })
})

const millisOf = (time: unknown): number => (typeof time === "string" ? Date.parse(time) : NaN)

/** What `kubectl describe` and every tool reads in full (D19). */
export const coreV1: EventsApi = {
  resource: { group: "", version: "v1", kind: "Event", plural: "events", scope: "Namespaced" },
  // Its names are parts of a path, and nothing else (F154).
  prefixOf: (prefix) => prefix.replace(/[/%]+/g, "-"),
  typeOf: (type) => type,
  bodyOf: (draft) => {
    const { counted, name, place, reporter, words } = draft
    return {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name, namespace: place.namespace },
      involvedObject: aboutOf(draft),
      ...words,
      count: counted.count,
      firstTimestamp: wholeTime(counted.firstAt),
      lastTimestamp: wholeTime(counted.lastAt),
      eventTime: microTime(counted.firstAt),
      source: { component: reporter.component },
      reportingComponent: reporter.component,
      reportingInstance: reporter.instance
    }
  },
  repeatOf: ({ count, lastAt }, message) => ({
    count,
    lastTimestamp: wholeTime(lastAt),
    ...(message !== undefined && { message })
  }),
  countedOf: ({ count, eventTime, lastTimestamp }) =>
    typeof count === "number" ? { count, firstAt: millisOf(eventTime), lastAt: millisOf(lastTimestamp) } : undefined
}

const seriesOf = ({ count, lastAt }: Counted) => ({ series: { count, lastObservedTime: microTime(lastAt) } })

/** What is not known to be harmless is a Warning, so that nobody overlooks it (D19). */
const harmless: ReadonlySet<string> = new Set(["Normal", "Debug"])

/** Leaves room for what follows in a name of at most 253. */
const prefixMax = 150

/** The newer API. A count of one is no series there, and the fields of core are refused (F151). */
export const eventsV1: EventsApi = {
  resource: { group: "events.k8s.io", version: "v1", kind: "Event", plural: "events", scope: "Namespaced" },
  // Names are DNS subdomains there, and anything in core/v1 (F154).
  prefixOf: (prefix) =>
    prefix
      .toLowerCase()
      .replace(/[^-a-z0-9.]+/g, "-")
      .replace(/-*\.[-.]*/g, ".")
      .replace(/^[-.]+/, "")
      .slice(0, prefixMax),
  typeOf: (type) => (harmless.has(type) ? "Normal" : "Warning"),
  bodyOf: (draft) => {
    const { counted, name, place, reporter, words } = draft
    return {
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      metadata: { name, namespace: place.namespace },
      regarding: aboutOf(draft),
      type: words.type,
      reason: words.reason,
      action: words.action,
      note: words.message,
      eventTime: microTime(counted.firstAt),
      reportingController: reporter.component,
      reportingInstance: reporter.instance,
      ...(counted.count > 1 && seriesOf(counted))
    }
  },
  repeatOf: (counted) => seriesOf(counted),
  countedOf: ({ deprecatedCount, eventTime, series }) => {
    if (typeof deprecatedCount === "number") return undefined
    const firstAt = millisOf(eventTime)
    if (typeof series !== "object" || series === null) return { count: 1, firstAt, lastAt: firstAt }
    const { count, lastObservedTime } = series as { readonly count?: unknown; readonly lastObservedTime?: unknown }
    return { count: Number(count), firstAt, lastAt: millisOf(lastObservedTime) }
  }
}
