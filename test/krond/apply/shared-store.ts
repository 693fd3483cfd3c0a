/**
 * A store that nodes share, in memory, as PostgreSQL keeps it: each node puts the newest set in force when it gets to it, and until
 * then a job that left its pool belongs to nobody else. That no two ever have one is looked at all the time.
 */
import { ok } from "../../../src/core/base/result.js";
import { settingsText } from "../../../src/core/config/settings-text.js";
import type { ApplyPorts, Wish } from "../../../src/krond/apply/apply.js";
import type {
  Applied,
  ClusterAdmin,
  NodeFacts,
  ShardBehind,
  WantedJob,
  WantedSet,
} from "../../../src/persist/cluster.js";

export interface TestNode {
  readonly name: string;
  readonly pools: readonly string[];
  /** Looks until it has put a revision in force; infinite: it never does, and lives. */
  slowness: number;
}

interface Holder extends TestNode {
  inForce: ReadonlySet<string>;
  revision: number;
  waited: number;
}

interface Row extends Omit<WantedJob, "text"> {
  /** null: not wanted any more, and not let go. */
  readonly text: string | null;
  readonly revision: number;
}

type Rows = ReadonlyMap<string, Row>;

export class SharedStore implements ApplyPorts {
  readonly nodes: Holder[];
  readonly runs = new Set<string>();
  revision = 0;
  settings: string | null = null;
  /** Called before each look: what happens meanwhile. */
  onLook: () => void = () => undefined;
  /** Called before anything is written: somebody else may be faster. */
  onWrite: () => void = () => undefined;
  #rows: Rows = new Map();
  #nowMs = 0;

  constructor(nodes: readonly TestNode[]) {
    this.nodes = nodes.map((node) => ({ ...node, inForce: new Set(), revision: 0, waited: 0 }));
  }

  readonly running = async (identities: readonly string[]): Promise<ReadonlySet<string>> =>
    new Set(identities.filter((identity) => this.runs.has(identity)));

  readonly clock: ApplyPorts["clock"] = {
    monotonicMs: () => this.#nowMs,
    after: (delayMs, callback) => {
      this.#nowMs += delayMs;
      this.look();
      queueMicrotask(callback);
      return { cancel: () => undefined };
    },
  };

  get wanted(): ReadonlyMap<string, WantedJob> {
    const there = [...this.#rows].filter((entry): entry is [string, Row & WantedJob] => entry[1].text !== null);
    return new Map(there.map(([key, { identity, pool, text }]) => [key, { identity, pool, text }]));
  }

  get poolsWanted(): Readonly<Record<string, string>> {
    return Object.fromEntries([...this.wanted.values()].map(({ identity, pool }) => [identity, pool]));
  }

  writtenByOthers({ jobs, settings }: Wish): void {
    this.#apply({ jobs, settings: settingsText(settings) }, true);
  }

  look(): void {
    this.onLook();
    for (const node of this.nodes) {
      if (node.revision === this.revision) continue;
      node.waited += 1;
      if (node.waited < node.slowness) continue;
      const isOurs = ({ pool }: { readonly pool: string }): boolean => node.pools.includes(pool);
      const jobs = [...this.wanted.values()].filter(isOurs);
      const inForce = new Set(jobs.map(({ identity }) => identity));
      Object.assign(node, { inForce, revision: this.revision, waited: 0 });
      this.#rows = new Map([...this.#rows].filter(([, row]) => row.text !== null || !isOurs(row)));
    }
    this.#check();
  }

  #check(): void {
    const all = this.nodes.flatMap(({ inForce }) => [...inForce]);
    if (new Set(all).size < all.length) throw new Error(`two nodes have a job: ${all.sort().join(", ")}`);
  }

  readonly admin: ClusterAdmin = {
    compare: async (set) => ok(this.#apply(set, false)),
    apply: async (set, from) => {
      this.onWrite();
      return ok(from === this.revision ? this.#apply(set, true) : null);
    },
    wanted: async (identities) => {
      const jobs = identities.flatMap((identity) => this.wanted.get(identity) ?? []);
      return ok({ jobs, settings: this.settings });
    },
    shardsBehind: async (revision) => ok(this.#behind(revision)),
    nodes: async () => ok(this.nodes.map(factsOf)),
    drain: async () => ok(undefined),
    evict: async () => ok(undefined),
    forget: async () => ok({ wasKnown: true }),
  };

  #behind(revision: number): readonly ShardBehind[] {
    const behind = this.nodes.filter((node) => node.revision < revision);
    return behind.map(({ name, pools }) => ({ pool: pools[0] ?? "", number: 0, node: name, jobs: 1 }));
  }

  #apply({ jobs, settings }: WantedSet, isKept: boolean): Applied {
    const rows = new Map(this.#rows);
    const held = new Set(this.nodes.flatMap(({ pools }) => pools));
    const [added, changed, moving]: [string[], string[], string[]] = [[], [], []];
    const revision = this.revision + 1;
    for (const job of jobs) {
      const row = rows.get(job.identity);
      const isElsewhere = row !== undefined && row.pool !== job.pool && held.has(row.pool);
      if (isElsewhere) {
        moving.push(job.identity);
        if (row.text !== null) rows.set(job.identity, { ...row, text: null, revision });
        continue;
      }
      if (row?.text === job.text) continue;
      (row === undefined || row.text === null ? added : changed).push(job.identity);
      rows.set(job.identity, { ...job, revision });
    }
    const wished = new Set(jobs.map(({ identity }) => identity));
    const removed = [...rows.values()].filter(({ identity, text }) => text !== null && !wished.has(identity));
    for (const row of removed) rows.set(row.identity, { ...row, text: null, revision });
    const hasNewSettings = settings !== this.settings;
    const touched = added.length + changed.length + moving.length;
    if (isKept && (touched + removed.length > 0 || hasNewSettings)) {
      [this.#rows, this.revision, this.settings] = [rows, revision, settings];
    }
    return {
      revision: this.revision,
      ...{ added, changed, moving, removed: removed.map(({ identity }) => identity) },
      ...{ unchanged: jobs.length - touched, hasNewSettings },
    };
  }
}

function factsOf({ name, pools }: Holder): NodeFacts {
  const shards = pools.map((pool) => ({ pool, number: 0 }));
  const about = { session: name, node: name, bootId: "", pid: 1, engine: "0", tz: "" };
  return { ...about, pools, isDraining: false, startedAt: 0, expiresAt: 0, shards };
}
