/**
 * Whoever is told by the same command, address or mailbox: what waits for them, in order, and how it went so far. A message
 * that they do not take does not keep the others from them: after some tries it waits behind those of other jobs.
 */
import { type Pace, paceOf, retryAfterMs } from "../../core/notify/pacing.js";
import { type EpochMs, MINUTE_MS } from "../../core/time/instant.js";
import type { Timer } from "../clock.js";
import type { Posted } from "./notices.js";

/** So often in a row one message is tried before those of other jobs have their turn. */
const TRIES_IN_A_ROW = 3;
/** So many are kept one by one where they are the host's own, and where they are a tenant's. */
const MOST_APART = { host: 1_000, tenant: 50 } as const;

export class Place {
  timer: Timer | null = null;
  isBusy = false;
  /** Its tenant has sent enough for this minute. */
  isInLine = false;
  #queue: Posted[] = [];
  #sentAt: readonly EpochMs[] = [];
  readonly #tries = new Map<string, number>();
  /** Of whatever message, since the last that was taken. */
  #failuresInARow = 0;
  #lastError: string | null = null;

  get waiting(): readonly Posted[] {
    return this.#queue;
  }

  get first(): Posted | null {
    return this.#queue[0] ?? null;
  }

  /** Why the last message was not taken; null: it was. */
  get lastError(): string | null {
    return this.#lastError;
  }

  /** Nothing waits, and what was sent does not count any more. */
  isIdle(now: EpochMs): boolean {
    const isQuiet = this.#queue.length === 0 && !this.isBusy && this.timer === null;
    return isQuiet && this.#sentAt.every((at) => at <= now - MINUTE_MS || at > now);
  }

  add(notice: Posted): void {
    this.#queue.push(notice);
  }

  pace(perMinute: number, now: EpochMs): Pace {
    return paceOf(this.#queue.length, this.#sentAt, perMinute, now);
  }

  /** More wait than are kept one by one: they become the one that they will be, whoever's turn it is. */
  isCrowded(of: keyof typeof MOST_APART): boolean {
    return this.#queue.length > MOST_APART[of];
  }

  /** How often it was brought, this time included. */
  tried({ key }: Posted): number {
    const tries = (this.#tries.get(key) ?? 0) + 1;
    this.#tries.set(key, tries);
    return tries;
  }

  sent(notice: Posted, now: EpochMs): void {
    this.#sentAt = [...this.#sentAt.filter((at) => at > now - MINUTE_MS), now];
    this.#failuresInARow = 0;
    this.#lastError = null;
    this.remove([notice]);
  }

  /** How long nobody is to be brought anything. */
  failed({ key, message }: Posted, error: string): number {
    this.#failuresInARow += 1;
    this.#lastError = error;
    const isStubborn = (this.#tries.get(key) ?? 0) % TRIES_IN_A_ROW === 0;
    const others = this.#queue.filter((each) => each.message.identity !== message.identity);
    if (isStubborn && others.length > 0) {
      // Of one job the order stays as it was.
      this.#queue = [...others, ...this.#queue.filter((each) => each.message.identity === message.identity)];
    }
    return retryAfterMs(this.#failuresInARow);
  }

  remove(notices: readonly Posted[]): void {
    const keys = new Set(notices.map(({ key }) => key));
    this.#queue = this.#queue.filter(({ key }) => !keys.has(key));
    for (const key of keys) this.#tries.delete(key);
  }

  /** All of these become one, in front of what has come since. */
  replace(notices: readonly Posted[], by: Posted): void {
    this.remove(notices);
    this.#queue = [by, ...this.#queue];
  }
}
