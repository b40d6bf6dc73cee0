/** Hard events, a row each: what is said about what, and how it ends. Worked out by hand from D19, D20 and the limits of a real server, not by the code. */
import type { Options } from "../src/EventPoster.ts"
import { type About, type EventCall, kopf, type PostingPolicy, type Subject } from "../src/PostingPolicy.ts"

/** What the object of a row has been through before something is said about it. Each is a ConfigMap, but the ones in cluster scope. */
export type Stage =
  /** It is there, in a namespace of its own kind. */
  | "there"
  | "in kube-system"
  | "in default"
  | "in cluster scope"
  | "deleted"
  /** Deleted, and another of the same name is there. */
  | "replaced"
  /** Its namespace is being deleted, and a finalizer holds it. */
  | "in a terminating namespace"
  /** Its namespace has never been. */
  | "in no namespace"

/** An Event as the server holds it. `its` names stand for those of the row's object. */
export interface Told {
  readonly type: string
  readonly reason: string
  readonly action: string
  readonly message: string
  /** Where the Event lies, and which namespace it says its object has. */
  readonly namespace: string
  readonly involved: string
  /** `its`, or that of another. */
  readonly uid: string
  readonly component: string
  readonly instance: string
  readonly count: number
  /** When it was said; told only of rows that say it. */
  readonly time?: string
}

export type End =
  /** These Events, with what differs from what was said; `shown`: whether `kubectl describe` of the object shows them, or what it shows for the text. */
  | { readonly stored: ReadonlyArray<Partial<Told>>; readonly shown: boolean | string }
  /** None, counted as dropped; and whether an operator's log says so, in how many lines. */
  | { readonly dropped: number; readonly lines: ReadonlyArray<RegExp> }

export interface Row {
  readonly hazard: string
  /** Default `there`. */
  readonly stage?: Stage
  /** The rest of the object's name. */
  readonly name?: string
  /** Default: the object itself. */
  readonly about?: (object: Subject) => About
  /** Default: a Warning `Hard`, `text`. */
  readonly says?: Partial<Pick<Told, "type" | "reason" | "action" | "message">> & { readonly at?: number }
  /** Said in another way. */
  readonly call?: (about: About) => EventCall
  readonly options?: Options
  readonly policy?: PostingPolicy
  readonly end: End
}

/** One Event that `kubectl describe` shows, with these fields. */
const shown = (told: Partial<Told> = {}, text: true | string = true): End => ({ stored: [told], shown: text })
/** One Event that it does not show. */
const hidden = (told: Partial<Told> = {}): End => ({ stored: [told], shown: false })
const nothing: End = { stored: [], shown: false }

const refusedOnce = /^Failed to post an event\. .*/

const emoji = "🙂"
const trace = (frames: number): string =>
  ["Error: boom", ...Array.from({ length: frames }, (_, i) => `\tat f${i} (file:///app/main.js:${i}:1)`)].join("\n")

const event = (version: string, { metadata }: Subject): Subject => ({
  apiVersion: version,
  kind: "Event",
  metadata: { ...metadata, name: `${metadata.name}.17`, uid: "of-an-event" }
})
const besides = ({ apiVersion, kind, metadata }: Subject, name: string, uid: string): Subject => ({
  apiVersion,
  kind,
  metadata: { ...metadata, name: `${metadata.name}-${name}`, uid }
})

const texts: ReadonlyArray<Row> = [
  {
    hazard: "a text of 1,024 bytes is whole",
    says: { message: "x".repeat(1_024) },
    end: shown({ message: "x".repeat(1_024) })
  },
  {
    hazard: "one of 1,025 loses its middle",
    says: { message: `${"a".repeat(512)}!${"z".repeat(512)}` },
    end: shown({ message: `${"a".repeat(511)}...${"z".repeat(510)}` })
  },
  {
    hazard: "so does one of 5,000 characters",
    says: { message: "a".repeat(2_500) + "z".repeat(2_500) },
    end: shown({ message: `${"a".repeat(511)}...${"z".repeat(510)}` })
  },
  {
    hazard: "1,024 characters of two bytes are too many bytes",
    says: { message: "é".repeat(1_024) },
    end: shown({ message: `${"é".repeat(255)}...${"é".repeat(255)}` })
  },
  {
    hazard: "an emoji at the cut goes whole",
    says: { message: "a".repeat(509) + emoji.repeat(600) },
    end: shown({ message: `${"a".repeat(509)}...${emoji.repeat(127)}` })
  },
  {
    hazard: "an emoji of many is cut between two of them",
    says: { message: `${"a".repeat(500)}👨\u200d👩\u200d👧${"z".repeat(600)}` },
    end: shown({ message: `${"a".repeat(500)}👨\u200d👩...${"z".repeat(510)}` })
  },
  {
    hazard: "halves of characters become replacement characters",
    says: { message: "\ud83d half \ude42", reason: "\ud800", type: "\udfff" },
    end: shown({ message: "\ufffd half \ufffd", reason: "\ufffd", action: "\ufffd", type: "\ufffd" })
  },
  {
    hazard: "colours of a terminal are stored, and shown without their power",
    says: { message: "\u001b[31mred\u001b[0m\u0007" },
    end: shown({}, "^[[31mred^[[0m\u0007")
  },
  { hazard: "zero bytes and control characters are stored", says: { message: "a\u0000b\u0001c\u007f" }, end: shown() },
  { hazard: "a carriage return does not overwrite the line", says: { message: "ok\rno" }, end: shown({}, "ok\\rno") },
  { hazard: "right-to-left text and its marks are kept", says: { message: "\u202eשלום مرحبا\u202c" }, end: shown() },
  { hazard: "separators and non-characters are kept", says: { message: "\ufeffa\u2028b\u2029c\uffff" }, end: shown() },
  { hazard: "only whitespace is a text", says: { message: " \n\t " }, end: shown() },
  { hazard: "no text is one too", says: { message: "" }, end: shown() },
  { hazard: "a trace keeps its lines", says: { message: trace(10) }, end: shown() },
  {
    hazard: "a long trace keeps its beginning and its end",
    says: { message: `${"first\n".repeat(100)}${"!\n".repeat(100)}${"last!\n".repeat(85)}` },
    end: shown({ message: `${"first\n".repeat(85)}f...${"last!\n".repeat(85)}` })
  },
  {
    hazard: "percent signs, quotes and markup mean nothing",
    says: { message: '%s %!d(<b>"&") {{.}} \\n' },
    end: shown()
  }
]

