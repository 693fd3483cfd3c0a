/**
 * One of several daemons on a store. What it does several times a second goes over a connection of its own, one statement after
 * the other, so that neither a page that is read nor a commit holds it up (C20); what it only wants to know is read like
 * everything else.
 */
import { randomUUID } from "node:crypto";
import { KronError } from "../../../core/base/errors/kron-error.js";
import type {
  ClusterMember,
  HeldShard,
  Letter,
  NodeFacts,
  Pulse,
  Shard,
  ShardHolder,
  UnservedAsked,
  UnservedJob,
  WantedRow,
} from "../../cluster.js";
import { writeFailed } from "../../failures.js";
import { keyRanges } from "../../key-range.js";
import type { DocumentEntry, StateStore } from "../../store.js";
import type { Connection } from "../connection.js";
import type { Membership } from "../place.js";
import { type DocumentRow, placedShard, toDocument } from "../reads.js";
import { patiently } from "../retry.js";
import type { Session } from "../session.js";
import type { PostgresStore } from "../store.js";
import { missingReference } from "../trouble.js";
import { isWithin } from "../uuid.js";
import { NODES, type NodeRow, toNode } from "./nodes.js";

/** Letters of that age nobody waits for any more. */
const LETTERS_KEPT = "10 minutes";
const SWEEP_EVERY_MS = 60_000;
/** Jobs whose shards are known; more are asked for again. */
const MOST_PLACES = 100_000;

interface PulseRow extends Readonly<Record<string, unknown>> {
  readonly revision: string;
  readonly is_draining: boolean;
  readonly held: readonly (readonly [pool: string, number: number, revision: number, shards: number])[];
  readonly surplus: readonly (readonly [pool: string, number: number, heir: string | null])[];
  readonly letters: readonly (readonly [id: string, from: string, text: string])[];
  readonly now_ms: number;
}

interface Parts extends Membership {
  readonly session: Session;
  /** Closed with the session. */
  readonly connection: Connection;
  readonly store: PostgresStore;
}

