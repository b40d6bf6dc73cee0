/** Chooses objects by their labels. */
import * as Schema from "effect/Schema"

const Requirement = Schema.Struct({
  key: Schema.String,
  operator: Schema.Literals(["In", "NotIn", "Exists", "DoesNotExist"]),
  values: Schema.optionalKey(Schema.Array(Schema.String))
})

/** The form that objects carry (`matchLabels`, `matchExpressions`); an empty one matches everything. */
export const LabelSelector = Schema.Struct({
  matchLabels: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  matchExpressions: Schema.optionalKey(Schema.Array(Requirement))
})
export interface LabelSelector extends Schema.Schema.Type<typeof LabelSelector> {}

/** Whether the labels fulfil the selector. `NotIn` is also fulfilled by an absent label, as on the server (F47). */
export const matches = (selector: LabelSelector, labels: Readonly<Record<string, string>> | undefined): boolean => {
  const value = (key: string): string | undefined =>
    labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined
  for (const [key, wanted] of Object.entries(selector.matchLabels ?? {})) {
    if (value(key) !== wanted) return false
  }
  for (const { key, operator, values } of selector.matchExpressions ?? []) {
    const actual = value(key)
    const among = actual !== undefined && (values ?? []).includes(actual)
    const fulfilled =
      operator === "In"
        ? among
        : operator === "NotIn"
          ? !among
          : operator === "Exists"
            ? actual !== undefined
            : actual === undefined
    if (!fulfilled) return false
  }
  return true
}

/** The form that URLs carry: `app=x,tier in (a,b),!old`. */
export const format = (selector: LabelSelector): string =>
  [
    ...Object.entries(selector.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`),
    ...(selector.matchExpressions ?? []).map(({ key, operator, values }) =>
      operator === "Exists"
        ? key
        : operator === "DoesNotExist"
          ? `!${key}`
          : `${key} ${operator === "In" ? "in" : "notin"} (${(values ?? []).join(",")})`
    )
  ].join(",")
