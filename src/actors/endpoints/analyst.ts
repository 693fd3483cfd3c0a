/**
 * Sees to it that endpoints are looked at when their runs have ended: some while later, a few at a time, one tenant after the
 * other, none again before its time, and never so many that runs would wait for it. What a look is, and when the next one may
 * be, is said by whoever is asked to look. What is not looked at for want of room is looked at after its next run.
 */
import { isEndpoint } from "../../core/base/identity.js";
import { DAY_MS, type EpochMs, MINUTE_MS, SECOND_MS } from "../../core/time/instant.js";
import type { Clock, Timer } from "../clock.js";
import { turnOfLoop } from "../turns.js";

export const ANALYST_LIMITS = {
  /** Ends come in bursts, and what they say of an endpoint is counted first. */
  afterMs: SECOND_MS,
  everyMs: 100,
  /** In each of these spans: a look costs about as much as a run. */
  begunAtOnce: 10,
  underWay: 8,
  underWayOfTenant: 4,
  waiting: 20_000,
  /** Of which it is known when they may be looked at again. */
  known: 200_000,
  /** A clock that ran ahead is not waited for longer. */
  longestRestMs: DAY_MS,
  /** Of what could not be looked at. */
  restAfterFailureMs: 5 * MINUTE_MS,
} as const;

interface Looker {
  /** When it may be looked at again; null: not before somebody changes it. */
  look(identity: string): Promise<EpochMs | null>;
  mayStart(): boolean;
}

interface AnalystPorts {
  readonly clock: Clock;
  onFailure(error: unknown, identity: string): void;
}

export class Analyst {
  readonly #ports: AnalystPorts;
  readonly #restUntil = new Map<string, EpochMs | null>();
  /** By tenant, in the order of their turns; of each, in the order of their ends. */
  readonly #waiting = new Map<string, Set<string>>();
  #waitingCount = 0;
  readonly #underWay = new Map<string, { readonly tenant: string; readonly over: Promise<void> }>();
  /** Of what is under way: it is not what it was when the look began. */
  readonly #changed = new Set<string>();
  #looker: Looker | null = null;
  #timer: Timer | null = null;
  #isClosed = false;

  constructor(ports: AnalystPorts) {
    this.#ports = ports;
  }

  /** From here on it looks. */
  open(looker: Looker): void {
    this.#looker = looker;
    if (this.#waitingCount > 0) this.#lookLater(ANALYST_LIMITS.afterMs);
  }

  /** A run of it has ended. On the path of every run: it only notes that. */
  ended(identity: string): void {
    if (this.#isClosed || this.#waitingCount >= ANALYST_LIMITS.waiting || !isEndpoint(identity)) return;
    const restUntil = this.#restUntil.get(identity);
    if (restUntil !== undefined && (restUntil === null || isAhead(restUntil, this.#ports.clock.now()))) return;
    if (this.#underWay.has(identity)) return;
    const tenant = tenantOf(identity);
    const ofTenant = this.#waiting.get(tenant) ?? new Set();
    if (ofTenant.has(identity)) return;
    ofTenant.add(identity);
    this.#waiting.set(tenant, ofTenant);
    this.#waitingCount += 1;
    this.#lookLater(ANALYST_LIMITS.afterMs);
  }

  /** It was changed, or is gone: what was known of it is not true any more. */
  forget(identity: string): void {
    this.#restUntil.delete(identity);
    if (this.#underWay.has(identity)) this.#changed.add(identity);
  }

  /** Waits for what is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await Promise.all([...this.#underWay.values()].map(({ over }) => over));
  }

  #lookLater(afterMs: number): void {
    if (this.#isClosed || this.#looker === null) return;
    this.#timer ??= this.#ports.clock.after(afterMs, () => {
      this.#timer = null;
      this.#lookNow();
    });
  }

  #lookNow(): void {
    const looker = this.#looker;
    if (looker === null || !looker.mayStart()) return;
    for (let begun = 0; begun < ANALYST_LIMITS.begunAtOnce; begun++) {
      const next = this.#underWay.size < ANALYST_LIMITS.underWay ? this.#next() : null;
      // Whoever ends makes room, and goes on.
      if (next === null) return;
      const over = this.#look(looker, next.identity);
      this.#underWay.set(next.identity, { tenant: next.tenant, over });
    }
    if (this.#waitingCount > 0) this.#lookLater(ANALYST_LIMITS.everyMs);
  }

  /** Of the first tenant that has room; its next turn comes after everybody else's. */
  #next(): { readonly tenant: string; readonly identity: string } | null {
    for (const [tenant, identities] of this.#waiting) {
      if (this.#underWayOf(tenant) >= ANALYST_LIMITS.underWayOfTenant) continue;
      const [identity] = identities;
      if (identity === undefined) continue;
      identities.delete(identity);
      this.#waitingCount -= 1;
      this.#waiting.delete(tenant);
      if (identities.size > 0) this.#waiting.set(tenant, identities);
      return { tenant, identity };
    }
    return null;
  }

  #underWayOf(tenant: string): number {
    let count = 0;
    for (const one of this.#underWay.values()) if (one.tenant === tenant) count += 1;
    return count;
  }

  async #look(looker: Looker, identity: string): Promise<void> {
    // Not in the turn of the loop that begins others too.
    await turnOfLoop();
    const restUntil = await looker.look(identity).catch((error: unknown) => {
      this.#ports.onFailure(error, identity);
      return this.#ports.clock.now() + ANALYST_LIMITS.restAfterFailureMs;
    });
    this.#underWay.delete(identity);
    if (this.#restUntil.size >= ANALYST_LIMITS.known) this.#restUntil.clear();
    // What was seen of it before it was changed may not be true any more, and ends since then were not noted.
    if (this.#changed.delete(identity)) this.ended(identity);
    else this.#restUntil.set(identity, restUntil);
    if (this.#waitingCount > 0) this.#lookLater(ANALYST_LIMITS.everyMs);
  }
}

function isAhead(restUntil: EpochMs, now: EpochMs): boolean {
  return now < restUntil && restUntil <= now + ANALYST_LIMITS.longestRestMs;
}

const PREFIX = "endpoint:".length;

function tenantOf(identity: string): string {
  return identity.slice(PREFIX, identity.indexOf("/", PREFIX));
}
