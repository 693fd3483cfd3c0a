/**
 * S50: tells the nodes of a store what is to run. A set of jobs is written as a whole. A job that goes to another pool is out until
 * whoever had it has let go: the store sees to that, whoever writes and whatever crashes. Here it is put in again, if nothing of it
 * runs; what cannot be moved in time goes back to where it was.
 */
import type { Clock } from "../../actors/clock.js";
import { unwrap } from "../../core/base/result.js";
import type { Settings } from "../../core/config/settings.js";
import { settingsOfText, settingsText } from "../../core/config/settings-text.js";
import type { Applied, ClusterAdmin, ShardBehind, WantedJob } from "../../persist/cluster.js";

/** Somebody else applies at the same time: whoever has not written yet begins anew. */
const MOST_BEGINNINGS = 20;
/** How often is asked whether everybody has put it in force, and whether something still runs. */
const LOOK_EVERY_MS = 200;

export interface Wish {
  readonly jobs: readonly WantedJob[];
  readonly settings: Settings;
}

export interface ApplyPorts {
  readonly admin: ClusterAdmin;
  /** Which of these jobs have runs that go on, by what is on record. */
  readonly running: (identities: readonly string[]) => Promise<ReadonlySet<string>>;
  readonly clock: Pick<Clock, "monotonicMs" | "after">;
}

/** What would change, and what was there before. */
export interface Comparison {
  readonly applied: Applied;
  /** Jobs that would change or move; of those that are out already there is none. */
  readonly before: ReadonlyMap<string, WantedJob>;
  /** Settings that would change. */
  readonly settings: readonly string[];
}

/** A job that was to go to another pool and has not. */
export interface Stayed {
  readonly identity: string;
  /** Where it is; null: nobody has it. */
  readonly pool: string | null;
  readonly because: "it runs" | "its node has not let go";
}

export interface ApplyReport {
  readonly revision: number;
  /** Somebody else has applied something since: what had not been moved by then is their business. */
  readonly isOvertaken: boolean;
  readonly stayed: readonly Stayed[];
  /** Shards of living nodes in which it is not in force yet. */
  readonly behind: readonly ShardBehind[];
}

/** What became of it, and what it was compared with in the end. */
interface Outcome {
  readonly compared: Comparison;
  readonly report: ApplyReport;
}

type Identities = ReadonlySet<string>;
const NOBODY: Identities = new Set();

export async function compareWith(admin: ClusterAdmin, { jobs, settings }: Wish): Promise<Comparison> {
  const applied = unwrap(await admin.compare({ jobs, settings: settingsText(settings) }));
  const there = unwrap(await admin.wanted([...new Set([...applied.changed, ...applied.moving])]));
  const inForce = settingsOfText(there.settings);
  const names = Object.keys(settings) as (keyof Settings)[];
  const differing = names.filter((name) => JSON.stringify(settings[name]) !== JSON.stringify(inForce[name]));
  const before = new Map(there.jobs.map((job) => [job.identity, job]));
  return { applied, before, settings: differing };
}

/** `waitMs`: how long at most for others. */
export async function applyWish(ports: ApplyPorts, wish: Wish, waitMs: number): Promise<Outcome> {
  const untilMs = ports.clock.monotonicMs() + waitMs;
  for (let begun = 1; begun <= MOST_BEGINNINGS; begun++) {
    const compared = await compareWith(ports.admin, wish);
    const report = await new Applying(ports, wish, compared, untilMs).run();
    if (report !== null) return { compared, report };
  }
  throw new Error(`somebody else has applied something ${MOST_BEGINNINGS} times meanwhile`);
}

/** Another set is wanted than the one that was written last. */
class Overtaken extends Error {}

class Applying {
  readonly #ports: ApplyPorts;
  readonly #wish: Wish;
  readonly #compared: Comparison;
  readonly #untilMs: number;
  #revision: number;
  #moving: Identities;
  /** Of those: whose node was waited for in vain. */
  #late: Identities = NOBODY;
  /** Of those: which of them nobody has. */
  #out: Identities;

  constructor(ports: ApplyPorts, wish: Wish, compared: Comparison, untilMs: number) {
    this.#ports = ports;
    this.#wish = wish;
    this.#compared = compared;
    this.#untilMs = untilMs;
    const { revision, moving } = compared.applied;
    this.#revision = revision;
    this.#moving = new Set(moving);
    this.#out = new Set(moving.filter((identity) => !compared.before.has(identity)));
  }

