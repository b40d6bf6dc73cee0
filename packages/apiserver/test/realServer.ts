/** A real API server as tests talk to it: plain requests, plain answers. */
import * as https from "node:https"
import type { Connection } from "@fixpoint/testing/ControlPlane"
import * as Effect from "effect/Effect"

export interface Answer {
  readonly code: number
  readonly body: any
}

export interface RealServer {
  readonly request: (
    method: string,
    path: string,
    body?: unknown,
    options?: { readonly accept?: string; readonly contentType?: string; readonly userAgent?: string }
  ) => Effect.Effect<Answer>
}

export const merge = "application/merge-patch+json"
export const json = "application/json-patch+json"
export const apply = "application/apply-patch+yaml"

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

export const make = (connection: Connection): RealServer => {
  const agent = new https.Agent({ keepAlive: true, ca: connection.ca })
  return {
    request: (method, path, body, options = {}) =>
      Effect.callback<Answer>((resume) => {
        const sent = https.request(
          `${connection.url}${path}`,
          {
            method,
            agent,
            timeout: 30_000,
            headers: {
              authorization: `Bearer ${connection.token}`,
              accept: options.accept ?? "application/json",
              "user-agent": options.userAgent ?? "test",
              ...(body !== undefined && { "content-type": options.contentType ?? "application/json" })
            }
          },
          (answer) => {
            const chunks: Array<Buffer> = []
            answer.on("data", (chunk: Buffer) => chunks.push(chunk))
            answer.on("end", () =>
              resume(
                Effect.succeed({ code: answer.statusCode ?? 0, body: parse(Buffer.concat(chunks).toString("utf8")) })
              )
            )
          }
        )
        sent.on("error", (error) => resume(Effect.die(error)))
        sent.end(body === undefined ? undefined : JSON.stringify(body))
        return Effect.sync(() => sent.destroy())
      })
  }
}

/** Creates a CRD and waits until its objects are served. */
export const serve = (server: RealServer, definition: any): Effect.Effect<void> =>
  Effect.gen(function* () {
    const { group, names, versions } = definition.spec
    const made = yield* server.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
    if (made.code !== 201) throw new Error(`the CRD was refused: ${JSON.stringify(made.body)}`)
    const list = `/apis/${group}/${versions[0].name}/${names.plural}`
    for (let tries = 0; tries < 200; tries++) {
      const answer = yield* server.request("GET", list)
      const openApi = yield* server.request("GET", `/openapi/v3/apis/${group}/${versions[0].name}`)
      if (answer.code === 200 && openApi.code === 200) return
      yield* Effect.sleep("50 millis")
    }
    throw new Error("the CRD was not served within 10 s")
  })
