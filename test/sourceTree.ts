/**
 * The repository as its rules see it: text files, and TypeScript modules with their imports, exports and functions.
 *
 * TypeScript 7 keeps its parser's JavaScript API under `unstable`; vite's parser (oxc) is there already and quick.
 */
import { execFileSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path/posix"
import { type ESTree, parseSync, Visitor } from "vite"

export interface TextFile {
  /** Relative to the repository's root, with `/`. */
  readonly path: string
  readonly text: string
}

export interface Import {
  readonly specifier: string
  /** What is imported: a name of the other module, `*` for its namespace, `default`. */
  readonly names: ReadonlyArray<{ readonly imported: string; readonly local: string }>
}

export interface Export {
  readonly name: string
  /** The module that it is passed on from, as `export * as Name from` and `export { name } from` do. */
  readonly from: string | undefined
  /** What it is there: a name or `*` for the whole. */
  readonly imported: string | undefined
  /** An interface or a type alias, which stands for nothing at run time. */
  readonly isType: boolean
}

export interface NamedLines {
  readonly name: string
  /** The first line, counted from 1. */
  readonly line: number
  /** How many lines of code, without blank ones and those of comments alone. */
  readonly lines: number
}

export interface AmbientUse {
  readonly line: number
  readonly what: string
}

export interface TestCall {
  /** The suites around it and its own name, joined by ` > `. */
  readonly path: string
  readonly name: string
  readonly line: number
}

export interface SourceModule extends TextFile {
  /** `core`, or "" outside of `packages`. */
  readonly package: string
  /** `src`, `test`, `typetest` within a package; the first folder outside of them. */
  readonly folder: string
  readonly imports: ReadonlyArray<Import>
  readonly exports: ReadonlyArray<Export>
  readonly functions: ReadonlyArray<NamedLines>
  readonly ambient: ReadonlyArray<AmbientUse>
  readonly tests: ReadonlyArray<TestCall>
  /** Relative paths in string literals, imports apart: a file started as a process or a worker. */
  readonly mentions: ReadonlyArray<string>
  /** The text with every comment blanked out, line for line. */
  readonly code: string
  readonly codeLines: number
  /** Lines of comment alone, without those of the examples in it, which are compiled like code. */
  readonly commentLines: number
}

export interface SourceTree {
  readonly texts: ReadonlyArray<TextFile>
  readonly modules: ReadonlyArray<SourceModule>
}

const blankComments = (text: string, comments: ReadonlyArray<{ start: number; end: number }>): string => {
  let code = ""
  let at = 0
  for (const { start, end } of comments) {
    code += text.slice(at, start) + text.slice(start, end).replace(/[^\n]/g, " ")
    at = end
  }
  return code + text.slice(at)
}

const filled = (text: string): number => text.split("\n").filter((line) => line.trim() !== "").length

const exampleLines = (text: string): number =>
  [...text.matchAll(/^ *\* ```ts[^]*?^ *\* ```$/gm)].reduce((sum, [fence]) => sum + filled(fence), 0)

const exportName = (kind: string, name: string | null): string => (kind === "Name" ? (name ?? "") : kind)

type Parsed = ReturnType<typeof parseSync>

const importsOf = ({ module, program }: Parsed): ReadonlyArray<Import> => {
  const dynamic: Array<Import> = []
  const visit = (source: ESTree.Node) => {
    if (source.type === "Literal" && typeof source.value === "string")
      dynamic.push({ specifier: source.value, names: [] })
  }
  new Visitor({
    ImportExpression: ({ source }) => visit(source),
    TSImportType: ({ source }) => visit(source)
  }).visit(program)
  return [
    ...module.staticImports.map(({ moduleRequest, entries }) => ({
      specifier: moduleRequest.value,
      names: entries.map(({ importName, localName }) => ({
        imported: importName.kind === "NamespaceObject" ? "*" : exportName(importName.kind, importName.name),
        local: localName.value
      }))
    })),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest }) =>
        moduleRequest === null ? [] : [{ specifier: moduleRequest.value, names: [] }]
      )
    ),
    ...dynamic
  ]
}

