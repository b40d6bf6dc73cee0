/** The machine as tests talk to it beside a real server: by the paths of HTTP. */
import { definitionAt } from "../src/internal/state.ts"
import type { Definition } from "../src/internal/definition.ts"
import type { Request, Response } from "../src/internal/request.ts"
import * as Server from "../src/internal/server.ts"
import type { WireEvent } from "../src/internal/watching.ts"

export interface MemoryServer {
  readonly request: (
    method: Request["method"],
    path: string,
    body?: unknown,
    options?: { readonly contentType?: string; readonly user?: Request["user"] }
  ) => Response & { readonly body: any }
  /** The events that a watch begins with. */
  readonly initialEvents: (path: string) => ReadonlyArray<WireEvent>
  readonly definition: (group: string, version: string, plural: string) => Definition
  /** In milliseconds since 1970: requests are answered at this time. */
  now: number
}

const json = "application/json"

const placeOf = (
  path: string
): Pick<Request, "group" | "version" | "plural" | "namespace" | "name" | "subresource" | "query"> => {
  const { pathname, searchParams } = new URL(path, "http://memory")
  const parts = pathname.split("/").filter((part) => part !== "")
  const [group, version, ...rest] = parts[0] === "api" ? ["", ...parts.slice(1)] : parts.slice(1)
  const isInside = rest[0] === "namespaces" && rest.length > 2 && rest[2] !== "status"
  const [plural, name, subresource] = isInside ? rest.slice(2) : rest
  return {
    group: group!,
    version: version!,
    plural: plural!,
    ...(isInside && { namespace: rest[1] }),
    ...(name !== undefined && { name }),
    ...(subresource !== undefined && { subresource }),
    query: Object.fromEntries(searchParams)
  }
}

export const make = (now = Date.now()): MemoryServer => {
  const server = Server.make(now, 1)
  const memory: MemoryServer = {
    now,
    request: (method, path, body, { contentType = json, user } = {}) =>
      Server.handle(
        server,
        {
          method,
          ...placeOf(path),
          ...(body !== undefined && { body: JSON.parse(JSON.stringify(body)), contentType }),
          userAgent: "test",
          ...(user !== undefined && { user })
        },
        memory.now
      ).response,
    initialEvents: (path) => {
      const watch = Server.openWatch(server, { method: "GET", ...placeOf(path), userAgent: "test" }, memory.now)
      if ("code" in watch) throw new Error(JSON.stringify(watch.body))
      return watch.initial
    },
    definition: (group, version, plural) => definitionAt(server.state, group, version, plural)!
  }
  return memory
}
