/** The sockets to one server: a pool for requests and one for watches, replaced when the TLS material changes. */
import { createRequire } from "node:module"
import type * as Undici from "undici"
import type { Tls } from "../Credentials.ts"

// All of undici takes 50 ms and 14 MB more to load than what is used here. Its version is pinned, and a test compares.
const load = createRequire(import.meta.url)
const Pool = load("undici/lib/dispatcher/pool.js") as typeof Undici.Pool
const ProxyAgent = load("undici/lib/dispatcher/proxy-agent.js") as typeof Undici.ProxyAgent

export interface PoolsOptions {
  /** `https://host:port` */
  readonly origin: string
  readonly proxy: string | undefined
  readonly silenceMillis: number
  /** Of requests; watches have no limit. */
  readonly connections: number
}

export interface Pair {
  readonly requests: Undici.Dispatcher
  readonly watches: Undici.Dispatcher
}

export interface Pools {
  /** The same pair as long as the material is the same value. What runs on older pairs goes on. */
  readonly pair: (tls: Tls) => Pair
  /** Ends everything that runs. */
  readonly destroy: () => Promise<void>
}

/** Below the idle time of servers (90 s) and load balancers (60 s): a socket that they just closed fails the request that is sent on it. */
const keepAliveMillis = 30_000
const connectMillis = 10_000

const makePair = (options: PoolsOptions, tls: Tls): Pair => {
  const connect = {
    ...tls,
    keepAlive: true,
    keepAliveInitialDelay: 30_000,
    timeout: Math.min(connectMillis, options.silenceMillis)
  }
  const pool = (own: { readonly bodyTimeout: number; readonly connections: number | null }): Undici.Dispatcher => {
    const common = {
      ...own,
      // With HTTP/2 and an open watch, a GOAWAY leaves requests unsettled for ever.
      allowH2: false,
      keepAliveTimeout: keepAliveMillis,
      headersTimeout: options.silenceMillis
    }
    return options.proxy === undefined
      ? new Pool(options.origin, { ...common, connect })
      : new ProxyAgent({ ...common, uri: options.proxy, requestTls: connect })
  }
  return {
    requests: pool({ bodyTimeout: options.silenceMillis, connections: options.connections }),
    watches: pool({ bodyTimeout: 0, connections: null })
  }
}

/** Opens no socket before the first request. */
export const makePools = (options: PoolsOptions): Pools => {
  const open = new Set<Undici.Dispatcher>()
  let latest: { readonly tls: Tls; readonly pair: Pair } | undefined

  const retire = (pool: Undici.Dispatcher): void => {
    // Waits for what runs on it. If that fails it stays in `open`, to be destroyed with the rest.
    pool.close().then(
      () => open.delete(pool),
      () => undefined
    )
  }

  return {
    pair: (tls) => {
      if (latest?.tls === tls) return latest.pair
      if (latest !== undefined) {
        retire(latest.pair.requests)
        retire(latest.pair.watches)
      }
      const pair = makePair(options, tls)
      open.add(pair.requests).add(pair.watches)
      latest = { tls, pair }
      return pair
    },
    destroy: async () => {
      await Promise.all([...open].map((pool) => pool.destroy()))
    }
  }
}