/** The names that interfaces and type aliases alone declare. */
const typeNames = (program: ESTree.Program): ReadonlySet<string> => {
  const names = new Set<string>()
  const values = new Set<string>()
  for (const statement of program.body) {
    const declaration = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement
    if (declaration?.type === "TSInterfaceDeclaration" || declaration?.type === "TSTypeAliasDeclaration") {
      names.add(declaration.id.name)
    } else if (declaration?.type === "VariableDeclaration") {
      for (const { id } of declaration.declarations) if (id.type === "Identifier") values.add(id.name)
    }
  }
  return new Set([...names].filter((name) => !values.has(name)))
}

const exportsOf = ({ module, program }: Parsed): ReadonlyArray<Export> => {
  const types = typeNames(program)
  const seen = new Set<string>()
  return module.staticExports.flatMap(({ entries }) =>
    entries.flatMap((entry) => {
      const name = exportName(entry.exportName.kind, entry.exportName.name)
      // An overload, or a type and a value of one name, is one export.
      if (seen.has(name)) return []
      seen.add(name)
      const imported =
        entry.moduleRequest === null ? undefined : exportName(entry.importName.kind, entry.importName.name)
      return [
        {
          name,
          from: entry.moduleRequest?.value,
          imported: imported === "All" || imported === "AllButDefault" ? "*" : imported,
          isType: types.has(name)
        }
      ]
    })
  )
}

