/**
 * Who may write to a store on a server: one daemon alone, or several, each with a session of its own. A session is one row for
 * the life of a daemon; it is kept alive by heartbeats on a connection of their own, and ends by the deletion of its row. From then on no commit of it can
 * succeed, whatever is still on its way (C1-C4). So a lease only says who may try: neither a clock nor a pause of this process
 * makes two writers.
 *
 * Beside it stands the lock of the node's own directory. Whoever holds that knows that an earlier session of the same directory
 * belongs to a dead process, and need not wait until it has run out.
 */
import { randomUUID } from "node:crypto";
import * as fs from "node:fs";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { KronError } from "../../core/base/errors/kron-error.js";
import { err, ok, type Result } from "../../core/base/result.js";
import { ENGINE_VERSION } from "../../core/base/version.js";
import { ANY_POOL, poolOfNode } from "../cluster.js";
import { storeError } from "../failures.js";
import type { Connection } from "./connection.js";
import type { PostgresPlace } from "./place.js";
import { undisturbed } from "./retry.js";
import { storeRefusal } from "./trouble.js";

/** What a lease is trusted for, counted from when its heartbeat was sent. */
const TRUST = 0.9;
const BEATS_PER_LEASE = 4;
/** Numbers of commits that stay on record: those that may still be on their way are among them. */
const KEPT_NUMBERS = 1_000;
const AGAIN_AFTER_MS = 100;
const SPARE_MS = 50;

/** Somebody who is in the way. */
interface HolderRow extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly node: string;
  readonly pid: number;
  /** A schema that does not know of several says nothing. */
  readonly is_alone?: boolean;
  readonly expires_ms: number;
  readonly left_ms: number;
}

function readBootId(): string {
  return fs.readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
}

/** What the lock of this directory excludes others from: as long as the machine runs, no other directory has these numbers. */
function placeOf(directory: string): string {
  const { dev, ino } = fs.statSync(directory);
  return `${readBootId()}/${dev}:${ino}`;
}

const ON_RECORD = "the next start goes on from what is on record; nothing was started twice";

function leaseLost(message: string, toDo?: string): KronError {
  return storeError("lease-lost", "lease", message, toDo === undefined ? ON_RECORD : `${toDo}; ${ON_RECORD}`);
}

export class Session {
  readonly id = randomUUID();
  readonly #place: PostgresPlace;
  readonly lost: Promise<KronError>;
  #lose: (failure: KronError) => void = () => undefined;
  #failure: KronError | null = null;
  readonly #connection: Connection;
  /** Those that are of no use without it. */
  readonly #others: Connection[] = [];
  readonly #leaseMs: number;
  /** The newest number that is known to have been applied. */
  #applied = 0;
  #beat: NodeJS.Timeout | undefined;
  #end: NodeJS.Timeout | undefined;
  #isOver = false;
  #trustedUntilMs = 0;
  /** Since the server has answered: what came of asking it last, and by how much the latest timer was late. */
  #trouble: unknown = null;
  #heldUpMs = 0;
  /** Of the server, as the first heartbeat found it. */
  #timeline: string | null = null;

  constructor(place: PostgresPlace, connection: Connection) {
    this.#place = place;
    this.#connection = connection;
    this.#leaseMs = place.leaseMs;
    this.lost = new Promise((resolve) => {
      this.#lose = resolve;
    });
  }

  /** Beyond it nothing may begin: somebody else may have the store (C8). */
  get trustedUntilMs(): number {
    return this.#failure === null ? this.#trustedUntilMs : 0;
  }

  /** Of the address, as it is told. */
  get place(): string {
    return this.#place.address.text;
  }

  /** All that it serves; of a daemon alone there are none. */
  get pools(): readonly string[] {
    const { member } = this.#place;
    return member === null ? [] : [ANY_POOL, poolOfNode(member.node), ...member.pools];
  }

  /** Is closed with it. */
  beside(connection: Connection): void {
    this.#others.push(connection);
  }