  /** null: somebody else was faster, and nothing was written. */
  async run(): Promise<ApplyReport | null> {
    let isBegun = false;
    try {
      await this.#write(this.#moving);
      isBegun = true;
      await this.#moveAll();
    } catch (error) {
      if (!(error instanceof Overtaken)) throw error;
      return isBegun ? this.#report(true, []) : null;
    }
    return this.#report(false, await this.#notYet());
  }

  #report(isOvertaken: boolean, behind: readonly ShardBehind[]): ApplyReport {
    const stayed = [...this.#moving].map((identity) => this.#stayed(identity));
    return { revision: this.#revision, isOvertaken, stayed, behind };
  }

  #stayed(identity: string): Stayed {
    const pool = this.#out.has(identity) ? null : (this.#compared.before.get(identity)?.pool ?? null);
    return { identity, pool, because: this.#late.has(identity) ? "its node has not let go" : "it runs" };
  }

  async #moveAll(): Promise<void> {
    while (this.#moving.size > 0) {
      const idle = await this.#idle();
      if (idle.size > 0) await this.#move(idle);
      if (this.#moving.size === 0 || this.#isOver) return;
      await this.#pause();
    }
  }

  /** Takes them out, waits, and puts them in. */
  async #move(idle: Identities): Promise<void> {
    const others = without(this.#moving, idle);
    const leaving = new Set((await this.#write(others)).moving.filter((identity) => idle.has(identity)));
    this.#out = union(without(this.#out, idle), leaving);
    this.#moving = union(others, leaving);
    if (leaving.size === 0) return;
    this.#late = (await this.#notYet()).length > 0 ? leaving : NOBODY;
    const back = this.#late.size > 0 ? leaving : await this.#ports.running([...leaving]);
    const still = new Set((await this.#write(union(others, back))).moving);
    // What was out before there was this command has no place to go back to.
    const hasNone = (identity: string): boolean => still.has(identity) || !this.#compared.before.has(identity);
    this.#moving = union(others, union(back, still));
    this.#out = new Set([...this.#moving].filter(hasNone));
  }

  /** The whole set, in which these jobs are as they were. */
  async #write(held: Identities): Promise<Applied> {
    const { jobs, settings } = this.#wish;
    const asBefore = (job: WantedJob): readonly WantedJob[] => {
      if (!held.has(job.identity)) return [job];
      const before = this.#compared.before.get(job.identity);
      return before === undefined ? [] : [before];
    };
    const wanted = { jobs: jobs.flatMap(asBefore), settings: settingsText(settings) };
    const written = unwrap(await this.#ports.admin.apply(wanted, this.#revision));
    if (written === null) throw new Overtaken(`revision ${this.#revision} is not the newest any more`);
    this.#revision = written.revision;
    return written;
  }

  /** Those of which nothing runs, and those that nobody looks after where they are: nobody else will write of them. */
  async #idle(): Promise<Identities> {
    const running = await this.#ports.running([...this.#moving]);
    if (running.size === 0) return this.#moving;
    const nodes = unwrap(await this.#ports.admin.nodes());
    const held = new Set(nodes.flatMap(({ shards }) => shards.map(({ pool }) => pool)));
    const isKept = (identity: string): boolean => {
      const pool = this.#compared.before.get(identity)?.pool;
      return running.has(identity) && (pool === undefined || held.has(pool));
    };
    return new Set([...this.#moving].filter((identity) => !isKept(identity)));
  }

  /** Waits until everybody has put the newest revision in force, and tells who has not. */
  async #notYet(): Promise<readonly ShardBehind[]> {
    for (;;) {
      const behind = unwrap(await this.#ports.admin.shardsBehind(this.#revision)).filter(({ node }) => node !== null);
      if (behind.length === 0 || this.#isOver) return behind;
      await this.#pause();
    }
  }

  get #isOver(): boolean {
    return this.#ports.clock.monotonicMs() >= this.#untilMs;
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => void this.#ports.clock.after(LOOK_EVERY_MS, resolve));
  }
}

function without(all: Identities, some: Identities): Identities {
  return new Set([...all].filter((identity) => !some.has(identity)));
}

function union(one: Identities, other: Identities): Identities {
  return new Set([...one, ...other]);
}
