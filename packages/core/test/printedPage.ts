/** A page whose tables are printed by running the code; the words around them are written in the page. */

/** The page with each part between `<!-- printed: name -->` and `<!-- end -->` as it comes today; each must be there once. */
export const printedPage = (page: string, parts: Readonly<Record<string, () => string>>): string => {
  const names: Array<string> = []
  const anew = page.replace(/(<!-- printed: (\w+) -->\n)[^]*?(<!-- end -->)/g, (_, begin, name, end) => {
    names.push(name)
    return `${begin}\n${parts[name]?.() ?? ""}\n\n${end}`
  })
  const wanted = Object.keys(parts).sort().join()
  if (names.sort().join() !== wanted)
    throw new Error(`the page has the printed parts ${names.join()}: it must have each of ${wanted} once`)
  return anew
}
