/**
 * How endpoints have been doing, kept up to date as their runs end. Ends are gathered and written every few seconds, many
 * endpoints in one commit; nothing is kept in memory of those at rest. What was gathered and not written when the daemon died
 * is on record all the same: the ledger is read once for each endpoint after a start, behind what was counted by then.
 */
import { type EndedRun, endedRunOf } from "../../core/endpoint/ended-run.js";
import { endpointName } from "../../core/endpoint/endpoint-name.js";
import { type Health, type HealthView, healthAt, NO_HEALTH, noteMissing, noteRun } from "../../core/endpoint/health.js";
import { decodeHealth, encodeHealth } from "../../core/endpoint/health-text.js";
import type { Ending } from "../../core/state/ending.js";
import { type EpochMs, knownInstant } from "../../core/time/instant.js";
import { readLedgerEntry } from "../../core/why/records.js";
import type { ObjectWrite, StateReader, StoredRecord } from "../../persist/store.js";
import type { Clock, Timer } from "../clock.js";
import { Moderation } from "../moderate.js";
import { turnOfLoop } from "../turns.js";

const FLUSH_MS = 5_000;
/** Endpoints that become durable together. */
const PER_COMMIT = 256;
/** Counted in one go. */
const PER_TURN = 8;
/** Of the ledger, after a start: so many at a time, until all of a page are counted already. */
const RECORDS_AT_ONCE = 64;
const RECORDS_LOOKED_AT = 1_000;

export interface BookPorts {
  readonly clock: Clock;
  readonly reader: StateReader;
  write(objects: readonly ObjectWrite[]): Promise<void>;
  onFailure(error: unknown): void;
}

export class HealthBook {
  readonly #ports: BookPorts;
  /** Ends that are on record and not counted yet. */
  #pending = new Map<string, EndedRun[]>();
  /** Those of them that are being counted. */
  #counting: ReadonlyMap<string, readonly EndedRun[]> = new Map();
  /** What is becoming durable: until it is nobody can tell whether what is read has it already. */
  #committing: { readonly identities: ReadonlySet<string>; readonly over: Promise<void> } | null = null;
  readonly #moderation: Moderation;
  /** Endpoints of which the ledger has been read since the start. */
  readonly #caughtUp = new Set<string>();
  #timer: Timer | null = null;
  #flushing: Promise<void> = Promise.resolve();
  #isClosed = false;
  #isThere: (identity: string) => boolean = () => true;

  constructor(ports: BookPorts) {
    this.#ports = ports;
    this.#moderation = new Moderation(ports.clock);
  }

  /** Of others nothing is kept: what still runs of an endpoint that is gone leaves nothing behind. */
  keepTo(isThere: (identity: string) => boolean): void {
    this.#isThere = isThere;
  }

  /** Of a run whose end is durable; `endedAt` as the ledger has it: otherwise a run could be taken for two. */
  ended(identity: string, ending: Ending, endedAt: EpochMs): void {
    if (this.#isClosed || endpointName(identity) === null) return;
    const run = endedRunOf(ending, endedAt);
    if (run === null) return;
    const known = this.#pending.get(identity);
    if (known === undefined) this.#pending.set(identity, [run]);
    else known.push(run);
    this.#timer ??= this.#ports.clock.after(FLUSH_MS, () => {
      this.#timer = null;
      void this.flush().catch((error: unknown) => this.#ports.onFailure(error));
    });
  }

