/**
 * How a pipeline runs: a flat list of links walked by one iterator, instead of a nest of flatMaps that each copy the context.
 *
 * Guarantee: no link sees a name of its context change. Names are only added to the one object that the walk made for itself; giving a name a new value
 * makes another object.
 */
import * as Effect from "effect/Effect"

type AnyEffect = Effect.Effect<any, any, any>
type Ctx = Readonly<Record<string, unknown>>

/** What becomes of a link's result: a named value of the context, nothing, or the context itself. */
export type Link =
  | { readonly _tag: "Bind"; readonly name: string; readonly run: (ctx: any) => AnyEffect }
  | { readonly _tag: "Tap"; readonly run: (ctx: any) => AnyEffect }
  | { readonly _tag: "Block"; readonly run: (ctx: any) => AnyEffect }

/** The iterator that `Effect.gen` drives; written out, since a generator's frame would cost more than the walk. */
class Walk {
  private index = 0
  /** Whether `ctx` was made by this walk, which may then add names to it. */
  private own = false
  private readonly links: ReadonlyArray<Link>
  private ctx: Ctx

  constructor(links: ReadonlyArray<Link>, start: Ctx) {
    this.links = links
    this.ctx = start
  }

  next(value: unknown): IteratorResult<AnyEffect, Ctx> {
    if (this.index > 0) this.take(this.links[this.index - 1]!, value)
    if (this.index === this.links.length) return { done: true, value: this.ctx }
    return { done: false, value: this.links[this.index++]!.run(this.ctx) }
  }

  private take(link: Link, value: unknown): void {
    if (link._tag === "Tap") return
    if (link._tag === "Block") {
      if (value !== this.ctx) this.own = false
      this.ctx = value as Ctx
      return
    }
    if (!this.own || Object.hasOwn(this.ctx, link.name)) {
      this.ctx = { ...this.ctx }
      this.own = true
    }
    ;(this.ctx as Record<string, unknown>)[link.name] = value
  }
}

/** Runs the links in turn. Each run walks anew, so the effect may be retried. */
export const walk = (links: ReadonlyArray<Link>, start: Ctx): AnyEffect => {
  if (links.length === 0) return Effect.succeed(start)
  const only = links[0]!
  if (links.length === 1 && only._tag === "Block") return Effect.suspend(() => only.run(start))
  return Effect.gen(() => new Walk(links, start) as any)
}

/** The context with what the branches added or changed; where two changed one name, the later branch. */
export const join = (ctx: Ctx, branches: ReadonlyArray<Ctx>): Ctx => {
  const joined: Record<string, unknown> = { ...ctx }
  for (const branch of branches) {
    for (const name of Object.keys(branch)) {
      if (!Object.hasOwn(ctx, name) || branch[name] !== ctx[name]) joined[name] = branch[name]
    }
  }
  return joined
}
