/** The order of resourceVersions (D29): decimals are ordered, anything else is opaque text that can only be equal. */

const decimal = /^(0|[1-9][0-9]*)$/

/** Below zero if `a` is older, zero if equal, above if newer; undefined if they differ and one is no decimal. No number is made: any length is exact. */
export const compare = (a: string, b: string): number | undefined => {
  if (a === b) return 0
  if (!decimal.test(a) || !decimal.test(b)) return undefined
  return a.length === b.length ? (a < b ? -1 : 1) : a.length - b.length
}

/** The newer of the two; of two that have no order, the one that came later. */
export const later = (before: string | undefined, next: string): string =>
  before !== undefined && (compare(next, before) ?? 1) < 0 ? before : next
