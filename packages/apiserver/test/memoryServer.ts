/** The machine as tests talk to it beside a real server: by the paths of HTTP. */
import { definitionAt } from "../src/internal/state.ts"
import type { Definition } from "../src/internal/definition.ts"
import type { Request, Response } from "../src/internal/request.ts"
import * as Server from "../src/internal/server.ts"

export interface MemoryServer {
  readonly request: (
    method: Request["method"],
    path: string,
    body?: unknown,
    options?: { readonly contentType?: string; readonly user?: Request["user"] }
  ) => Response & { readonly body: any }
  readonly definition: (group: string, version: string, plural: string) => Definition
  /** In milliseconds since 1970: requests are answered at this time. */
  now: number
}

const json = "application/json"

export const make = (now = Date.now()): MemoryServer => {
  const server = Server.make(now, 1)
  const memory: MemoryServer = {
    now,
    request: (method, path, body, { contentType = json, user } = {}) => {
      const { pathname, searchParams } = new URL(path, "http://memory")
      const parts = pathname.split("/").filter((part) => part !== "")
      const [group, version, ...rest] = parts[0] === "api" ? ["", ...parts.slice(1)] : parts.slice(1)
      const isInside = rest[0] === "namespaces" && rest.length > 2 && rest[2] !== "status"
      const [plural, name, subresource] = isInside ? rest.slice(2) : rest
      return Server.handle(
        server,
        {
          method,
          group: group!,
          version: version!,
          plural: plural!,
          ...(isInside && { namespace: rest[1] }),
          ...(name !== undefined && { name }),
          ...(subresource !== undefined && { subresource }),
          query: Object.fromEntries(searchParams),
          ...(body !== undefined && { body: structuredClone(body), contentType }),
          userAgent: "test",
          ...(user !== undefined && { user })
        },
        memory.now
      ).response
    },
    definition: (group, version, plural) => definitionAt(server.state, group, version, plural)!
  }
  return memory
}
