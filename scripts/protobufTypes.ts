/**
 * Makes `packages/apiserver/src/internal/protobufTypes.ts`: how Go clients write the built-in kinds as protobuf, and what of it they would write as JSON. Both
 * stand in the tags of Kubernetes' Go types, which are read from the sources of its modules.
 *
 *     node scripts/protobufTypes.ts <folder of k8s.io/api> <folder of k8s.io/apimachinery> <folder of k8s.io/apiextensions-apiserver>
 *
 * Go tells the folders: `go mod download -json k8s.io/api@v0.36.3`.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { unstored, wanted } from "./apiServer.ts"

const target = new URL("../packages/apiserver/src/internal/protobufTypes.ts", import.meta.url)

interface GoField {
  /** Empty: its fields are those of the struct around it. */
  readonly name: string
  readonly number: string
  readonly type: string
  readonly flags: string
}

interface GoPackage {
  /** `core.v1`. */
  readonly name: string
  /** By type: its fields, or what it is another name of. */
  readonly types: Map<string, ReadonlyArray<GoField> | string>
  /** Types that are a message of one list. */
  readonly wrapped: Set<string>
  readonly imports: Map<string, string>
}

const [api, machinery, extensions] = process.argv.slice(2)
if (api === undefined || machinery === undefined || extensions === undefined) {
  throw new Error("name the folders of k8s.io/api, k8s.io/apimachinery and k8s.io/apiextensions-apiserver")
}
const modules: Readonly<Record<string, string>> = {
  "k8s.io/api": api,
  "k8s.io/apimachinery": machinery,
  "k8s.io/apiextensions-apiserver": extensions
}

/** A folder of the sources, by the path under which it is imported. */
const folderOf = (path: string): string | undefined => {
  const module = Object.keys(modules).find((name) => path.startsWith(`${name}/`))
  return module === undefined ? undefined : join(modules[module]!, path.slice(module.length))
}

/** `core.v1` of `k8s.io/api/core/v1`, `resource` of `k8s.io/apimachinery/pkg/api/resource`. */
const shortName = (path: string): string => (/([^/]+)\/(v\d\w*)$/.exec(path)?.slice(1) ?? [basename(path)]).join(".")

const packages = new Map<string, GoPackage>()

const jsonTag = /json:"([^"]*)"/
const protobufTag = /protobuf:"\w+,(\d+)/

const fieldOf = (line: string): ReadonlyArray<GoField> => {
  const [, json] = jsonTag.exec(line) ?? []
  const [, number] = protobufTag.exec(line) ?? []
  if (json === undefined || number === undefined || line.trim().startsWith("//")) return []
  const words = line.slice(0, line.indexOf("`")).trim().split(/\s+/)
  const [name = "", ...options] = json.split(",")
  const flags = options.includes("omitzero") ? "??" : options.includes("omitempty") ? "?" : ""
  return [{ name, number, type: words.at(-1)!, flags }]
}

const readFile = (text: string, into: GoPackage): void => {
  const [block = ""] = /^import \([^)]*\)/m.exec(text) ?? []
  for (const [, alias, path = ""] of block.matchAll(/^\s*(\w+)?\s*"([^"]+)"/gm)) {
    into.imports.set(alias ?? basename(path), path)
  }
  for (const [, name = "", body = ""] of text.matchAll(/^type (\w+) struct ?\{(\}|\n[\s\S]*?^\})/gm)) {
    into.types.set(name, body.split("\n").flatMap(fieldOf))
  }
  for (const [, comment = "", name = "", type = ""] of text.matchAll(
    /((?:^\/\/.*\n)*)^type (\w+) (?:= )?([\w.[\]*]+)$/gm
  )) {
    into.types.set(name, type)
    if (comment.includes("+protobuf.nullable=true")) into.wrapped.add(name)
  }
}

const packageAt = (path: string): GoPackage | undefined => {
  const known = packages.get(path)
  if (known !== undefined) return known
  const folder = folderOf(path)
  if (folder === undefined || !existsSync(folder)) return undefined
  const found: GoPackage = { name: shortName(path), types: new Map(), wrapped: new Set(), imports: new Map() }
  packages.set(path, found)
  for (const file of readdirSync(folder)) {
    if (file.endsWith(".go") && !/^zz_|_test\.go$|generated/.test(file))
      readFile(readFileSync(join(folder, file), "utf8"), found)
  }
  return found
}

