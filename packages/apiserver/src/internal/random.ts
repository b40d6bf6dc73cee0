/** What a server draws by chance, from one seed that comes with the request: the same request answers the same. */
export interface Draw {
  /** A version 4 UUID (F1). */
  readonly uid: () => string
  /** Five letters and digits without vowels, for generateName (F11). */
  readonly suffix: () => string
  /** A whole number from 0 to below the bound. */
  readonly below: (bound: number) => number
}

const alphabet = "bcdfghjklmnpqrstvwxz2456789"
const hex = Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, "0"))

/** `seed` is any 32-bit whole number (splitmix32). */
export const draw = (seed: number): Draw => {
  let state = seed | 0
  const word = (): number => {
    state = (state + 0x9e3779b9) | 0
    let z = state ^ (state >>> 16)
    z = Math.imul(z, 0x21f0aaad)
    z ^= z >>> 15
    z = Math.imul(z, 0x735a2d97)
    return (z ^ (z >>> 15)) >>> 0
  }
  const bytes = (n: number): string => hex[n >>> 24]! + hex[(n >>> 16) & 255]! + hex[(n >>> 8) & 255]! + hex[n & 255]!
  const below = (bound: number): number => Math.floor((word() / 0x1_0000_0000) * bound)
  return {
    below,
    uid: () => {
      const [a, b, c, d] = [bytes(word()), bytes(word()), bytes(word()), bytes(word())]
      const variant = "89ab"[Number.parseInt(c[0]!, 16) & 3]!
      return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-${variant}${c.slice(1, 4)}-${c.slice(4)}${d}`
    },
    suffix: () => Array.from({ length: 5 }, () => alphabet[below(alphabet.length)]!).join("")
  }
}
