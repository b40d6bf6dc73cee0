/**
 * A watch over HTTP: one line of JSON an event, as chunks of one answer.
 *
 * Guarantees: the lines come in the order of the events; what waits for a slow reader is bounded, and a reader that is too far behind is ended; nothing
 * of a watch outlives its connection.
 */
import type { ApiError, Operation } from "@fixpoint/core/ApiError"
import * as Effect from "effect/Effect"
import type { Definition } from "../definition.ts"
import * as Exchange from "../exchange.ts"
import { type Sink, watchCapacity } from "../server.ts"
import type { Watch, WireEvent } from "../watching.ts"
import { conduct, headersOf, send } from "./answering.ts"
import type { Shown } from "./shaping.ts"
import { conclude, type Site, type Visit } from "./site.ts"

/** Of lines that wait for a reader, beside what the socket holds: 8 MiB, and less when all readers together are far behind. */
const waitingMost = 8_388_608
const waitingMostInNeed = 262_144
const waitingAllMost = 134_217_728

/** Lines are written together up to about this many bytes. */
const writeBytes = 65_536

/** Bytes that wait in all watches of this process. */
let waitingAll = 0

/** Between the events and the socket. */
class Writer implements Sink {
  readonly site: Site
  readonly visit: Visit
  readonly shown: Shown
  /** Known from the start on. */
  definition: Definition | undefined
  initial: ReadonlyArray<WireEvent> = []
  /** What came before the start. */
  early: Array<WireEvent> = []
  told = 0
  /** Whether a line has been made, which is the first then. */
  headed = false
  lines: Array<Buffer> = []
  waiting = 0
  bytes = 0
  started = false
  over = false
  blocked = false
  /** Called once, when nothing more comes. */
  done: () => void = () => undefined

  readonly turn = (): void => this.pump()

  constructor(site: Site, visit: Visit, shown: Shown) {
    this.site = site
    this.visit = visit
    this.shown = shown
  }

  line(event: WireEvent): Buffer {
    const { name, shape } = this.shown
    const first = !this.headed
    this.headed = true
    return this.site.eventLine(event, first ? `${name} first` : name, (object) =>
      event.type === "ERROR" ? object : shape(this.definition!, object, first)
    )
  }

  offer(event: WireEvent): boolean {
    if (this.over) return true
    if (!this.started) return this.early.push(event) <= watchCapacity
    const line = this.line(event)
    if (this.waiting > (waitingAll > waitingAllMost ? waitingMostInNeed : waitingMost)) return false
    this.lines.push(line)
    this.waiting += line.length
    waitingAll += line.length
    if (!this.blocked) this.site.turns.soon(this.turn)
    return true
  }

  end(failure?: ApiError): void {
    if (this.over) return
    this.over = true
    if (failure !== undefined) {
      this.visit.incoming.socket.destroy()
      return
    }
    if (this.started && !this.blocked) this.site.turns.soon(this.turn)
  }

  start({ definition, failed, initial }: Watch): void {
    const { outgoing } = this.visit
    outgoing.writeHead(200, headersOf(this.visit, { warnings: [] }, "application/json"))
    outgoing.flushHeaders()
    outgoing.on("drain", () => {
      this.blocked = false
      this.pump()
    })
    this.definition = definition
    this.initial = this.early.length === 0 ? initial : [...initial, ...this.early]
    this.early = []
    this.started = true
    if (failed) this.over = true
    this.pump()
  }

  /** The next lines, joined; undefined if there are none. */
  next(): Buffer | undefined {
    const lines: Array<Buffer> = []
    let size = 0
    while (this.told < this.initial.length && size < writeBytes) {
      const line = this.line(this.initial[this.told]!)
      this.told++
      lines.push(line)
      size += line.length
    }
    if (this.told === this.initial.length && size < writeBytes) {
      let count = 0
      while (count < this.lines.length && size < writeBytes) size += this.lines[count++]!.length
      const taken = count === this.lines.length ? this.lines : this.lines.slice(0, count)
      this.lines = count === this.lines.length ? [] : this.lines.slice(count)
      const bytes = taken.reduce((sum, { length }) => sum + length, 0)
      this.waiting -= bytes
      waitingAll -= bytes
      lines.push(...taken)
    }
    return lines.length === 0 ? undefined : lines.length === 1 ? lines[0] : Buffer.concat(lines, size)
  }

  pump(): void {
    const { outgoing } = this.visit
    while (!this.blocked && !outgoing.destroyed) {
      const chunk = this.next()
      if (chunk === undefined) break
      this.bytes += chunk.length
      this.blocked = !outgoing.write(chunk)
    }
    if (!this.over || this.blocked) return
    outgoing.end()
    this.done()
  }

  release(): void {
    this.over = true
    waitingAll -= this.waiting
    this.waiting = 0
    this.lines = []
    this.initial = []
    this.early = []
  }
}

/** Answers a watch until it ends on either side. */
export const answerWatch = (
  site: Site,
  visit: Visit,
  operation: Operation,
  request: Exchange.Unstamped,
  shown: Shown
): void => {
  const writer = new Writer(site, visit, shown)
  const end = (): void => writer.end()
  site.watches.add(end)
  const watching = Effect.gen(function* () {
    const opened = yield* Exchange.openWatch(site.running, operation, request, writer)
    if ("code" in opened) return send(site, visit, opened)
    visit.outgoing.once("close", () => conclude(site, visit, 200, writer.bytes))
    yield* Effect.callback<void>((resume) => {
      writer.done = () => resume(Effect.void)
      writer.start(opened)
    })
  })
  const released = Effect.ensuring(
    watching,
    Effect.sync(() => {
      site.watches.delete(end)
      writer.release()
    })
  )
  conduct(site, visit, Effect.scoped(released))
}
