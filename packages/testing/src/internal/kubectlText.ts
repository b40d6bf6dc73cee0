/** What two servers cannot answer alike is taken out of kubectl's output: times, uids, versions, addresses and ports drawn at random, temporary paths. Nothing else. */

const month = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"

/** Of a Service. */
const address = /\b10\.0\.\d{1,3}\.\d{1,3}\b/g

const rules: ReadonlyArray<readonly [RegExp, string]> = [
  // Times: of the API (RFC 3339), of `describe` (RFC 1123), of `diff`, of a log line of kubectl.
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, "<time>"],
  [new RegExp(`\\w{3}, \\d\\d ${month} \\d{4} \\d\\d:\\d\\d:\\d\\d \\+0000`, "g"), "<time>"],
  [/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ \+0000/g, "<time>"],
  [/^([EIW])\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ /gm, "$1<time> "],
  [/\b(resource ?version\\?["']?: *\\?["']?)\d+/gi, "$1<version>"],
  // How a server was built.
  [/("(?:gitCommit|gitTreeState|goVersion|compiler|platform)": )"[^"]*"/g, '$1"<version>"'],
  [/(?<=127\.0\.0\.1:)\d+/g, "<port>"],
  [address, "<address>"],
  [/(?<=nodePort"?: *|NodePort: +\S+ +)3[0-2]\d{3}\b/gi, "<port>"],
  [/(?<=\b\d{1,5}:)3[0-2]\d{3}(?=\/(?:TCP|UDP))/g, "<port>"],
  // Files that kubectl names by chance.
  [/(?<=\/(?:LIVE|MERGED|kubectl-edit)-)\d+/g, "<number>"]
]

const age = /(?<![\w.])(?:\d+y)?(?:\d+d)?(?:\d+h)?(?:\d+m)?(?:\d+s)?(?<=\d[ydhms])(?!\w)/g

const header = /(?<= {2}|^)(?:AGE|Age|LAST SEEN|FIRST SEEN|CLUSTER-IP)(?= {2}|$)/g

interface Column {
  readonly start: number
  /** `undefined`: to the end of the line. */
  readonly end: number | undefined
}

/** The columns of ages and drawn addresses below this line, if it is a table's header. */
const columnsOf = (line: string): ReadonlyArray<Column> =>
  [...line.matchAll(header)].map(({ index, 0: name }) => {
    const next = line.slice(index + name.length).search(/\S/)
    return { start: index, end: next === -1 ? undefined : index + name.length + next }
  })

/** The cell without what is as wide as chance has it, in a column as wide in every run. */
const cell = (text: string, last: boolean): string => {
  const named = text.trimEnd().replace(age, "<age>").replace(address, "<address>")
  return last ? named : named.padEnd(24)
}

const withoutChance = (line: string, columns: ReadonlyArray<Column>): string => {
  let [rest, at] = ["", 0]
  for (const { start, end } of columns) {
    rest += line.slice(at, start) + cell(line.slice(start, end), end === undefined)
    at = end ?? line.length
  }
  return rest + line.slice(at)
}

/** They stand below their header, up to an empty line; without a header, at the end of a row. */
const tables = (text: string): string => {
  let columns: ReadonlyArray<Column> = []
  return text
    .split("\n")
    .map((line) => {
      const found = columnsOf(line)
      if (found.length > 0 || line === "") columns = found
      return columns.length > 0
        ? withoutChance(line, columns)
        : line.replace(/(?<=\S {3,})\d+[smh](?:\d+[sm])?$/, "<age>")
    })
    .join("\n")
}

const uid = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g

/** The output without what differs from run to run. Uids become numbers in order of their appearance, so that the same one stays the same. */
export const normalise = (text: string, folder: string): string => {
  const uids = new Map<string, number>()
  const named = tables(text.replaceAll(folder, "<folder>")).replace(uid, (found) => {
    if (!uids.has(found)) uids.set(found, uids.size + 1)
    return `<uid ${uids.get(found)}>`
  })
  return rules.reduce((rest, [pattern, instead]) => rest.replace(pattern, instead), named)
}
