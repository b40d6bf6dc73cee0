/**
 * What holds for every file of the repository, as pure functions from the tree to the lines that say what is wrong.
 */
import { resolveSpecifier, type SourceModule, type SourceTree, type TextFile } from "./sourceTree.ts"

export type Rule = (tree: SourceTree) => ReadonlyArray<string>

/** What `src` of each package may import of the others; its own package is always allowed. */
const layers: Readonly<Record<string, ReadonlyArray<string>>> = {
  core: [],
  apiserver: ["core"],
  kubernetes: ["core"],
  testing: ["core", "apiserver"],
  examples: ["core", "apiserver", "kubernetes"],
  benchmark: ["core", "apiserver", "kubernetes"]
}

/** The packages whose `src` touches no clock, chance, process or socket but through Effect's services. */
const purePackages: ReadonlySet<string> = new Set(["core", "apiserver"])

/** Where apiserver meets the machine: its listener for HTTP, which is loaded on demand, and its programs. */
const outerFiles = /^packages\/apiserver\/src\/(?:Certificate\.ts$|internal\/http\/|bin\/)/

const isSource = ({ folder, package: owner }: SourceModule): boolean => owner !== "" && folder === "src"

const packageOf = (path: string): string => /^packages\/([^/]+)\//.exec(path)?.[1] ?? ""

/** An import of `src` follows the layers; tests may also use `testing`; nothing reaches into another package's insides. */
export const importDirection: Rule = ({ modules }) =>
  modules.flatMap(({ path, package: owner, folder, imports }) =>
    imports.flatMap(({ specifier }) => {
      const target = resolveSpecifier(path, specifier)
      const to = target === undefined ? "" : packageOf(target)
      if (owner === "" || to === "" || to === owner) return []
      if (specifier.startsWith(".")) return [`${path} imports ${specifier}: name another package by its name`]
      if (specifier.includes("/internal/"))
        return [`${path} imports ${specifier}: internal modules stay in their package`]
      if (layers[owner]?.includes(to)) return []
      return folder === "src" ? [`${path} imports ${specifier}: ${owner} may not stand on ${to}`] : []
    })
  )

/** Every third-party import of `src` is a dependency in the package's own package.json, and none is there unused. */
export const declaredDependencies: Rule = ({ modules, texts }) =>
  packageFiles(texts).flatMap(({ path, owner, json }) => {
    const declared = Object.keys({ ...json.dependencies, ...json.peerDependencies })
    const own = modules.filter((module) => module.package === owner && isSource(module))
    const used = new Set(
      own.flatMap(({ imports }) =>
        imports.flatMap(({ specifier }) => /^(?!node:)(?:@[^/]+\/)?[^./][^/]*/.exec(specifier)?.[0] ?? [])
      )
    )
    used.delete(`@fixpoint/${owner}`)
    return [
      ...[...used].filter((name) => !declared.includes(name)).map((name) => `${path} does not declare ${name}`),
      ...declared.filter((name) => !used.has(name)).map((name) => `${path} declares ${name}, which src does not import`)
    ]
  })

/** `core` and `apiserver` know no Node, no wall clock, no chance and no console, but for the outer files. */
export const noAmbientUse: Rule = ({ modules }) =>
  modules
    .filter((module) => isSource(module) && purePackages.has(module.package) && !outerFiles.test(module.path))
    .flatMap(({ path, imports, ambient }) => [
      ...imports
        .filter(({ specifier }) => specifier.startsWith("node:"))
        .map(({ specifier }) => `${path} imports ${specifier}`),
      ...ambient.map(({ line, what }) => `${path}:${line} uses ${what}: take it from an Effect service`)
    ])

/** Every module of `src` is reached from the package's index, or is a program that a script or a path in a module names. */
export const noDeadFiles: Rule = ({ modules, texts }) => {
  const sources = new Map(modules.filter(isSource).map((module) => [module.path, module]))
  const named = texts.filter(({ path }) => path === "package.json" || /^(?:vitest\.\w+|scripts\/\w+)\.ts$/.test(path))
  const roots = [...sources.keys()].filter(
    (path) => path.endsWith("/src/index.ts") || named.some(({ text }) => text.includes(path))
  )
  const reached = new Set<string>()
  const visit = (path: string): void => {
    const module = sources.get(path)
    if (module === undefined || reached.has(path)) return
    reached.add(path)
    const specifiers = [...module.imports.map(({ specifier }) => specifier), ...module.mentions]
    for (const specifier of specifiers) visit(resolveSpecifier(path, specifier)?.replace(/\.js$/, ".ts") ?? "")
  }
  for (const root of roots) visit(root)
  return [...sources.keys()].filter((path) => !reached.has(path)).map((path) => `${path} is reached from no index`)
}

const word = (...parts: ReadonlyArray<string>): RegExp =>
  new RegExp(`(?<![\\w$])${parts.map((part) => part.replaceAll("$", "\\$")).join("\\s*\\.\\s*")}(?![\\w$])`, "g")

