/** Tells why no answer came, in one line without headers, tokens or bodies. Pure. */

const codeOf = (error: unknown): string => {
  if (typeof error !== "object" || error === null) return ""
  const { code, errors, cause, name } = error as { code?: unknown; errors?: unknown; cause?: unknown; name?: unknown }
  if (typeof code === "string" && code !== "") return code
  // Its message may quote what came.
  if (name === "HTTPParserError") return "HPE_INVALID"
  if (Array.isArray(errors)) return codeOf(errors[0])
  return cause === undefined ? "" : codeOf(cause)
}

const unknownHost = "the host name cannot be looked up: is it right, and does DNS know it?"
const unsigned =
  "the server's certificate is not signed by the configured authority: give the CA of this cluster as certificate-authority"

const meanings: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused: is the API server running there?",
  ECONNRESET: "the connection was reset",
  EPIPE: "the connection was reset",
  EHOSTUNREACH: "no way to the host",
  ENETUNREACH: "no way to the network",
  ENOTFOUND: unknownHost,
  EAI_AGAIN: unknownHost,
  ETIMEDOUT: "the connection timed out",
  EPROTO: "the TLS handshake failed: does the server speak TLS on this port?",
  UND_ERR_CONNECT_TIMEOUT: "no connection in time",
  UND_ERR_HEADERS_TIMEOUT: "no answer in time",
  UND_ERR_BODY_TIMEOUT: "the answer stopped midway",
  UND_ERR_SOCKET: "the connection was closed before the answer was complete",
  UND_ERR_INVALID_ARG: "the request cannot be written: is there a line break in the token?",
  ERR_STRING_TOO_LONG: "the answer is too large to read: list in pages",
  ERR_ANSWER_TOO_LARGE: "the answer is larger than any that a server should give here",
  UND_ERR_HEADERS_OVERFLOW: "the headers of the answer are too large",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "the answer is not as long as it says",
  UND_ERR_DESTROYED: "the client was closed",
  UND_ERR_CLOSED: "the client was closed",
  CERT_HAS_EXPIRED: "the server's certificate has expired: renew it, or set this machine's clock",
  CERT_NOT_YET_VALID: "the server's certificate is not valid yet: set this machine's clock",
  ERR_TLS_CERT_ALTNAME_INVALID:
    "the server's certificate is for another name: ask by a name that it bears, or name that as tls-server-name",
  ERR_SSL_WRONG_VERSION_NUMBER: "no TLS is spoken on this port: is it another port, or http instead of https?",
  ERR_SSL_PACKET_LENGTH_TOO_LONG: "no TLS is spoken on this port: is it another port, or http instead of https?",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unsigned,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unsigned,
  SELF_SIGNED_CERT_IN_CHAIN: unsigned,
  DEPTH_ZERO_SELF_SIGNED_CERT: unsigned,
  CERT_SIGNATURE_FAILURE: unsigned
}

const meaningOf = (code: string): string =>
  meanings[code] ??
  (code.startsWith("HPE_")
    ? "the server does not answer in HTTP/1.1: is it a TLS port?"
    : code.startsWith("ERR_TLS_") || code.startsWith("ERR_SSL_")
      ? "the TLS handshake failed"
      : "the request failed")

/** `https://10.0.0.1:443: the connection was refused ... (ECONNREFUSED)` */
export const describe = (error: unknown, server: string): string => {
  const code = codeOf(error)
  return `${server}: ${meaningOf(code)}${code === "" ? "" : ` (${code})`}`
}