  /** Throws when it is over: nothing may be written any more. */
  readonly assertHeld = (): void => {
    if (this.#failure !== null) throw this.#failure;
  };

  /** Becomes the holder, or one of several. Others are waited for as long as their leases may be those of dead processes. */
  async begin(): Promise<Result<void, KronError>> {
    let sentMs = performance.now();
    let holders = await this.#ask();
    const expiries = new Map(holders.map(({ id, expires_ms }) => [id, expires_ms]));
    while (holders.length > 0) {
      const living = holders.filter(({ id, expires_ms }) => expires_ms > (expiries.get(id) ?? 0));
      if (living.length > 0) return err(this.#held(living));
      const leftMs = Math.max(...holders.map(({ left_ms }) => left_ms));
      await sleep(Math.max(0, Math.min(leftMs + SPARE_MS, this.#beatMs)));
      sentMs = performance.now();
      holders = await this.#ask();
    }
    return this.#begun(sentMs);
  }

  /** An answer is of use as long as the lease that it gives. */
  async #ask(): Promise<readonly HolderRow[]> {
    const { directory, member } = this.#place;
    const node = member?.node ?? hostname();
    const about = [placeOf(directory), process.pid, ENGINE_VERSION, process.versions["tz"] ?? ""];
    const values = [this.id, node, ...about, Math.round(this.#leaseMs)];
    if (member === null) {
      const alone = "select * from kron.begin_session($1, $2, $3, $4, $5, $6, $7)";
      return undisturbed(() => this.#connection.rows<HolderRow>(alone, values, BEATS_PER_LEASE));
    }
    const join = "select * from kron.join_session($1, $2, $3, $4, $5, $6, $7, $8)";
    return undisturbed(() => this.#connection.rows<HolderRow>(join, [...values, this.pools], BEATS_PER_LEASE));
  }

  #held(living: readonly HolderRow[]): KronError {
    const [{ node = "", pid = 0, is_alone = true } = {}] = living;
    const isMember = this.#place.member !== null;
    if (is_alone) {
      const hint = isMember
        ? "stop that one, and start it with --node too"
        : "stop that one first, or name another database; several share one when each is started with --node";
      const what = isMember ? `has ${this.place} for itself` : `holds ${this.place}`;
      return storeError("lock-held", "lock", `process ${pid} on ${node} ${what}`, hint);
    }
    if (isMember) {
      const hint = "give this one another name by --node, or stop that one";
      return storeError("lock-held", "lock", `process ${pid} is node ${node} of ${this.place} already`, hint);
    }
    const names = living.map((one) => one.node).join(", ");
    const hint = "start this one with --node too, or stop those first: krond node list";
    return storeError("lock-held", "lock", `${this.place} is shared by nodes: ${names}`, hint);
  }

  #begun(sentMs: number): Result<void, KronError> {
    this.#trustFrom(sentMs);
    this.#beatAfter(this.#beatMs);
    return ok(undefined);
  }

  applied(number: number): void {
    this.#applied = number;
  }

  /** C12: what is known here may be more than the new server knows, so nothing goes on from it. */
  takenOver(): KronError {
    const hint = "the next start counts what was due as handled, and goes on by itself";
    const message = `another server has taken ${this.#place.address.text} over, and may have forgotten something`;
    return this.fail(storeError("lease-lost", "lease", message, hint));
  }

  /** What a commit has found out. */
  fenced(): KronError {
    return this.fail(leaseLost(`somebody else has taken ${this.place} over: the session is gone`));
  }

  fail(failure: KronError): KronError {
    this.#failure ??= failure;
    this.#stop();
    this.#lose(this.#failure);
    return this.#failure;
  }

  /** Gives it back; whoever waits for it gets it at once. Without an answer its lease runs out. */
  async end(): Promise<void> {
    this.#stop();
    this.#failure ??= leaseLost("it was given back");
    await this.#connection.rows("delete from kron.session where id = $1", [this.id]).catch(() => undefined);
    await Promise.all([this.#connection, ...this.#others].map((one) => one.close()));
  }

  #stop(): void {
    this.#isOver = true;
    clearTimeout(this.#beat);
    clearTimeout(this.#end);
  }

  /** The server has answered what was sent then: whatever was in the way before is over. */
  #trustFrom(sentMs: number): void {
    clearTimeout(this.#end);
    [this.#trouble, this.#heldUpMs] = [null, 0];
    this.#trustedUntilMs = sentMs + TRUST * this.#leaseMs;
    const leftMs = this.#trustedUntilMs - performance.now();
    this.#end = setTimeout(() => this.#runOut(), Math.max(0, leftMs));
  }

  #runOut(): void {
    this.#wasDue(this.#trustedUntilMs);
    const lease = `the lease of ${this.#leaseMs / 1_000} s on ${this.place} could not be kept up`;
    if (this.#heldUpMs > this.#beatMs) {
      const stood = `this process stood still for ${Math.round(this.#heldUpMs / 1_000)} s`;
      const toDo = "see what stopped it (SIGSTOP, a machine that slept or had too much to do), or give it a longer one";
      this.fail(leaseLost(`${lease}: ${stood}`, `${toDo}: --store-lease`));
      return;
    }
    const { message, hint } = storeRefusal(this.#trouble ?? new Error(), this.#place.address, "lease");
    this.fail(leaseLost(`${lease}: ${message}`, hint));
  }

  /** Timers of a process that cannot run are late. */
  #wasDue(dueMs: number): void {
    this.#heldUpMs = Math.max(this.#heldUpMs, performance.now() - dueMs);
  }

  get #beatMs(): number {
    return this.#leaseMs / BEATS_PER_LEASE;
  }

  #beatAfter(delayMs: number): void {
    if (this.#isOver) return;
    const dueMs = performance.now() + delayMs;
    this.#beat = setTimeout(() => {
      this.#wasDue(dueMs);
      void this.#beatNow();
    }, delayMs);
  }

  async #beatNow(): Promise<void> {
    const sentMs = performance.now();
    try {
      const timeline = await this.#renewed();
      if (this.#isOver) return;
      this.#timeline ??= timeline;
      if (timeline === null || timeline !== this.#timeline) {
        if (timeline === null) this.fenced();
        else this.takenOver();
        return;
      }
      this.#trustFrom(sentMs);
      this.#beatAfter(this.#beatMs);
    } catch (error) {
      this.#trouble = error;
      this.#beatAfter(AGAIN_AFTER_MS);
    }
  }

  /** On which timeline; null: it is gone. */
  async #renewed(): Promise<string | null> {
    const text = `with beat as (
        update kron.session set expires_at = clock_timestamp() + $2::int * interval '1 ms' where id = $1 returning id
      ), swept as (delete from kron.commit c using beat where c.session = beat.id and c.number < $3)
      select kron.timeline() as timeline from beat`;
    const values = [this.id, Math.round(this.#leaseMs), this.#applied - KEPT_NUMBERS];
    const [row] = await this.#connection.rows<{ timeline: string }>(text, values);
    return row?.timeline ?? null;
  }
}
