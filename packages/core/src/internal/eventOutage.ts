/**
 * Whether the server may be asked to take an Event now: it is left alone while it fails, and asked ever more seldom until it answers (D17, P20). Pure; times
 * are milliseconds of a clock that never goes back, so that a corrected wall clock stops nobody.
 *
 * A failure that only one Event meets may be the fault of that Event, so it rests alone while others go on; as soon as a second one meets it too, with no
 * success between, all wait and one at a time tries whether the server is back. An Event that fails again and again while others pass is given up.
 */

/** The pause after the first failure; it doubles with each further one in a row ... */
const firstPause = 1_000
/** ... up to this one. */
const longestPause = 60_000
/** A server is obeyed that asks to be left alone, but not for longer than this: events are worth asking again. */
const longestObeyed = 300_000
/** A try that is not answered by then, whatever holds it, keeps others from trying no longer. */
const longestTry = 30_000
/** Between tries while the end is near, whatever the server asks for. */
const lastPause = 500
/** Events that have failed in a row, from which on it is the server that fails. */
const suspectsMax = 2
/** An outage is told at this failure in a row: a short one is nobody's business. */
export const failuresTold = 4
/** Failures of one Event, with successes of others between them, after which it is given up. */
export const strikesMax = 4

/** What an Event has met that is not posted yet. */
export interface Trouble {
  readonly tries: number
  /** Tries that failed although others had passed since the one before. */
  readonly strikes: number
  readonly failedAt: number
  /** How many had passed by then. */
  readonly passed: number
}

/** One request under way, and what was known when it began. */
export interface Attempt {
  readonly at: number
  readonly passed: number
  readonly round: number
}

interface Troubled {
  readonly id: string
  trouble: Trouble | undefined
}

/** Whose fault a failure may be: this Event's alone, the server's if others meet it too, or the server's for sure. */
export type Blame = "event" | "either" | "server"

const pauseAfter = (failures: number): number => Math.min(longestPause, firstPause * 2 ** (failures - 1))

export class Outage {
  private passed = 0
  /** In a row. Those that were under way at once count as one. */
  private failures = 0
  private round = 0
  private since = 0
  private readonly suspects = new Set<string>()
  /** One try at a time, whoever waits. */
  private closed = false
  private probe: Attempt | undefined
  private nextAt = 0
  /** Until when the server has asked to be left alone. */
  private heldUntil = 0
  private hurried = false
  private told = false

  /** Whether the last answer of the server, if there was one, was a failure. */
  get isFailing(): boolean {
    return this.failures > 0
  }

  get isTold(): boolean {
    return this.told
  }

  /** Whether one at a time tries for all. */
  get isClosed(): boolean {
    return this.closed
  }

  mayAsk(now: number): boolean {
    return now >= this.dueAt
  }

  /** Until when an Event rests of its own failures. */
  restsUntil({ trouble }: Troubled): number {
    if (trouble === undefined) return 0
    const alone = trouble.passed !== this.passed
    const pause = this.hurried ? lastPause : pauseAfter(alone ? trouble.strikes : trouble.tries)
    return trouble.failedAt + pause
  }

  /** When one may be asked next, if nothing is answered before. */
  get dueAt(): number {
    if (!this.closed) return this.heldUntil
    const untried = this.probe === undefined ? 0 : this.probe.at + longestTry
    return Math.max(this.heldUntil, this.nextAt, untried)
  }

  begin(now: number): Attempt {
    const attempt: Attempt = { at: now, passed: this.passed, round: this.round }
    if (this.closed) this.probe = attempt
    return attempt
  }

  /** The server took it. How long it had failed before, if that was told. */
  succeed(attempt: Attempt, now: number): number | undefined {
    this.answer(attempt)
    this.passed++
    if (this.failures === 0) return undefined
    const lasted = this.told ? now - this.since : undefined
    this.recover()
    return lasted
  }

  /** The server answered something that says nothing about how others would fare. */
  answer(attempt: Attempt): void {
    if (this.probe === attempt) this.probe = undefined
  }

  /**
   * The server did not take it; `asked`: for how long it wants to be left alone. Whether the outage has now lasted long enough to be told, and whether this
   * Event is given up.
   */
  fail(
    event: Troubled,
    attempt: Attempt,
    blame: Blame,
    asked: number,
    now: number
  ): { readonly isNews: boolean; readonly isHopeless: boolean } {
    this.answer(attempt)
    event.trouble = this.troubleOf(event.trouble, blame, now)
    this.heldUntil = Math.max(this.heldUntil, now + Math.min(asked, this.hurried ? 0 : longestObeyed))
    const isNews = blame !== "event" && attempt.passed === this.passed && this.accuse(event.id, attempt, blame, now)
    return { isNews, isHopeless: event.trouble.strikes >= strikesMax }
  }

  /** The end is near: no pause goes on, and new ones are short. */
  hurry(): void {
    this.hurried = true
    this.recover()
    this.heldUntil = 0
  }

  private troubleOf(before: Trouble | undefined, blame: Blame, now: number): Trouble {
    const { passed } = this
    if (before === undefined) return { tries: 1, strikes: 1, failedAt: now, passed }
    const isStrike = blame === "event" || before.passed !== passed
    return { tries: before.tries + 1, strikes: before.strikes + (isStrike ? 1 : 0), failedAt: now, passed }
  }

  /** Whether the outage has now lasted long enough to be told. */
  private accuse(id: string, { round }: Attempt, blame: Blame, now: number): boolean {
    if (this.suspects.size < suspectsMax) this.suspects.add(id)
    if (blame === "server" || this.suspects.size >= suspectsMax) this.closed = true
    if (round !== this.round) return false
    this.round++
    this.failures++
    if (this.failures === 1) this.since = now
    this.nextAt = now + (this.hurried ? lastPause : pauseAfter(this.failures))
    if (this.failures < failuresTold || this.told || this.hurried) return false
    this.told = true
    return true
  }

  private recover(): void {
    this.failures = 0
    this.round++
    this.suspects.clear()
    this.closed = false
    this.probe = undefined
    this.nextAt = 0
    this.told = false
  }
}