const words: ReadonlyArray<Row> = [
  {
    hazard: "a reason of 200 characters is cut to 128, and so is the action made of it",
    says: { reason: "R".repeat(200) },
    end: shown({ reason: "R".repeat(128), action: "R".repeat(128) })
  },
  {
    hazard: "in a reason of umlauts bytes count",
    says: { reason: `x${"ü".repeat(200)}` },
    end: shown({ reason: `x${"ü".repeat(63)}`, action: `x${"ü".repeat(63)}` })
  },
  {
    hazard: "a reason may have spaces and umlauts",
    says: { reason: "Löschen nicht möglich" },
    end: shown({ action: "Löschen nicht möglich" })
  },
  { hazard: "a reason may be whitespace", says: { reason: "  " }, end: shown({ action: "  " }) },
  {
    hazard: "a reason may be a word of JavaScript's",
    says: { reason: "__proto__" },
    end: shown({ action: "__proto__" })
  },
  {
    hazard: "an empty reason gets a word, since the server takes none",
    says: { reason: "" },
    end: shown({ reason: "Unspecified", action: "Unspecified" })
  },
  { hazard: "an empty action is the reason", says: { action: "" }, end: shown({ action: "Hard" }) },
  {
    hazard: "an action of 200 characters is cut",
    says: { action: "A".repeat(200) },
    end: shown({ action: "A".repeat(128) })
  },
  { hazard: "a type of 300 bytes is cut", says: { type: "T".repeat(300) }, end: shown({ type: "T".repeat(128) }) },
  { hazard: "a type is free text", says: { type: "Very bad, isn't it" }, end: shown() },
  { hazard: "no type is Normal", says: { type: "" }, end: shown({ type: "Normal" }) }
]

const objects: ReadonlyArray<Row> = [
  { hazard: "a name may have dots", name: ".web.example.com", end: shown() },
  { hazard: "a name may have 253 characters", name: `-${"n".repeat(249)}`, end: shown() },
  {
    hazard: "one in kube-system is told of there",
    stage: "in kube-system",
    end: shown({ namespace: "kube-system", involved: "kube-system" })
  },
  { hazard: "one in default too", stage: "in default", end: shown({ namespace: "default", involved: "default" }) },
  {
    hazard: "one in cluster scope is told of in default, as of no namespace",
    stage: "in cluster scope",
    end: shown({ namespace: "default", involved: "" })
  },
  {
    hazard: "one in cluster scope may have a name of 253 characters",
    stage: "in cluster scope",
    name: `-${"n".repeat(249)}`,
    end: shown({ namespace: "default", involved: "" })
  },
  {
    hazard: "where kopf tells of one in cluster scope nobody looks",
    stage: "in cluster scope",
    policy: kopf,
    end: hidden({ namespace: "operators", involved: "operators" })
  },
  { hazard: "one that is deleted is told of with its uid", stage: "deleted", end: hidden() },
  { hazard: "of one name but another uid, it is not shown", stage: "replaced", end: hidden() },
  {
    hazard: "without a uid it is no particular one's, and not shown",
    about: ({ metadata: { uid: _, ...metadata }, ...object }) => ({ ...object, metadata }),
    end: hidden({ uid: "" })
  },
  {
    hazard: "two whose uid is empty are two",
    about: (object) => [besides(object, "a", ""), besides(object, "b", "")],
    end: { stored: [{ uid: "" }, { uid: "" }], shown: false }
  },
  {
    hazard: "of hardly anything, it is told in default",
    about: ({ metadata: { name } }) => ({ apiVersion: "", kind: "", metadata: { name } }),
    end: hidden({ namespace: "default", involved: "", uid: "" })
  },
  {
    hazard: "any nesting of lists is all in them, but nothing and Events",
    about: (object) => [[], [object, [[besides(object, "other", "of-another")]], undefined], event("v1", object)],
    end: { stored: [{}, { uid: "of-another" }], shown: true }
  },
  {
    hazard: "one object twice in a list is one Event of two",
    about: (object) => [object, [object]],
    end: shown({ count: 2 })
  },
  { hazard: "an Event is not told of", about: (object) => event("v1", object), end: nothing },
  { hazard: "nothing is not told of", about: () => undefined, end: nothing },
  { hazard: "an empty list is not either", about: () => [[], [[]]], end: nothing },
  {
    hazard: "a terminating namespace takes none, and says so once",
    stage: "in a terminating namespace",
    about: (object) => [object, besides(object, "other", "of-another")],
    end: { dropped: 2, lines: [refusedOnce] }
  },
  {
    hazard: "a namespace that is gone takes none, which is no news",
    stage: "in no namespace",
    end: { dropped: 1, lines: [] }
  }
]