const functionsOf = (
  program: ESTree.Program,
  code: string,
  lineOf: (at: number) => number
): ReadonlyArray<NamedLines> => {
  const found: Array<NamedLines> = []
  const add = (node: { start: number; end: number; id?: { name: string } | null }) =>
    found.push({
      name:
        node.id?.name ??
        code.slice(0, node.start).match(/([\w$]+)\s*(?:[:=]\s*|\()(?:\w+\.?\w*\()*$/)?.[1] ??
        "a function",
      line: lineOf(node.start),
      lines: filled(code.slice(node.start, node.end))
    })
  new Visitor({ FunctionDeclaration: add, FunctionExpression: add, ArrowFunctionExpression: add }).visit(program)
  return found
}

/** What a pure package may not touch, read as the bare name or as `globalThis.name`. */
const ambientNames = new Set([
  ..."process console performance crypto fetch queueMicrotask".split(" "),
  ..."setTimeout setInterval setImmediate clearTimeout clearInterval clearImmediate".split(" "),
  ..."Buffer require __dirname __filename".split(" ")
])

const ambientOf = (program: ESTree.Program, lineOf: (at: number) => number): ReadonlyArray<AmbientUse> => {
  const found: Array<AmbientUse> = []
  const names = new Map<number, string>()
  const labels = new Set<number>()
  const report = (node: { start: number }, what: string) => found.push({ line: lineOf(node.start), what })
  const isName = (node: ESTree.Node, name: string) => node.type === "Identifier" && node.name === name
  const label = (node: ESTree.Node, computed: boolean) => {
    if (!computed) labels.add(node.start)
  }
  new Visitor({
    Identifier: ({ start, name }) => void (ambientNames.has(name) && names.set(start, name)),
    MemberExpression: ({ object, property, computed, start }) => {
      if (isName(object, "Date") && isName(property, "now")) report({ start }, "Date.now")
      if (isName(object, "Math") && isName(property, "random")) report({ start }, "Math.random")
      if (!isName(object, "globalThis")) label(property, computed)
    },
    Property: ({ key, computed, shorthand }) => label(key, computed || shorthand),
    PropertyDefinition: ({ key, computed }) => label(key, computed),
    MethodDefinition: ({ key, computed }) => label(key, computed),
    TSPropertySignature: ({ key, computed }) => label(key, computed),
    TSMethodSignature: ({ key, computed }) => label(key, computed),
    NewExpression: ({ callee, arguments: given, start }) =>
      void (isName(callee, "Date") && given.length === 0 && report({ start }, "new Date()")),
    CallExpression: ({ callee, start }) => void (isName(callee, "Date") && report({ start }, "Date()"))
  }).visit(program)
  for (const [start, name] of names) if (!labels.has(start)) report({ start }, name)
  return found.toSorted((a, b) => a.line - b.line)
}

const calledName = (callee: ESTree.Node): string => {
  if (callee.type === "Identifier") return callee.name
  if (callee.type === "MemberExpression" && !callee.computed && callee.property.type === "Identifier") {
    return `${calledName(callee.object)}.${callee.property.name}`
  }
  return callee.type === "CallExpression" || callee.type === "TaggedTemplateExpression" ? "called" : ""
}

const textOf = (node: ESTree.Node | undefined): string | undefined => {
  if (node?.type === "Literal" && typeof node.value === "string") return node.value
  return node?.type === "TemplateLiteral" ? node.quasis.map(({ value }) => value.raw).join("${}") : undefined
}

const testsOf = (program: ESTree.Program, lineOf: (at: number) => number): ReadonlyArray<TestCall> => {
  const found: Array<TestCall> = []
  const suites: Array<{ readonly start: number; readonly name: string }> = []
  new Visitor({
    CallExpression: ({ callee, arguments: given, start }) => {
      const called = calledName(callee)
      const name = textOf(given[0])
      if (name === undefined) return
      if (/^describe\b/.test(called)) suites.push({ start, name })
      if (/^(?:it|test)(?:\.|$)/.test(called)) {
        found.push({ name, line: lineOf(start), path: [...suites.map((suite) => suite.name), name].join(" > ") })
      }
    },
    "CallExpression:exit": ({ start, callee }) => {
      if (/^describe\b/.test(calledName(callee)) && suites.at(-1)?.start === start) suites.pop()
    }
  }).visit(program)
  return found
}

const mentionsOf = (program: ESTree.Program): ReadonlyArray<string> => {
  const found: Array<string> = []
  new Visitor({
    Literal: ({ value }) => void (typeof value === "string" && /^\.{1,2}\//.test(value) && found.push(value)),
    // `name${extension}`: the file beside this one, as source or as built.
    TemplateLiteral: ({ quasis: [first] }) =>
      void (/^\w+$/.test(first?.value.raw ?? "") && found.push(`./${first?.value.raw}.ts`))
  }).visit(program)
  return found
}

/** Reads one module; throws when the parser refuses its text. */
export const parseModule = (path: string, text: string): SourceModule => {
  const parsed = parseSync(path, text)
  const [error] = parsed.errors
  if (error !== undefined) throw new Error(`${path} does not parse: ${error.message}`)
  const starts = [...text.matchAll(/^/gm)].map(({ index }) => index)
  const lineOf = (at: number): number => {
    let line = 1
    while (line < starts.length && (starts[line] ?? Infinity) <= at) line++
    return line
  }
  const code = blankComments(text, parsed.comments)
  const codeLines = filled(code)
  const [, owner = "", within = ""] = /^packages\/([^/]+)\/([^/]+)\//.exec(path) ?? []
  return {
    path,
    text,
    package: owner,
    folder: owner === "" ? (path.split("/")[0] ?? "") : within,
    imports: importsOf(parsed),
    exports: exportsOf(parsed),
    functions: functionsOf(parsed.program, code, lineOf),
    ambient: ambientOf(parsed.program, lineOf),
    tests: testsOf(parsed.program, lineOf),
    mentions: mentionsOf(parsed.program),
    code,
    codeLines,
    commentLines: filled(text) - codeLines - exampleLines(text)
  }
}

const textual = /\.(?:ts|mts|js|mjs|json|md|yaml|yml|sh|txt)$|^\.ci\/|(?:^|\/)\.[a-z]+(?:rc|ignore)?$/

/** Every tracked or addable text file of the repository, and its TypeScript parsed. */
export const readSourceTree = (): SourceTree => {
  const listed = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { encoding: "utf8" })
  const paths = listed.split("\n").filter((path) => textual.test(path) && existsSync(path))
  const texts = paths.map((path) => ({ path, text: readFileSync(path, "utf8") }))
  return {
    texts,
    modules: texts.filter(({ path }) => path.endsWith(".ts")).map(({ path, text }) => parseModule(path, text))
  }
}

/** The path of the module that a specifier means, as seen from `from`; `undefined` for what lies outside of the repository. */
export const resolveSpecifier = (from: string, specifier: string): string | undefined => {
  if (specifier.startsWith(".")) return join(dirname(from), specifier)
  const [, owner, sub = "index"] = /^@fixpoint\/([^/]+)(?:\/(.+))?$/.exec(specifier) ?? []
  return owner === undefined ? undefined : `packages/${owner}/src/${sub}.ts`
}
