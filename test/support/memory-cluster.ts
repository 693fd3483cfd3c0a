/**
 * Several nodes on one store, all of it in memory: sessions with leases by a simulated clock, shards, wishes and letters, over
 * one `MemoryDisk`. It says what the database says, without its speed: who holds what, and that nothing of a session that has
 * ended is written any more (C2, C3).
 */

import type { KronError } from "../../src/core/base/errors/kron-error.js";
import type { EpochMs } from "../../src/core/time/instant.js";
import { SECOND_MS } from "../../src/core/time/instant.js";
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
  WantedJob,
  WantedRow,
} from "../../src/persist/cluster.js";
import { ANY_POOL, poolOfNode } from "../../src/persist/cluster.js";
import { storeError } from "../../src/persist/failures.js";
import { isInRange, type KeyRange, keyRanges } from "../../src/persist/key-range.js";
import { documentKey } from "../../src/persist/keys.js";
import { heldTerm, type LockTerm } from "../../src/persist/lock.js";
import { MemoryDisk } from "../../src/persist/memory/disk.js";
import { openMemoryStore } from "../../src/persist/memory/store.js";
import type {
  AliveSpan,
  Batch,
  Claim,
  DocumentEntry,
  LedgerKey,
  StateStore,
  StoreCounts,
  StoredVersion,
} from "../../src/persist/store.js";
import { requireOk } from "./results.js";

export interface ClusterTime {
  now(): EpochMs;
  monotonicMs(): number;
}

interface Session {
  readonly id: string;
  readonly node: string;
  readonly bootId: string;
  readonly pools: readonly string[];
  readonly startedAt: EpochMs;
  expiresAt: EpochMs;
  isDraining: boolean;
  lose: (error: KronError) => void;
}

interface Row extends Shard {
  session: string | null;
  revision: number;
  heir: string | null;
}

interface Post extends Letter {
  readonly to: string;
  isTaken: boolean;
  answer: string | undefined;
}

const SHARDS = { any: 64, named: 16, node: 1 } as const;

/** What all nodes write to: each by a face of its own, which takes nothing of a session that has ended. */
class SharedDisk extends MemoryDisk {
  override readonly documents: MemoryDisk["documents"];
  override readonly ledger: MemoryDisk["ledger"];
  override readonly definitions: MemoryDisk["definitions"];
  override readonly notes: MemoryDisk["notes"];
  override readonly objects: MemoryDisk["objects"];
  readonly #all: MemoryDisk;
  readonly #mayWrite: () => void;

  constructor(all: MemoryDisk, mayWrite: () => void) {
    super(all.storeId);
    this.#all = all;
    this.#mayWrite = mayWrite;
    [this.documents, this.ledger, this.definitions] = [all.documents, all.ledger, all.definitions];
    [this.notes, this.objects] = [all.notes, all.objects];
  }

  override apply(batch: Batch): void {
    this.#mayWrite();
    this.#all.apply(batch);
  }

  override hasRecord(key: LedgerKey): boolean {
    this.#mayWrite();
    return this.#all.hasRecord(key);
  }
}

export interface MemoryClusterOptions {
  readonly leaseMs?: number;
  readonly anyShards?: number;
  /** A mistake that is to be found: what has ended may still write. */
  readonly isUnfenced?: boolean;
}

export class MemoryCluster {
  readonly disk = new MemoryDisk();
  readonly wanted = new Map<string, WantedJob>();
  readonly shards: Row[] = [];
  readonly alive = new Map<string, Map<EpochMs, AliveSpan>>();
  revision = 0;
  settings: string | null = null;
  readonly #gone = new Map<string, EpochMs>();
  readonly #sessions = new Map<string, Session>();
  readonly #posts = new Map<string, Post>();
  /** Who has which. */
  readonly turns = new Map<string, string>();
  readonly #time: ClusterTime;
  readonly #leaseMs: number;
  readonly isUnfenced: boolean;
  #names = 0;

  constructor(
    time: ClusterTime,
    { leaseMs = 10 * SECOND_MS, anyShards = SHARDS.any, isUnfenced = false }: MemoryClusterOptions = {},
  ) {
    this.#time = time;
    this.#leaseMs = leaseMs;
    this.isUnfenced = isUnfenced;
    this.addPool(ANY_POOL, anyShards);
  }

