/** Keeps the ledger within its bounds (S36), a page at a time, so that a big store never holds anything up. */
import type { Clock, Timer } from "../../actors/clock.js";
import type { Settings } from "../../core/config/settings.js";
import { HOUR_MS, MINUTE_MS } from "../../core/time/instant.js";
import type { LockTerm } from "../../persist/lock.js";
import { type SweepPosition, sweepAlive, sweepLedger } from "../../persist/retention.js";
import type { StateStore } from "../../persist/store.js";

export interface HousekeepingPorts {
  readonly clock: Clock;
  readonly store: StateStore;
  readonly term: LockTerm;
  ledger(): Settings["ledger"];
  jobs(): number;
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
  private timer: Timer | null = null;
  private position: SweepPosition | null = null;

  constructor(private readonly ports: HousekeepingPorts) {}

  later(delayMs: number): void {
    if (this.ports.mayStart()) this.timer = this.ports.clock.after(delayMs, () => void this.step());
  }

  stop(): void {
    this.timer?.cancel();
  }

  private async step(): Promise<void> {
    const { clock, store, term } = this.ports;
    const { maxAgeMs, maxRecords } = this.ports.ledger();
    const olderThan = clock.now() - maxAgeMs;
    const keepPerIdentity = Math.max(LEAST_PER_JOB, Math.floor(maxRecords / Math.max(1, this.ports.jobs())));
    try {
      const { next } = await sweepLedger(store, term, { olderThan, keepPerIdentity }, this.position);
      this.position = next;
      if (next === null) await sweepAlive(store, term, olderThan);
    } catch (error) {
      if (this.ports.mayStart()) this.ports.onFailure(error);
      return;
    }
    this.later(this.position === null ? SWEEP_EVERY_MS : PAUSE_BETWEEN_PAGES_MS);
  }
}