/** Which exports of which modules one module uses: names it imports, and members of the namespaces it imports. */
const usesOf = (module: SourceModule, byPath: ReadonlyMap<string, SourceModule>): ReadonlySet<string> => {
  const uses = new Set<string>()
  const markMembers = (target: SourceModule, ...names: ReadonlyArray<string>): void => {
    for (const { name, from, imported } of target.exports) {
      if (!word(...names, name).test(module.code)) continue
      mark(target, name)
      const next = from === undefined ? undefined : byPath.get(resolveSpecifier(target.path, from) ?? "")
      if (next !== undefined && imported === "*") markMembers(next, ...names, name)
    }
  }
  const mark = (target: SourceModule, name: string): void => {
    uses.add(`${target.path} ${name}`)
    const passed = target.exports.find(
      (entry) => entry.name === name && entry.from !== undefined && entry.imported !== "*"
    )
    const next = passed?.from === undefined ? undefined : byPath.get(resolveSpecifier(target.path, passed.from) ?? "")
    if (next !== undefined) mark(next, passed?.imported ?? name)
  }
  for (const { specifier, names } of module.imports) {
    const target = byPath.get(resolveSpecifier(module.path, specifier) ?? "")
    if (target === undefined || target === module) continue
    // A dynamic import or an import type names its members in ways that are not followed: the whole module counts.
    if (names.length === 0 && !module.path.endsWith("/index.ts"))
      for (const { name } of target.exports) mark(target, name)
    for (const { imported, local } of names) {
      if (imported === "*") markMembers(target, local)
      else {
        mark(target, imported)
        const entry = target.exports.find(({ name }) => name === imported)
        const next = entry?.from === undefined ? undefined : byPath.get(resolveSpecifier(target.path, entry.from) ?? "")
        if (next !== undefined && entry?.imported === "*") markMembers(next, local)
      }
    }
  }
  return uses
}

/**
 * Every export of `src` is used by another module, a test, a type test or an example; a barrel's passing on is no use.
 * A type is used too where its own module speaks of it beside its declaration.
 */
export const noDeadExports: Rule = ({ modules }) => {
  const byPath = new Map(modules.map((module) => [module.path, module]))
  const uses = new Set(modules.flatMap((module) => [...usesOf(module, byPath)]))
  return modules.filter(isSource).flatMap((module) =>
    module.exports
      .filter(({ name, from }) => from === undefined && !uses.has(`${module.path} ${name}`))
      .filter(({ name, isType }) => !(isType && [...module.code.matchAll(word(name))].length > 1))
      .map(({ name }) => `${module.path} exports ${name}, which nothing else uses`)
  )
}

const vagueName = /(?:^|\/)(?:utils?|common|helpers?|misc|shared|lib)(?:\.[^/]+$|\/)/i

/** A module is named by the noun it is about. */
export const noVagueNames: Rule = ({ modules }) =>
  modules.filter(({ path }) => vagueName.test(path)).map(({ path }) => `${path}: name it by what it is about`)

/** Written in pieces, so that the rule does not find itself. */
const unfinished = new RegExp(`\\b(?:${["TO" + "DO", "FIX" + "ME", "XX" + "X"].join("|")})\\b`)

const machinePath = new RegExp(
  `(?<![\\w.~-])/(?:${["ho" + "me/\\w", "ro" + "ot/", "Us" + "ers/", "wo" + "rk/", "t" + "mp/"].join("|")})`
)

const outside = `../sha${"red"}`

const everyLine = (files: ReadonlyArray<TextFile>, test: (line: string) => string | undefined): ReadonlyArray<string> =>
  files.flatMap(({ path, text }) =>
    text.split("\n").flatMap((line, index) => {
      const said = test(line)
      return said === undefined ? [] : [`${path}:${index + 1} ${said}`]
    })
  )

/** Generated files, which are judged by the scripts that make them. */
const isWritten = ({ path }: TextFile): boolean => !/(?:^|\/)(?:package-lock\.json|data\/[^/]+\.json)$/.test(path)

/** Nothing is left for later in a comment; what is missing stands in an issue. */
export const nothingUnfinished: Rule = ({ texts }) =>
  everyLine(texts.filter(isWritten), (line) => unfinished.exec(line)?.[0].concat(": finish it, or open an issue"))

/** No path of one machine, and no way out of the repository but in the one script that sets the control plane up. */
export const noMachinePaths: Rule = ({ texts }) =>
  everyLine(
    texts.filter((file) => isWritten(file) && file.path !== ".ci/run"),
    (line) => {
      if (line.includes(outside)) return `names ${outside}`
      return machinePath.test(line) ? "names a path of one machine" : undefined
    }
  )

