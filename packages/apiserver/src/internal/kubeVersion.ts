/** Names of versions of an API group: `v1`, `v2beta1`. */

const stages = ["alpha", "beta", undefined]

/** Stable before beta before alpha, higher numbers first; names of another form come last, by name. */
export const compareVersions = (a: string, b: string): number => {
  const [left, right] = [a, b].map((version) => /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version))
  if (!left || !right) {
    if (left || right) return left ? -1 : 1
    return a < b ? -1 : a > b ? 1 : 0
  }
  return (
    stages.indexOf(right[2]) - stages.indexOf(left[2]) ||
    Number(right[1]) - Number(left[1]) ||
    Number(right[3] ?? 0) - Number(left[3] ?? 0)
  )
}
