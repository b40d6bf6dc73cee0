/** The plural of a kind, as the API machinery guesses it (`meta.UnsafeGuessKindToResource`): what a CRD of that kind is expected to say. */
export const pluralOf = (kind: string): string => {
  const singular = kind.toLowerCase()
  if (singular === "endpoints") return singular
  if (/(s|x|z|ch|sh)$/.test(singular)) return `${singular}es`
  if (/[^aeiou]y$/.test(singular)) return `${singular.slice(0, -1)}ies`
  return `${singular}s`
}
