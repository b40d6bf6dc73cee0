/** Certificates for servers on loopback, made anew at each start so that no key lies on a disk. Needs Node. */
import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto"

const tlv = (tag: number, ...parts: ReadonlyArray<Buffer>): Buffer => {
  const body = Buffer.concat(parts)
  const length = body.length
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...head]), body])
}

const sequence = (...parts: ReadonlyArray<Buffer>): Buffer => tlv(0x30, ...parts)
const oid = (hex: string): Buffer => tlv(0x06, Buffer.from(hex, "hex"))
const utcTime = (date: Date): Buffer =>
  tlv(0x17, Buffer.from(`${date.toISOString().slice(2, 19).replaceAll(/[-:T]/g, "")}Z`))

const ecdsaWithSha256 = sequence(oid("2a8648ce3d040302"))

const pem = (der: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${der.toString("base64").replaceAll(/.{1,64}/g, "$&\n")}-----END CERTIFICATE-----\n`

export interface Certificate {
  /** PEM: the server's own, then the authority that signed it. As a whole it serves as a server's chain and as a client's authorities. */
  readonly cert: string
  /** PEM, of the server's own. */
  readonly key: string
}

interface Party {
  readonly subject: Buffer
  readonly privateKey: KeyObject
}

const party = (name: string): Party => ({
  subject: sequence(tlv(0x31, sequence(oid("550403"), tlv(0x0c, Buffer.from(name))))),
  privateKey: generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
})

const day = 86_400_000

const signed = (of: Party, by: Party, extensions: Buffer): string => {
  const now = Date.now()
  const body = sequence(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    tlv(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaWithSha256,
    by.subject,
    sequence(utcTime(new Date(now - day)), utcTime(new Date(now + 365 * day))),
    of.subject,
    createPublicKey(of.privateKey).export({ type: "spki", format: "der" }),
    tlv(0xa3, sequence(extensions))
  )
  const signature = sign("sha256", body, by.privateKey)
  return pem(sequence(body, ecdsaWithSha256, tlv(0x03, Buffer.from([0]), signature)))
}

/** For 127.0.0.1 and localhost; valid for a year. An authority of its own signs it, since some clients take none that is both; the authority's key is forgotten. */
export const makeCertificate = (name: string): Certificate => {
  const authority = party(`${name}-ca`)
  const server = party(name)
  const isAuthority = sequence(tlv(0x01, Buffer.from([0xff])))
  const names = sequence(tlv(0x82, Buffer.from("localhost")), tlv(0x87, Buffer.from([127, 0, 0, 1])))
  const own = signed(server, authority, sequence(oid("551d11"), tlv(0x04, names)))
  const root = signed(
    authority,
    authority,
    sequence(oid("551d13"), tlv(0x01, Buffer.from([0xff])), tlv(0x04, isAuthority))
  )
  return { cert: own + root, key: server.privateKey.export({ type: "pkcs8", format: "pem" }).toString() }
}