  /** Of the server. */
  get time(): ClusterTime {
    return this.#time;
  }

  addPool(pool: string, count: number): void {
    if (this.shards.some((it) => it.pool === pool)) return;
    for (let number = 0; number < count; number++) {
      this.shards.push({ pool, number, session: null, revision: 0, heir: null });
    }
  }

  /** As `kron apply` does. */
  want(jobs: readonly WantedJob[], settings = "{}"): number {
    this.wanted.clear();
    for (const job of jobs) {
      this.wanted.set(job.identity, job);
      this.addPool(job.pool, job.pool.startsWith("node/") ? SHARDS.node : SHARDS.named);
    }
    this.settings = settings;
    this.revision += 1;
    return this.revision;
  }

  join(node: string, more: { readonly pools?: readonly string[]; readonly bootId?: string } = {}): MemoryMember {
    this.sweep();
    if ([...this.#sessions.values()].some((it) => it.node === node)) throw new Error(`the node ${node} lives already`);
    const { pools = [], bootId = `boot of ${node}` } = more;
    const served = [ANY_POOL, poolOfNode(node), ...pools];
    this.addPool(poolOfNode(node), SHARDS.node);
    for (const pool of pools) this.addPool(pool, SHARDS.named);
    const now = this.#time.now();
    let lose = (_error: KronError): void => {};
    const lost = new Promise<KronError>((resolve) => {
      lose = resolve;
    });
    const session: Session = {
      ...{ id: `session-${++this.#names}`, node, bootId, pools: served, startedAt: now },
      ...{ expiresAt: now + this.#leaseMs, isDraining: false, lose },
    };
    this.#sessions.set(session.id, session);
    this.#gone.delete(node);
    return new MemoryMember(this, session, lost);
  }

  /** C3: whoever has run out is deleted by whoever looks. */
  sweep(): void {
    for (const session of [...this.#sessions.values()]) if (session.expiresAt < this.#time.now()) this.end(session.id);
  }

  end(id: string): void {
    const session = this.#sessions.get(id);
    if (session === undefined) return;
    this.#sessions.delete(id);
    this.#gone.set(session.node, this.#time.now());
    for (const row of this.shards) if (row.session === id) row.session = null;
    for (const post of [...this.#posts.values()]) if (post.to === id) this.#posts.delete(post.id);
    for (const [name, session] of [...this.turns]) if (session === id) this.turns.delete(name);
    session.lose(storeError("lease-lost", "lease", `the session of ${session.node} is gone`));
  }

  /** As `kron node evict` and `kron node drain` do. */
  evict(node: string): void {
    for (const { id } of [...this.#sessions.values()].filter((it) => it.node === node)) this.end(id);
  }

  drain(node: string, isOn = true): void {
    for (const session of this.#sessions.values()) if (session.node === node) session.isDraining = isOn;
  }

  /** A heartbeat: a node whose process has died sends none. */
  beat(id: string): void {
    const session = this.#sessions.get(id);
    if (session !== undefined && session.expiresAt >= this.#time.now())
      session.expiresAt = this.#time.now() + this.#leaseMs;
  }

  isLiving(id: string): boolean {
    return this.#sessions.has(id);
  }

  mustLive(id: string): void {
    if (this.isUnfenced || this.isLiving(id)) return;
    throw storeError("lease-lost", "commit", "the session is gone");
  }

  pulse(id: string, mayTake: boolean): Pulse {
    const sentMs = this.#time.monotonicMs();
    this.sweep();
    const me = this.#sessions.get(id);
    if (me === undefined) throw storeError("lease-lost", "pulse", "the session is gone");
    if (mayTake && !me.isDraining) this.#take(me);
    const letters = [...this.#posts.values()].filter((post) => post.to === id && !post.isTaken);
    for (const post of letters) post.isTaken = true;
    const held: HeldShard[] = this.#of(id).map(({ pool, number, revision }) => ({ pool, number, revision }));
    return {
      revision: this.revision,
      isDraining: me.isDraining,
      held,
      surplus: this.#surplusOf(me),
      letters: letters.map(({ id: name, from, text }) => ({ id: name, from, text })),
      time: { at: this.#time.now(), sentMs, receivedMs: this.#time.monotonicMs() },
    };
  }

  giveUp(id: string, { pool, number }: Shard, heir: string | null): void {
    this.mustLive(id);
    const row = this.#row(pool, number);
    if (row.session !== id) return;
    const next = [...this.#sessions.values()].find((it) => it.node === heir && !it.isDraining && it.id !== id);
    row.session = next?.pools.includes(pool) === true ? next.id : null;
    row.heir = row.session === null ? heir : null;
  }

  settled(id: string, { pool, number }: Shard, revision: number): void {
    this.mustLive(id);
    const row = this.#row(pool, number);
    if (row.session === id) row.revision = Math.max(row.revision, revision);
  }

  poolOf(identity: string): string {
    return this.wanted.get(identity)?.pool ?? ANY_POOL;
  }

  shardOf(identity: string): Shard {
    const pool = this.poolOf(identity);
    const key = documentKey(identity);
    const row = this.shards.find((it) => it.pool === pool && isInRange(key, this.rangeOf(it)));
    if (row === undefined) throw new Error(`no shard of the pool ${pool}`);
    return { pool, number: row.number };
  }

  rangeOf({ pool, number }: Shard): KeyRange {
    const count = this.shards.filter((it) => it.pool === pool).length;
    const range = keyRanges(count)[number];
    if (range === undefined) throw new Error(`no shard ${pool}/${number}`);
    return range;
  }

  holderOf({ pool, number }: Shard): ShardHolder | null {
    const { session } = this.#row(pool, number);
    const found = session === null ? undefined : this.#sessions.get(session);
    return found === undefined ? null : { session: found.id, node: found.node };
  }

  nodes(): readonly NodeFacts[] {
    return [...this.#sessions.values()].map((it) => ({
      ...{ session: it.id, node: it.node, bootId: it.bootId, pid: 1, engine: "test", tz: "test", pools: it.pools },
      ...{ isDraining: it.isDraining, startedAt: it.startedAt, expiresAt: it.expiresAt },
      shards: this.#of(it.id).map(({ pool, number }) => ({ pool, number })),
    }));
  }

  isGone(node: string): { readonly sinceAt: EpochMs } | null {
    const sinceAt = this.#gone.get(node);
    return sinceAt === undefined ? null : { sinceAt };
  }

  forget(node: string): void {
    this.#gone.set(node, 0);
  }

  send(from: string, to: string, text: string): string {
    const id = `letter-${++this.#names}`;
    if (this.isLiving(to)) this.#posts.set(id, { id, from, to, text, isTaken: false, answer: undefined });
    return id;
  }

  answerOf(id: string): string | null | undefined {
    const post = this.#posts.get(id);
    if (post === undefined) return null;
    if (post.answer !== undefined) this.#posts.delete(id);
    return post.answer;
  }

  answer(id: string, text: string): void {
    const post = this.#posts.get(id);
    if (post !== undefined) post.answer ??= text;
  }

  #row(pool: string, number: number): Row {
    const row = this.shards.find((it) => it.pool === pool && it.number === number);
    if (row === undefined) throw new Error(`no shard ${pool}/${number}`);
    return row;
  }

  #of(id: string): readonly Row[] {
    return this.shards.filter(({ session }) => session === id);
  }

  #shareOf(pool: string): number {
    const serving = [...this.#sessions.values()].filter((it) => it.pools.includes(pool) && !it.isDraining);
    return Math.ceil(this.shards.filter((it) => it.pool === pool).length / Math.max(1, serving.length));
  }

  #take(me: Session): void {
    for (const pool of me.pools) {
      let held = this.#of(me.id).filter((row) => row.pool === pool).length;
      const share = this.#shareOf(pool);
      for (const row of this.shards) {
        if (held >= share) break;
        if (row.pool !== pool || row.session !== null || !this.#isDueTo(row, me)) continue;
        row.session = me.id;
        row.heir = null;
        held += 1;
      }
    }
  }

  /** What was given up for somebody waits for that one, as long as it lives. */
  #isDueTo({ heir }: Row, me: Session): boolean {
    return heir === null || heir === me.node || ![...this.#sessions.values()].some((it) => it.node === heir);
  }

  #surplusOf(me: Session): Pulse["surplus"] {
    return me.pools.flatMap((pool) => {
      const held = this.#of(me.id).filter((row) => row.pool === pool);
      const share = me.isDraining ? 0 : this.#shareOf(pool);
      // As many to each as it has room for, less what was promised to it already.
      const heirs = [...this.#sessions.values()].flatMap((it) => {
        const isOne = it !== me && it.pools.includes(pool) && !it.isDraining;
        return isOne ? Array<string>(Math.max(0, this.#roomOf(it, pool))).fill(it.node) : [];
      });
      return held.slice(share).map(({ number }, at) => ({ pool, number, heir: heirs[at] ?? null }));
    });
  }

  #roomOf({ id, node }: Session, pool: string): number {
    const rows = this.shards.filter((row) => row.pool === pool);
    return (
      this.#shareOf(pool) -
      rows.filter(({ session, heir }) => session === id || (session === null && heir === node)).length
    );
  }
}

/** One node of it. */
export class MemoryMember implements ClusterMember {
  readonly session: string;
  readonly node: string;
  readonly pools: readonly string[];
  readonly lost: Promise<KronError>;
  readonly term: LockTerm;
  /** Of the whole store, for what is no job's. */
  readonly store: StateStore;
  readonly disk: SharedDisk;
  readonly #cluster: MemoryCluster;

  constructor(cluster: MemoryCluster, session: Session, lost: Promise<KronError>) {
    [this.session, this.node, this.pools] = [session.id, session.node, session.pools];
    this.#cluster = cluster;
    this.lost = lost;
    const lease = {
      lost,
      get trustedUntilMs() {
        return cluster.time.monotonicMs() + (session.expiresAt - cluster.time.now());
      },
    };
    this.term = heldTerm("memory", () => cluster.end(session.id), lease);
    this.disk = new SharedDisk(cluster.disk, () => cluster.mustLive(session.id));
    this.store = requireOk(openMemoryStore(this.term, this.disk));
  }

  storeOf(shard: Shard): StateStore {
    return shardStore(this.#cluster, this.store.inRange(this.#cluster.rangeOf(shard)), shard);
  }

  admitted(): Promise<string | null> {
    return Promise.resolve(null);
  }

  async pulse(mayTake: boolean): Promise<Pulse> {
    await Promise.resolve();
    this.#cluster.beat(this.session);
    return this.#cluster.pulse(this.session, mayTake);
  }

  async giveUp(shard: Shard, heir: string | null): Promise<void> {
    this.#cluster.giveUp(this.session, shard, heir);
  }

  async wantedIn({ pool, number }: Shard): Promise<readonly WantedRow[]> {
    return [...this.#cluster.wanted.values()].filter(({ identity }) => {
      const shard = this.#cluster.shardOf(identity);
      return shard.pool === pool && shard.number === number;
    });
  }

  async unserved({ identities, after, limit }: UnservedAsked): Promise<readonly UnservedJob[]> {
    const all = [...this.#cluster.wanted.values()].map((job) => ({ ...job, ...this.#cluster.shardOf(job.identity) }));
    const documentOf = (identity: string) => this.#cluster.disk.documents.get(documentKey(identity))?.text ?? null;
    return all
      .map((job) => ({ ...job, document: documentOf(job.identity) }))
      .filter((job) => this.#cluster.holderOf(job) === null && job.identity > after)
      .filter(({ identity }) => identities === null || identities.includes(identity))
      .sort((one, other) => (one.identity < other.identity ? -1 : 1))
      .slice(0, limit);
  }

  async settings(): Promise<string | null> {
    return this.#cluster.settings;
  }

  async settled(shard: Shard, revision: number): Promise<void> {
    this.#cluster.settled(this.session, shard, revision);
  }

  async shardOf(identity: string): Promise<Shard> {
    return this.#cluster.shardOf(identity);
  }

  async documentsNaming(node: string): Promise<readonly DocumentEntry[]> {
    const words = JSON.stringify({ Node: node }).slice(1, -1);
    const all = [...this.#cluster.disk.documents].map(([key, document]) => ({ key, ...document }));
    return all.filter(({ text }) => text.includes(words));
  }

  async holderOf(shard: Shard): Promise<ShardHolder | null> {
    return this.#cluster.holderOf(shard);
  }

  async nodes(): Promise<readonly NodeFacts[]> {
    return this.#cluster.nodes();
  }

  async isGone(node: string): Promise<{ readonly sinceAt: EpochMs } | null> {
    return this.#cluster.isGone(node);
  }

  async send(session: string, text: string): Promise<string> {
    this.#cluster.mustLive(this.session);
    return this.#cluster.send(this.node, session, text);
  }

  async answerOf(id: string): Promise<string | null | undefined> {
    return this.#cluster.answerOf(id);
  }

  async answer(id: string, text: string): Promise<void> {
    this.#cluster.answer(id, text);
  }

  async takeTurn(name: string): Promise<boolean> {
    this.#cluster.mustLive(this.session);
    const { turns } = this.#cluster;
    if (!turns.has(name)) turns.set(name, this.session);
    return turns.get(name) === this.session;
  }

  async passTurn(name: string): Promise<void> {
    const { turns } = this.#cluster;
    if (turns.get(name) === this.session) turns.delete(name);
  }

  async turnsTaken(prefix: string): Promise<readonly string[]> {
    return [...this.#cluster.turns.keys()].filter((name) => name.startsWith(prefix));
  }

  async replaceObject(key: string, from: string | null, to: string): Promise<boolean> {
    this.#cluster.mustLive(this.session);
    const { objects } = this.disk;
    if ((objects.get(key) ?? null) !== from) return false;
    objects.set(key, to);
    return true;
  }

  async countObjects(prefix: string): Promise<number> {
    return [...this.disk.objects.keys()].filter((key) => key.startsWith(prefix)).length;
  }
}

/** The jobs of one pool in one stretch of the keys, and when somebody looked after them. */
function shardStore(cluster: MemoryCluster, inner: StateStore, shard: Shard): StateStore {
  const poolsNow = (): ReadonlyMap<string, string> =>
    new Map([...cluster.wanted.values()].map(({ identity, pool }) => [documentKey(identity), pool]));
  const ours = <T extends { readonly key: string }>(rows: readonly T[]): readonly T[] => {
    const pools = poolsNow();
    return rows.filter(({ key }) => (pools.get(key) ?? ANY_POOL) === shard.pool);
  };
  const isOurs = (identity: string): boolean => cluster.poolOf(identity) === shard.pool;
  const name = `${shard.pool}/${shard.number}`;
  const aliveOf = (): Map<EpochMs, AliveSpan> => {
    const known = cluster.alive.get(name) ?? new Map<EpochMs, AliveSpan>();
    cluster.alive.set(name, known);
    return known;
  };
  const overlay: Partial<StateStore> = {
    async commit(term: LockTerm, { alive, ...batch }: Batch): Promise<readonly Claim[]> {
      const { removed: { alive: dropped = [], ...removed } = {}, ...rest } = batch;
      const refused = await inner.commit(term, { ...rest, removed });
      if (alive !== undefined) aliveOf().set(alive.bootedAt, alive);
      for (const bootedAt of dropped) aliveOf().delete(bootedAt);
      return refused;
    },
    async *documents(): AsyncGenerator<readonly DocumentEntry[]> {
      for await (const page of inner.documents()) yield ours(page);
    },
    async *jobs() {
      for await (const slice of inner.jobs()) yield ours(slice);
    },
    async *definitions(): AsyncGenerator<readonly StoredVersion[]> {
      for await (const page of inner.definitions()) yield page.filter(({ identity }) => isOurs(identity));
    },
    async ledgerScan(cursor, limit) {
      const page = await inner.ledgerScan(cursor, limit);
      return { ...page, records: page.records.filter(({ identity }) => isOurs(identity)) };
    },
    async aliveSpans(_identity, from, to) {
      const spans = [...aliveOf().values()].sort((one, other) => one.bootedAt - other.bootedAt);
      return spans.filter((span) => span.bootedAt < to && span.at >= from);
    },
    async counts(): Promise<StoreCounts> {
      let documents = 0;
      for await (const page of this.documents?.() ?? []) documents += page.length;
      return { ...(await inner.counts()), documents };
    },
  };
  return new Proxy(inner, {
    get: (target, key) => {
      const own: unknown = Reflect.get(overlay, key);
      const value: unknown = own ?? Reflect.get(target, key);
      return typeof value === "function" ? value.bind(own === undefined ? target : overlay) : value;
    },
  });
}