const reporters: ReadonlyArray<Row> = [
  {
    hazard: "names of a reporter are cut to what a qualified name holds",
    options: {
      component: `${"c".repeat(80)}.example.com/${"n".repeat(80)}`,
      instance: "h".repeat(200)
    },
    end: shown({ component: `${"c".repeat(63)}.example.com/${"n".repeat(63)}`, instance: "h".repeat(128) })
  },
  {
    hazard: "what no name may have becomes dashes",
    options: { component: "Größe & Co./team's operator_", instance: "pod-7🙂" },
    end: shown({ component: "gr-e-co/team-s-operator", instance: "pod-7🙂" })
  },
  {
    hazard: "a reporter without a name gets one",
    options: { component: "-äöü-", instance: "" },
    end: shown({ component: "fixpoint", instance: "fixpoint" })
  },
  {
    hazard: "names of Events may be longer than those of other objects",
    options: { namePrefix: "p".repeat(400) },
    end: shown()
  },
  { hazard: "and may have capitals", options: { namePrefix: "My Events: " }, end: shown() },
  {
    hazard: "but no slash and no percent sign, which become hyphens",
    options: { namePrefix: "my/50%/" },
    about: (object) => [object, besides(object, "other", "of-another")],
    end: { stored: [{}, { uid: "of-another" }], shown: true }
  }
]

const times: ReadonlyArray<Row> = [
  { hazard: "the beginning of time is a time", says: { at: 0 }, end: shown({ time: "1970-01-01T00:00:00.000000Z" }) },
  {
    hazard: "so is long before",
    says: { at: -11_676_096_000_000 },
    end: shown({ time: "1600-01-01T00:00:00.000000Z" })
  },
  {
    hazard: "and the last moment of four digits",
    says: { at: 253_402_300_799_999 },
    end: shown({ time: "9999-12-31T23:59:59.999000Z" })
  },
  ...[-8.64e15, -62_200_000_000_000, 253_402_300_800_000, 8.64e15, Infinity, NaN].map((at): Row => ({
    hazard: `the server knows no time ${at}, and the Event comes all the same`,
    says: { at },
    end: shown({ time: "1970-01-01T00:00:00.000000Z" })
  })),
  {
    hazard: "of a time between two milliseconds the part is dropped",
    says: { at: 1_700_000_000_500.75 },
    end: shown({ time: "2023-11-14T22:13:20.500000Z" })
  }
]

/** A class of an error with a name as it comes out of a code generator. */
const generated = { [`${"E".repeat(200)}`]: class extends Error {} }["E".repeat(200)]!

const failures: ReadonlyArray<Row> = [
  {
    hazard: "a failure of nothing is told",
    call: (about) => ({ _tag: "exception", about, error: null }),
    end: shown({ type: "Error", reason: "NoneType", action: "NoneType", message: "" })
  },
  {
    hazard: "a failure whose class has a long name is told",
    call: (about) => ({ _tag: "exception", about, error: new generated("boom") }),
    end: shown({ type: "Error", reason: "E".repeat(128), action: "E".repeat(128), message: "boom" })
  },
  {
    hazard: "a failure that fails when it is looked at is told",
    call: (about) => ({
      _tag: "exception",
      about,
      error: new Proxy(
        {},
        {
          get: () => {
            throw new Error("no")
          }
        }
      ),
      message: "while looking"
    }),
    end: shown({ type: "Error", reason: "Error", action: "Error", message: "while looking Error" })
  },
  {
    hazard: "an exception's trace of 5,000 characters is cut",
    call: (about) => ({ _tag: "exception", about, error: new TypeError("a".repeat(2_500) + "z".repeat(2_500)) }),
    end: shown({
      type: "Error",
      reason: "TypeError",
      action: "TypeError",
      message: `${"a".repeat(511)}...${"z".repeat(510)}`
    })
  }
]

export const corpus: ReadonlyArray<Row> = [...texts, ...words, ...objects, ...reporters, ...times, ...failures]
