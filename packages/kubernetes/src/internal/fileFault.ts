/** Why a file cannot be read, in words. */
const meanings: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  ENOTDIR: "there is no such file",
  EACCES: "this user may not read it",
  EISDIR: "it is a folder"
}

/** `there is no such file (ENOENT)` */
export const fileFault = (error: unknown): string => {
  const code = typeof error === "object" && error !== null ? (error as { code?: unknown }).code : undefined
  if (typeof code !== "string") return "unknown error"
  const meaning = meanings[code]
  return meaning === undefined ? code : `${meaning} (${code})`
}