export class PostgresMember implements ClusterMember {
  readonly node: string;
  readonly #parts: Parts;
  /** How many shards a pool has: that never changes. */
  readonly #sizes = new Map<string, number>();
  /** By what was wanted as of `#revision`. */
  #places = new Map<string, Shard>();
  #revision = -1;
  /** Letters that are being answered. */
  #open = new Set<string>();
  #sweptMs = 0;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(parts: Parts) {
    this.node = parts.node;
    this.#parts = parts;
  }

  get session(): string {
    return this.#parts.session.id;
  }

  get pools(): readonly string[] {
    return this.#parts.session.pools;
  }

  get lost(): Promise<KronError> {
    return this.#parts.session.lost;
  }

  storeOf(shard: Shard): StateStore {
    return this.#parts.store.ofShard(shard, this.#sizeOf(shard));
  }

  async admitted(): Promise<string | null> {
    const text = "select kron.admit_tz($1, $2) as tz";
    const values = [this.session, process.versions["tz"] ?? ""];
    const [row] = await this.#inTurn(() => this.#parts.connection.rows<{ tz: string | null }>(text, values));
    return row?.tz ?? null;
  }

  async pulse(mayTake: boolean): Promise<Pulse> {
    const pulse = await this.#inTurn(() => this.#look(mayTake));
    if (pulse.time.receivedMs - this.#sweptMs >= SWEEP_EVERY_MS) await this.#sweep(pulse.time.receivedMs);
    return pulse;
  }

  async #look(mayTake: boolean): Promise<Pulse> {
    const sentMs = performance.now();
    const text = "select * from kron.pulse($1, $2)";
    const [row] = await this.#parts.connection.rows<PulseRow>(text, [this.session, mayTake]);
    const receivedMs = performance.now();
    if (row === undefined) throw this.#parts.session.fenced();
    const held = row.held.map(([pool, number, revision, shards]): HeldShard => {
      this.#sizes.set(pool, shards);
      return { pool, number, revision };
    });
    const revision = Number(row.revision);
    this.#forgetPlaces(revision);
    return {
      ...{ revision, isDraining: row.is_draining, held, letters: this.#unseen(row.letters) },
      surplus: row.surplus.map(([pool, number, heir]) => ({ pool, number, heir })),
      time: { at: Math.floor(row.now_ms), sentMs, receivedMs },
    };
  }

  /** A look whose answer was lost has shown them to nobody: it is here that it is known which were seen. */
  #unseen(letters: PulseRow["letters"]): readonly Letter[] {
    const before = this.#open;
    this.#open = new Set(letters.map(([id]) => id));
    return letters.filter(([id]) => !before.has(id)).map(([id, from, text]) => ({ id, from, text }));
  }

  async #sweep(nowMs: number): Promise<void> {
    this.#sweptMs = nowMs;
    const text = `delete from kron.letter where sender = $1 and sent_at < clock_timestamp() - interval '${LETTERS_KEPT}'`;
    await this.#write(text, [this.session]);
  }

  async giveUp({ pool, number }: Shard, heir: string | null): Promise<void> {
    const text = `update kron.shard s set session = (select h.id from kron.session h
        where h.node = $4 and h.id <> $3 and not h.is_alone and not h.is_draining and $1 = any (h.pools))
      where s.pool = $1 and s.number = $2 and s.session = $3`;
    const give = (to: string | null) => this.#write(text, [pool, number, this.session, to]);
    try {
      await give(heir);
    } catch (error) {
      // The heir has gone at the same moment.
      if (missingReference(error) === "") throw error;
      await give(null);
    }
  }

  async wantedIn(shard: Shard): Promise<readonly WantedRow[]> {
    const [range] = keyRanges(this.#sizeOf(shard)).slice(shard.number);
    if (range === undefined) throw new Error(`invariant broken: no shard ${shard.number} of ${shard.pool}`);
    const text = `select identity, text from kron.wanted
      where pool = $1 and text is not null and ${isWithin("key", range)} order by key`;
    return this.#read<WantedRow & Readonly<Record<string, unknown>>>(text, [shard.pool]);
  }

  async unserved({ identities, after, limit }: UnservedAsked): Promise<readonly UnservedJob[]> {
    const text = `select w.identity, w.text, w.pool, s.number, d.text as document from kron.shard s join kron.pool p on p.name = s.pool
        join kron.wanted w on w.pool = s.pool and w.key between kron.first_key(s.number, p.shards) and kron.last_key(s.number, p.shards)
        left join kron.document d on d.key = w.key
      where s.session is null and w.text is not null and w.identity > $1 and ($2::text[] is null or w.identity = any ($2))
      order by w.identity limit $3`;
    return this.#read<UnservedJob & Readonly<Record<string, unknown>>>(text, [after, identities, limit]);
  }

  async settings(): Promise<string | null> {
    const [row] = await this.#read<{ settings: string | null }>("select settings from kron.cluster");
    return row?.settings ?? null;
  }

  async settled({ pool, number }: Shard, revision: number): Promise<void> {
    await this.#write("select kron.settle($1, $2, $3, $4)", [this.session, pool, number, revision]);
  }

  async shardOf(identity: string): Promise<Shard> {
    const known = this.#places.get(identity);
    if (known !== undefined) return known;
    const revision = this.#revision;
    const { pool, number, shards } = await placedShard(this.#parts.store.opening, identity);
    this.#sizes.set(pool, shards);
    const shard = { pool, number };
    if (revision === this.#revision && this.#places.size < MOST_PLACES) this.#places.set(identity, shard);
    return shard;
  }

  #forgetPlaces(revision: number): void {
    if (revision === this.#revision) return;
    this.#revision = revision;
    this.#places = new Map();
  }

  async holderOf({ pool, number }: Shard): Promise<ShardHolder | null> {
    const text = `select h.id as session, h.node from kron.shard s join kron.session h on h.id = s.session
      where s.pool = $1 and s.number = $2`;
    const [row] = await this.#read<ShardHolder & Readonly<Record<string, unknown>>>(text, [pool, number]);
    return row ?? null;
  }

  async nodes(): Promise<readonly NodeFacts[]> {
    return (await this.#read<NodeRow>(NODES)).map(toNode);
  }

  /** The server looks through all texts; only those come that have a run there, or look as if. */
  async documentsNaming(node: string): Promise<readonly DocumentEntry[]> {
    const text = "select key, tail, text from kron.document where strpos(text, $1) > 0 order by key";
    const words = JSON.stringify({ Node: node }).slice(1, -1);
    return (await this.#read<DocumentRow>(text, [words])).map(toDocument);
  }

  async isGone(node: string): Promise<{ readonly sinceAt: number } | null> {
    const text = `select extract(epoch from g.since)::float8 * 1000 as since_ms from kron.gone g
      where g.node = $1 and not exists (select from kron.session s where s.node = g.node)`;
    const [row] = await this.#read<{ since_ms: number }>(text, [node]);
    return row === undefined ? null : { sinceAt: Math.floor(row.since_ms) };
  }

  async send(session: string, text: string): Promise<string> {
    const id = randomUUID();
    const insert = `insert into kron.letter (id, sender, addressee, text)
      select $1::uuid, $2::uuid, s.id, $4 from kron.session s where s.id = $3 on conflict do nothing`;
    try {
      await this.#write(insert, [id, this.session, session, text]);
    } catch (error) {
      const missing = missingReference(error);
      // Whoever it is for has gone at the same moment: nobody will ever answer it.
      if (missing !== "reader") throw missing === "" ? error : this.#parts.session.fenced();
    }
    return id;
  }

  async answerOf(id: string): Promise<string | null | undefined> {
    const text = "select answer from kron.letter where id = $1 and sender = $2";
    const [row] = await this.#read<{ answer: string | null }>(text, [id, this.session]);
    return row === undefined ? null : (row.answer ?? undefined);
  }

  async answer(id: string, text: string): Promise<void> {
    const update = "update kron.letter set answer = $3 where id = $1 and addressee = $2 and answer is null";
    await this.#write(update, [id, this.session, text]);
  }

  async takeTurn(name: string): Promise<boolean> {
    // Asked again, because an answer was lost, it finds its own.
    const text = `insert into kron.turn as t (name, session) select $1, s.id from kron.session s where s.id = $2
      on conflict (name) do update set session = excluded.session where t.session = excluded.session returning name`;
    try {
      return (await this.#written(text, [name, this.session])).length > 0;
    } catch (error) {
      // Between looking and writing this session has come to its end.
      throw missingReference(error) === "" ? error : this.#parts.session.fenced();
    }
  }

  async passTurn(name: string): Promise<void> {
    await this.#write("delete from kron.turn where name = $1 and session = $2", [name, this.session]);
  }

  async turnsTaken(prefix: string): Promise<readonly string[]> {
    const text = "select name from kron.turn where starts_with(name, $1)";
    return (await this.#read<{ readonly name: string }>(text, [prefix])).map(({ name }) => name);
  }

  /** The session is held on to until it is written, so that nothing of one that has ended is. */
  async replaceObject(key: string, from: string | null, to: string): Promise<boolean> {
    const insert = "insert into kron.object (key, text) select $2, $3 from mine on conflict do nothing returning key";
    const update = "update kron.object o set text = $3 from mine where o.key = $2 and o.text = $4 returning o.key";
    const text = `with mine as (select s.id from kron.session s where s.id = $1 for key share),
      put as (${from === null ? insert : update})
      select (select count(*) from mine)::int as sessions, (select count(*) from put)::int as puts`;
    const values = [this.session, key, to, ...(from === null ? [] : [from])];
    const [row] = (await this.#written(text, values)) as readonly {
      readonly sessions: number;
      readonly puts: number;
    }[];
    if (row?.sessions !== 1) throw this.#parts.session.fenced();
    return row.puts > 0;
  }

  async countObjects(prefix: string): Promise<number> {
    const text = "select count(*) as count from kron.object where key >= $1 and key < $2";
    const [row] = await this.#read<{ readonly count: string }>(text, [prefix, behind(prefix)]);
    return Number(row?.count ?? 0);
  }

  #sizeOf({ pool }: Shard): number {
    const size = this.#sizes.get(pool);
    if (size === undefined) throw new Error(`invariant broken: a shard of ${pool}, which this node has never seen`);
    return size;
  }

  #read<R extends Readonly<Record<string, unknown>>>(text: string, values?: readonly unknown[]): Promise<readonly R[]> {
    return this.#parts.store.opening.queries.rows<R>(text, values);
  }

  /** Whatever is written here may be written again. */
  async #write(text: string, values: readonly unknown[]): Promise<void> {
    await this.#written(text, values);
  }

  #written(text: string, values: readonly unknown[]): Promise<readonly unknown[]> {
    return this.#inTurn(() => this.#parts.connection.rows(text, values));
  }

  /** Waits as long as the session lasts: what it is asked for makes no sense without it, and sense again when contact is back. */
  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const { session } = this.#parts;
    const patience = { withinMs: Number.POSITIVE_INFINITY, mayGoOn: session.assertHeld };
    const done = this.#turn.then(() => patiently(patience, work));
    this.#turn = done.catch(() => undefined);
    try {
      return await done;
    } catch (error) {
      if (error instanceof KronError || missingReference(error) !== "") throw error;
      throw writeFailed(error);
    }
  }
}

/** The first name that is none of those that begin so. */
function behind(prefix: string): string {
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
}