/** The lock file installs from whatever registry is configured. */
export const noRegistryInLock: Rule = ({ texts }) =>
  everyLine(
    texts.filter(({ path }) => path === "package-lock.json" || path.endsWith(".npmrc")),
    (line) => (/"resolved":\s*"\w+:\/\/|registry\s*=/.test(line) ? "names a registry" : undefined)
  )

interface PackageJson {
  readonly name?: string
  readonly version?: string
  readonly private?: boolean
  readonly type?: string
  readonly license?: string
  readonly description?: string
  readonly files?: ReadonlyArray<string>
  readonly sideEffects?: boolean
  readonly exports?: Readonly<Record<string, unknown>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

const packageFiles = (texts: ReadonlyArray<TextFile>) =>
  texts
    .filter(({ path }) => /^packages\/[^/]+\/package\.json$/.test(path))
    .map(({ path, text }) => ({ path, owner: packageOf(path), json: JSON.parse(text) as PackageJson }))

const exportsOf = (folder: "index" | "*") => ({
  "@fixpoint/source": `./src/${folder}.ts`,
  types: `./dist/${folder}.d.ts`,
  default: `./dist/${folder}.js`
})

/** Each package.json has what npm and the source condition need, and every dependency is pinned exactly. */
export const packageFields: Rule = ({ texts }) => {
  const files = packageFiles(texts)
  const versions = new Map(files.map(({ json }) => [json.name, json.version]))
  return files.flatMap(({ path, owner, json }) => {
    const wanted: ReadonlyArray<readonly [string, boolean]> = [
      [`name @fixpoint/${owner}`, json.name === `@fixpoint/${owner}`],
      ["type module", json.type === "module"],
      ["license MIT", json.license === "MIT"],
      ["a description", (json.description ?? "") !== ""],
      ["files with dist and src", json.files?.includes("dist") === true && json.files.includes("src")],
      ["sideEffects false", json.sideEffects === false],
      [
        "private only for examples and benchmark",
        (json.private === true) === ["examples", "benchmark"].includes(owner)
      ],
      ["exports .", JSON.stringify(json.exports?.["."]) === JSON.stringify(exportsOf("index"))],
      ["exports ./*", JSON.stringify(json.exports?.["./*"]) === JSON.stringify(exportsOf("*"))],
      ["exports ./internal/* as null", json.exports?.["./internal/*"] === null],
      ...Object.entries({ ...json.dependencies, ...json.peerDependencies }).map(
        ([name, version]): readonly [string, boolean] => [
          `${name} pinned exactly${versions.has(name) ? " to its version here" : ""}`,
          versions.has(name) ? version === versions.get(name) : /^\d+\.\d+\.\d+$/.test(version)
        ]
      )
    ]
    return wanted.filter(([, ok]) => !ok).map(([what]) => `${path} lacks: ${what}`)
  })
}

const limits = { functionLines: 70, moduleLines: 400 } as const

const isJudgedBySize = (module: SourceModule): boolean => isSource(module) || module.folder === "scripts"

/** A function of more than 70 lines of code hides a noun. */
export const shortFunctions: Rule = ({ modules }) =>
  modules
    .filter(isJudgedBySize)
    .flatMap(({ path, functions }) =>
      functions
        .filter(({ lines }) => lines > limits.functionLines)
        .map(
          ({ name, line, lines }) =>
            `${path}:${line} ${name} has ${lines} lines of code, more than ${limits.functionLines}`
        )
    )

/** A module of more than 400 lines of code is two. */
export const shortModules: Rule = ({ modules }) =>
  modules
    .filter((module) => isJudgedBySize(module) && module.codeLines > limits.moduleLines)
    .map(({ path, codeLines }) => `${path} has ${codeLines} lines of code, more than ${limits.moduleLines}`)

/** Code outweighs comment; a module of few lines may introduce itself at length. */
export const moreCodeThanComment: Rule = ({ modules }) =>
  modules
    .filter((module) => isSource(module) && module.codeLines >= 20 && module.commentLines >= module.codeLines)
    .map(({ path, codeLines, commentLines }) => `${path} has ${commentLines} lines of comment to ${codeLines} of code`)

/** A test says in a sentence what could go wrong, once in its file. */
export const tellingTests: Rule = ({ modules }) =>
  modules.flatMap(({ path, tests }) => {
    const seen = new Set<string>()
    return tests.flatMap((test) => {
      const twice = seen.has(test.path)
      seen.add(test.path)
      if (twice) return [`${path}:${test.line} is named like another test of its suite: ${test.name}`]
      const words = test.name
        .replace(/\([^)]*\)\s*$/, "")
        .trim()
        .split(/\s+/).length
      return words < 3 ? [`${path}:${test.line} says too little: ${test.name}`] : []
    })
  })

/** A test runs, or says at run time why it cannot: none is switched off, singled out or promised. */
export const noSwitchedOffTests: Rule = ({ modules }) =>
  modules
    .filter(({ path }) => path.endsWith(".test.ts"))
    .flatMap(({ path, code }) =>
      everyLine([{ path, text: code }], (line) => {
        const call = /\b(?:it|test|describe)(?:\.\w+)*\.(?:only|todo|skip|fails)\b/.exec(line)?.[0]
        return call === undefined ? undefined : `${call}: a test may only be skipped by skipIf or context.skip(reason)`
      })
    )

/** A finding that stands, why, and the text by which it is known. One that matches nothing is itself a finding. */
export interface Exception {
  readonly finding: string
  readonly reason: string
}

export const apply = (rule: Rule, tree: SourceTree, exceptions: ReadonlyArray<Exception>): ReadonlyArray<string> =>
  rule(tree).filter((line) => !exceptions.some(({ finding }) => line.includes(finding)))
