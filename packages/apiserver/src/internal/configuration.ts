/** ConfigMaps, Secrets and ServiceAccounts (F28, F83, F84). */
import type { StatusCause } from "@fixpoint/core/ApiError"
import type { KubeObject } from "@fixpoint/core/KubeObject"
import type { KindRules } from "./definition.ts"
import { equals, isList, isObject } from "./json.ts"
import { bytes } from "./objectMeta.ts"
import { fieldForbidden, fieldInvalid, fieldRequired, fieldTooLong } from "./refusal.ts"

const valuesMost = 1_048_576
const keyPattern = /^[-._a-zA-Z0-9]+$/
const keyText =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"

const keyCauses = (object: KubeObject, field: string): ReadonlyArray<StatusCause> => {
  const data = object[field]
  if (!isObject(data)) return []
  return Object.keys(data)
    .filter((key) => !keyPattern.test(key) || key === "." || key === "..")
    .map((key) => fieldInvalid(`${field}[${key}]`, key, keyText))
}

/** A key has one value, of text or of bytes. */
const duplicateCauses = ({ binaryData, data }: KubeObject): ReadonlyArray<StatusCause> =>
  isObject(data) && isObject(binaryData)
    ? Object.keys(data)
        .filter((key) => Object.hasOwn(binaryData, key))
        .map((key) => fieldInvalid(`data[${key}]`, key, "duplicate of key present in binaryData"))
    : []

const sizeOf = (data: unknown): number =>
  isObject(data)
    ? Object.values(data).reduce<number>((sum, value) => sum + (typeof value === "string" ? bytes(value) : 0), 0)
    : 0

const immutable = (object: KubeObject, live: KubeObject | undefined, fields: ReadonlyArray<string>) => {
  if (live === undefined || live.immutable !== true) return []
  return [
    ...(object.immutable === true ? [] : ["immutable"]),
    ...fields.filter((field) => !equals(object[field], live[field]))
  ].map((field) => fieldForbidden(field, "field is immutable when `immutable` is set"))
}

export const configMapRules: KindRules = {
  // Empty maps are not stored, and a null value is an empty text (F107).
  defaults: (object) => textOf(withoutEmpty(object, ["data", "binaryData"])),
  undecodable: ({ binaryData }) => notBytes(binaryData),
  validate: (object, live) => [
    ...keyCauses(object, "data"),
    ...duplicateCauses(object),
    ...keyCauses(object, "binaryData"),
    ...(sizeOf(object.data) + sizeOf(object.binaryData) > valuesMost ? [fieldTooLong("[]", valuesMost)] : []),
    ...immutable(object, live, ["data", "binaryData"])
  ]
}

/** Of the secrets of an account only the names count. */
export const serviceAccountRules: KindRules = {
  prepare: (account) =>
    isList(account.secrets)
      ? { ...account, secrets: account.secrets.map((secret) => (isObject(secret) ? { name: secret.name } : secret)) }
      : account
}

const textOf = (object: KubeObject): KubeObject => {
  const { data } = object
  if (!isObject(data) || !Object.values(data).includes(null)) return object
  return { ...object, data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, value ?? ""])) }
}

const withoutEmpty = (object: KubeObject, fields: ReadonlyArray<string>): KubeObject => {
  const empty = fields.filter((field) => {
    const value = object[field]
    return value === null || (isObject(value) && Object.keys(value).length === 0)
  })
  if (empty.length === 0) return object
  return Object.fromEntries(Object.entries(object).filter(([key]) => !empty.includes(key))) as unknown as KubeObject
}

/** What a Secret of a type must hold: one key of each list at least. */
const contents: Readonly<Record<string, ReadonlyArray<ReadonlyArray<string>>>> = {
  "kubernetes.io/basic-auth": [["username", "password"]],
  "kubernetes.io/dockercfg": [[".dockercfg"]],
  "kubernetes.io/dockerconfigjson": [[".dockerconfigjson"]],
  "kubernetes.io/ssh-auth": [["ssh-privatekey"]],
  "kubernetes.io/tls": [["tls.crt"], ["tls.key"]]
}

const accountName = "kubernetes.io/service-account.name"

const contentCauses = ({ data, metadata, type }: KubeObject): ReadonlyArray<StatusCause> => {
  if (type === "kubernetes.io/service-account-token") {
    return metadata.annotations?.[accountName] ? [] : [fieldRequired(`metadata.annotations[${accountName}]`)]
  }
  const held = isObject(data) ? data : {}
  // A private key says something.
  const has = (key: string): boolean => (key === "ssh-privatekey" ? Boolean(held[key]) : Object.hasOwn(held, key))
  return (contents[String(type)] ?? [])
    .filter((keys) => !keys.some(has))
    .flatMap((keys) => keys.map((key) => fieldRequired(`data[${key}]`)))
}

/** Go's text of the first value that is no base64. */
const notBytes = (values: unknown): string | undefined => {
  if (!isObject(values)) return undefined
  for (const value of Object.values(values)) {
    const at = typeof value === "string" ? base64Mistake(value) : undefined
    if (at !== undefined) return `illegal base64 data at input byte ${at}`
  }
  return undefined
}

export const secretRules: KindRules = {
  // A write that is no apply owns what it says in stringData as data (F109).
  defaults: (secret) => {
    const { stringData, ...rest } = withoutEmpty(secret, ["data", "stringData"])
    const own = isObject(stringData)
      ? Object.fromEntries(Object.entries(stringData).map(([key, text]) => [key, base64(String(text))]))
      : undefined
    return {
      ...rest,
      ...(own !== undefined && { data: { ...(isObject(rest.data) ? rest.data : {}), ...own } }),
      type: rest.type ?? "Opaque"
    } as KubeObject
  },
  undecodable: ({ data }) => notBytes(data),
  validate: (object, live) => [
    ...keyCauses(object, "data"),
    ...(sizeOf(object.data) > valuesMost ? [fieldTooLong("data", valuesMost)] : []),
    ...contentCauses(object),
    ...(live !== undefined && object.type !== live.type
      ? [fieldInvalid("type", object.type, "field is immutable")]
      : []),
    ...immutable(object, live, ["data"])
  ]
}

/** The first byte at which Go's decoder stops; line breaks are skipped. */
const base64Mistake = (text: string): number | undefined => {
  const whole = /^[A-Za-z0-9+/]*/.exec(text.replaceAll(/[\r\n]/g, ""))![0]
  const rest = text.replaceAll(/[\r\n]/g, "").slice(whole.length)
  if (whole.length % 4 === 0 && rest === "") return undefined
  if ((whole.length % 4 === 2 && rest === "==") || (whole.length % 4 === 3 && rest === "=")) return undefined
  // A last quantum that is not whole is told by where it begins; a stray letter by where it stands.
  return rest === "" ? whole.length - (whole.length % 4) : whole.length
}

const base64 = (text: string): string => {
  let binary = ""
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte)
  return btoa(binary)
}