  async read(identity: string): Promise<HealthView> {
    for (;;) {
      const [counting, committing] = [this.#counting, this.#committing];
      if (committing?.identities.has(identity) === true) await committing.over.catch(() => undefined);
      else {
        const runs = [...(counting.get(identity) ?? []), ...(this.#pending.get(identity) ?? [])];
        const counted = await this.#counted(identity, runs);
        // Otherwise what was read may have them by now, or not.
        const isSame = counting === this.#counting && this.#committing?.identities.has(identity) !== true;
        if (isSame) return healthAt(counted, this.#ports.clock.now());
      }
    }
  }

  /** What it knew of one that is gone. */
  forget(identity: string): ObjectWrite[] {
    this.#pending.delete(identity);
    this.#caughtUp.delete(identity);
    return [{ key: keyOf(identity), text: null }];
  }

  /**
   * Endpoints have come to this daemon, or have gone to another one: what was counted is on record, and what was not is counted
   * by whoever has them now.
   */
  moved(): void {
    this.#caughtUp.clear();
    for (const identity of [...this.#pending.keys()]) if (!this.#isThere(identity)) this.#pending.delete(identity);
  }

  /** One after another: two of them would count from the same text. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => this.#write());
    const flushed = this.#flushing;
    this.#flushing = flushed.catch(() => undefined);
    return flushed;
  }

  async close(): Promise<void> {
    this.#timer?.cancel();
    this.#moderation.hurry();
    await this.flush();
    this.#isClosed = true;
  }

  async #write(): Promise<void> {
    this.#counting = this.#pending;
    this.#pending = new Map();
    const identities = [...this.#counting.keys()];
    this.#moderation.begin();
    try {
      for (let at = 0; at < identities.length; at += PER_COMMIT) {
        await this.#writeSome(identities.slice(at, at + PER_COMMIT));
      }
    } finally {
      // What was not written is on record all the same.
      this.#counting = new Map();
    }
  }

  async #writeSome(identities: readonly string[]): Promise<void> {
    const counting = this.#counting;
    const objects: (ObjectWrite & { readonly identity: string })[] = [];
    for (const identity of identities) {
      const health = await this.#countedForGood(identity, counting.get(identity) ?? []);
      objects.push({ identity, key: keyOf(identity), text: encodeHealth(health) });
      if (objects.length % PER_TURN === 0) await this.#moderation.pause();
    }
    // Asked last: what one is taken out with is written behind this.
    const there = objects.filter(({ identity }) => this.#isThere(identity));
    if (there.length > 0) await this.#commit(there);
    this.#counting = without(counting, identities);
    for (const { identity } of there) this.#caughtUp.add(identity);
  }

  /** The first time it is read from the ledger, with what was gathered meanwhile: that is not counted once more. */
  async #countedForGood(identity: string, runs: readonly EndedRun[]): Promise<Health> {
    if (this.#caughtUp.has(identity)) return this.#counted(identity, runs);
    for (;;) {
      const gathered = this.#pending.get(identity)?.length;
      const counted = await this.#counted(identity, runs);
      // What is on record is told in the turn after that; of what has ended by then nobody can tell whether it was read.
      await turnOfLoop();
      if (this.#pending.get(identity)?.length !== gathered) continue;
      this.#pending.delete(identity);
      return counted;
    }
  }

  async #commit(there: readonly (ObjectWrite & { readonly identity: string })[]): Promise<void> {
    const over = this.#ports.write(there.map(({ identity: _, ...write }) => write));
    this.#committing = { identities: new Set(there.map(({ identity }) => identity)), over };
    try {
      await over;
    } finally {
      this.#committing = null;
    }
  }

  async #counted(identity: string, runs: readonly EndedRun[]): Promise<Health> {
    const { reader } = this.#ports;
    const stored = await reader.object(keyOf(identity));
    const known = stored?.isIntact === true ? (decodeHealth(stored.text) ?? NO_HEALTH) : NO_HEALTH;
    if (this.#caughtUp.has(identity)) return runs.reduce(noteRun, known);
    // What was gathered since is on record too.
    return noteMissing(known, await this.#onRecord(identity, known.throughAt));
  }

  /** Oldest first; of those that ended by `throughAt` some may be missing. */
  async #onRecord(identity: string, throughAt: EpochMs | null): Promise<readonly EndedRun[]> {
    // By instant and kind: pages may overlap.
    const runs = new Map<string, EndedRun>();
    let before: EpochMs | undefined;
    for (let looked = 0; looked < RECORDS_LOOKED_AT; looked += RECORDS_AT_ONCE) {
      const bound = before === undefined ? [] : [before];
      const records = await this.#ports.reader.ledgerLatest(identity, RECORDS_AT_ONCE, ...bound);
      const found = records.flatMap((record) => {
        const run = endedRunIn(record);
        return run === null ? [] : [[`${record.at} ${record.kind}`, run] as const];
      });
      for (const [name, run] of found) runs.set(name, run);
      const lastAt = records.at(-1)?.at;
      const isCounted = throughAt !== null && found.every(([, { endedAt }]) => endedAt <= throughAt);
      if (lastAt === undefined || records.length < RECORDS_AT_ONCE || isCounted) break;
      // Records of one instant may be cut apart.
      before = lastAt + 1 === before ? lastAt : lastAt + 1;
    }
    return [...runs.values()].sort((one, other) => one.endedAt - other.endedAt);
  }
}

function without<T>(all: ReadonlyMap<string, T>, gone: readonly string[]): ReadonlyMap<string, T> {
  const left = new Map(all);
  for (const identity of gone) left.delete(identity);
  return left;
}

function endedRunIn(record: StoredRecord): EndedRun | null {
  const entry = record.isIntact ? readLedgerEntry(record) : null;
  if (entry?.kind !== "run" || entry.ending === null || entry.endedAt === null) return null;
  return endedRunOf(entry.ending, knownInstant(entry.endedAt));
}

function keyOf(identity: string): string {
  const name = endpointName(identity);
  if (name === null) throw new Error(`invariant broken: ${identity} is no endpoint`);
  return `health/${name.tenant}/${name.endpointId}`;
}