/** Types with JSON of their own; their fields are as protobuf has them. The decoder knows them by name. */
const special: Readonly<Record<string, string>> = {
  "meta.v1.Time": "seconds:1:l nanos:2:i",
  "meta.v1.MicroTime": "seconds:1:l nanos:2:i",
  "meta.v1.FieldsV1": "raw:1:y",
  "runtime.RawExtension": "raw:1:y",
  "resource.Quantity": "string:1:s",
  "intstr.IntOrString": "type:1:i intVal:2:i strVal:3:s",
  "apiextensions.v1.JSON": "raw:1:y",
  "apiextensions.v1.JSONSchemaPropsOrBool": "allows:1:b schema:2:*apiextensions.v1.JSONSchemaProps",
  "apiextensions.v1.JSONSchemaPropsOrArray":
    "schema:1:*apiextensions.v1.JSONSchemaProps schemas:2:[]apiextensions.v1.JSONSchemaProps",
  "apiextensions.v1.JSONSchemaPropsOrStringArray": "schema:1:*apiextensions.v1.JSONSchemaProps property:2:[]s"
}

const scalars: Readonly<Record<string, string>> = {
  string: "s",
  bool: "b",
  int32: "i",
  int64: "l",
  float64: "d",
  "types.UID": "s"
}

const messages = new Map<string, string>()

/** A type as the data writes it: `*b`, `[]core.v1.Container`, `{}resource.Quantity`. */
const typeOf = (type: string, at: GoPackage): string => {
  if (type === "[]byte") return "y"
  if (type.startsWith("*")) return `*${typeOf(type.slice(1), at)}`
  if (type.startsWith("[]")) return `[]${typeOf(type.slice(2), at)}`
  const [, value] = /^map\[[\w.]+\](.+)$/.exec(type) ?? []
  if (value !== undefined) return `{}${typeOf(value, at)}`
  const scalar = scalars[type]
  if (scalar !== undefined) return scalar
  const [first = "", second] = type.split(".")
  const path = second === undefined ? undefined : at.imports.get(first)
  const owner = second === undefined ? at : packageAt(path ?? "")
  const own = second ?? first
  const found = owner?.types.get(own)
  if (owner === undefined || (found === undefined && special[`${owner.name}.${own}`] === undefined)) {
    throw new Error(`${at.name} speaks of ${type}, which was not found`)
  }
  const name = `${owner.name}.${own}`
  if (special[name] === undefined && typeof found === "string") {
    if (!owner.wrapped.has(own)) return typeOf(found, owner)
    messages.set(name, `:1:${typeOf(found, owner)}`)
    return name
  }
  enter(name, owner, own)
  return name
}

const enter = (name: string, owner: GoPackage, own: string): void => {
  if (messages.has(name)) return
  const known = special[name]
  messages.set(name, known ?? "")
  if (known !== undefined) {
    for (const [, next = ""] of known.matchAll(/\.v1\.(JSONSchemaProps)\b/g))
      enter(`${owner.name}.${next}`, owner, next)
    return
  }
  const fields = owner.types.get(own) as ReadonlyArray<GoField>
  messages.set(
    name,
    fields.map(({ flags, name: field, number, type }) => `${field}${flags}:${number}:${typeOf(type, owner)}`).join(" ")
  )
}

/** Where the Go types of a group version are. */
const pathOf = (apiVersion: string): string => {
  const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["core", apiVersion]
  if (group === "apiextensions.k8s.io") return `k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/${version}`
  return `k8s.io/api/${group!.split(".")[0]}/${version}`
}

const meta = "k8s.io/apimachinery/pkg/apis/meta/v1"

const kinds: Record<string, string> = {}
for (const [version, names] of [...Object.entries(wanted), ...Object.entries(unstored)]) {
  const owner = packageAt(pathOf(version))!
  for (const kind of names) {
    kinds[`${version} ${kind}`] = `${owner.name}.${kind}`
    enter(`${owner.name}.${kind}`, owner, kind)
  }
}
for (const kind of ["DeleteOptions", "Status"]) enter(`meta.v1.${kind}`, packageAt(meta)!, kind)

const sorted = (entries: Iterable<readonly [string, string]>): ReadonlyArray<readonly [string, string]> =>
  [...entries].toSorted(([a], [b]) => (a < b ? -1 : 1))

const release = /@(v[\d.]+)$/.exec(api.replace(/\/$/, ""))?.[1] ?? "an unknown release"
writeFileSync(
  target,
  [
    `/** How Go clients write built-in kinds, made by scripts/protobufTypes.ts from the types of k8s.io/api ${release}. Not to be edited. */`,
    "",
    "/** The message of each kind. */",
    "export const kinds = `",
    ...sorted(Object.entries(kinds)).map(([kind, message]) => `${kind} ${message}`),
    "`",
    "",
    "/**",
    " * The fields of each message, in the order of JSON, as `name:number:type`. Without a name, its fields stand in its place. `?` is left out where it is empty,",
    " * `??` where it is zero. `*` may be absent, `[]` is a list, `{}` a map by strings; s is a string, b a bool, i and l whole numbers, d a number, y bytes.",
    " */",
    "export const messages = `",
    ...sorted(messages).map(([name, fields]) => `${name} ${fields}`.trim()),
    "`",
    ""
  ].join("\n")
)
