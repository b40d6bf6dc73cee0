/** The kinds of the side-by-side benchmark: its Widget, and the part of a ConfigMap that its operator writes. */
import * as Kind from "@fixpoint/core/Kind"
import * as Schema from "effect/Schema"

export class Widget extends Kind.make({
  group: "bench.example.com",
  version: "v1",
  kind: "Widget",
  scope: "Namespaced",
  spec: Schema.Struct({ size: Schema.Int, message: Schema.optionalKey(Schema.String) }),
  status: Schema.Struct({ ready: Schema.Boolean })
}) {}

export class ConfigMap extends Kind.make({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  scope: "Namespaced",
  fields: { data: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)) }
}) {}
