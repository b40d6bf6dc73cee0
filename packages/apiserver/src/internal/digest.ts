/** A short name for what a text says: entity tags and the like, where nobody gains by a collision. */

/** 32 hexadecimal digits (four lanes of a multiplicative hash over UTF-16 units). */
export const digest = (text: string): string => {
  const lanes = [0x811c9dc5, 0x1b873593, 0x85ebca6b, 0xc2b2ae35]
  let [a = 0, b = 0, c = 0, d = 0] = lanes
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    a = Math.imul(a ^ unit, 0x01000193)
    b = Math.imul(b ^ (unit + a), 0x27d4eb2f)
    c = Math.imul(c ^ (unit + (b >>> 7)), 0x165667b1)
    d = Math.imul(d ^ (unit + (c >>> 11)), 0x9e3779b1)
  }
  return [a, b, c, d]
    .map((lane) => (Math.imul(lane ^ (lane >>> 15), 0x2c1b3c6d) >>> 0).toString(16).padStart(8, "0"))
    .join("")
    .toUpperCase()
}
