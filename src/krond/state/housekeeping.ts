/** Keeps the ledger within its bounds (S36), a page at a time, so that a big store never holds anything up. */
import type { Clock, Timer } from "../../actors/clock.js";
import { turnOfLoop } from "../../actors/turns.js";
import type { Settings } from "../../core/config/settings.js";
import { HOUR_MS, MINUTE_MS } from "../../core/time/instant.js";
import { shareOf } from "../../persist/key-range.js";
import type { LockTerm } from "../../persist/lock.js";
import {
  dropOldLedger,
  type RetentionRule,
  type SweepPosition,
  sweepAlive,
  sweepGone,
  sweepLedger,
} from "../../persist/retention.js";
import type { StateStore } from "../../persist/store.js";

/** A part of the ledger that is this daemon's to look after. */
export interface Sweep {
  /** Of a part of the keys it takes that part of the records which may be kept. */
  readonly store: StateStore;
  jobs(): number;
  /** Whether it drops what is too old in all of the ledger: one of all daemons does. */
  readonly dropsOld: boolean;
}

interface HousekeepingPorts {
  readonly clock: Clock;
  readonly term: LockTerm;
  /** What there is to sweep now. */
  sweeps(): readonly Sweep[];
  ledger(): Settings["ledger"];
  /** Nothing is begun by a daemon that ends. */
  mayStart(): boolean;
  onFailure(error: unknown): void;
}

const FIRST_SWEEP_AFTER_MS = 5 * MINUTE_MS;
const SWEEP_EVERY_MS = HOUR_MS;
const PAUSE_BETWEEN_PAGES_MS = 50;
/** However many jobs share the ledger, of each so many records stay. */
const LEAST_PER_JOB = 100;

/** Returns what stops it. */
export function startHousekeeping(ports: HousekeepingPorts): () => void {
  const sweeper = new Sweeper(ports);
  sweeper.later(FIRST_SWEEP_AFTER_MS);
  return () => sweeper.stop();
}

class Sweeper {
  #timer: Timer | null = null;
  #position: SweepPosition | null = null;
  /** Of the present round; the first of them is being swept. */
  #left: readonly Sweep[] = [];
  readonly #ports: HousekeepingPorts;

  constructor(ports: HousekeepingPorts) {
    this.#ports = ports;
  }

  later(delayMs: number): void {
    if (this.#ports.mayStart()) this.#timer = this.#ports.clock.after(delayMs, () => void this.#step());
  }

  stop(): void {
    this.#timer?.cancel();
  }

  async #step(): Promise<void> {
    const { clock, sweeps } = this.#ports;
    if (this.#left.length === 0) this.#left = sweeps();
    const [sweep] = this.#left;
    if (sweep === undefined) return this.later(SWEEP_EVERY_MS);
    const { maxAgeMs, maxRecords } = this.#ports.ledger();
    const olderThan = clock.now() - maxAgeMs;
    const most = maxRecords * shareOf(sweep.store.range);
    const keepPerIdentity = Math.max(LEAST_PER_JOB, Math.floor(most / Math.max(1, sweep.jobs())));
    try {
      await this.#sweep(sweep, { olderThan, keepPerIdentity });
    } catch (error) {
      if (this.#ports.mayStart()) this.#ports.onFailure(error);
      return;
    }
    if (this.#position === null) this.#left = this.#left.slice(1);
    this.later(this.#left.length === 0 ? SWEEP_EVERY_MS : PAUSE_BETWEEN_PAGES_MS);
  }

  /** A page of it; at its end the marks of being alive, and what is left of jobs that are gone. */
  async #sweep({ store, dropsOld }: Sweep, rule: RetentionRule): Promise<void> {
    const { term } = this.#ports;
    if (this.#position === null && dropsOld) await dropOldLedger(store, term, rule.olderThan);
    const { next } = await sweepLedger(store, term, rule, this.#position);
    this.#position = next;
    if (next === null) await sweepAlive(store, term, rule.olderThan);
    // What endpoints have left is in no part of the keys: one of all daemons looks after it.
    if (next !== null || !dropsOld) return;
    for (let after: string | null = null; this.#ports.mayStart(); await turnOfLoop()) {
      after = await sweepGone(store, term, rule.olderThan, after);
      if (after === null) return;
    }
  }
}
