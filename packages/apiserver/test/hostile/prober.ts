/** A process that asks for one object again and again on one connection, and says on demand how long that took. */
import * as http from "node:http"

/** Milliseconds, in the order in which they were measured; what failed is told apart. */
export interface Probes {
  readonly millis: ReadonlyArray<number>
  readonly failures: ReadonlyArray<string>
}

const [port, token] = process.argv.slice(2)
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
const options = {
  agent,
  host: "127.0.0.1",
  port,
  path: "/api/v1/namespaces/default/configmaps/probe",
  headers: { authorization: `Bearer ${token}` },
  timeout: 20_000
}
const pauseMillis = 2

let millis: Array<number> = []
let failures: Array<string> = []

const probe = (): void => {
  const began = performance.now()
  const next = (failure?: string): void => {
    if (failure === undefined) millis.push(performance.now() - began)
    else failures.push(failure)
    setTimeout(probe, pauseMillis)
  }
  const request = http.get(options, (response) => {
    response.resume()
    response.once("end", () => next(response.statusCode === 200 ? undefined : `code ${response.statusCode}`))
  })
  request.once("error", (error) => next(error.message))
  request.once("timeout", () => request.destroy(new Error("no answer within 20 s")))
}

process.on("message", () => {
  const probes: Probes = { millis, failures }
  millis = []
  failures = []
  process.send?.(probes)
})
process.on("disconnect", () => process.exit(0))
probe()
