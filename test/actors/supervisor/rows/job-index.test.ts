/**
 * The index against the slow truth: after any second of a random life, what is found is what reading every job and looking
 * at each of them would find. Another seed: KRON_TEST_SEED=17 npx vitest run test/actors/supervisor/rows/job-index.test.ts
 */
import { describe, expect, test } from "vitest";
import type { JobPage, JobStatus, Supervisor } from "../../../../src/actors/supervisor/port.js";
import { wantedBy } from "../../../../src/actors/supervisor/rows/job-filter.js";
import { JobIndex } from "../../../../src/actors/supervisor/rows/job-index.js";
import {
  ALL_JOBS,
  BY_NAME,
  INDEX_SORTS,
  type ListFilter,
  type ListOrder,
} from "../../../../src/actors/supervisor/rows/job-query.js";
import { JobRows } from "../../../../src/actors/supervisor/rows/job-rows.js";
import { WakeTimes } from "../../../../src/actors/supervisor/rows/wake-times.js";
import type { JobDefinition } from "../../../../src/core/job/definition.js";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../../src/core/time/instant.js";
import { inOrder } from "../../../../src/operations/jobs/order.js";
import type { StateStore } from "../../../../src/persist/store.js";
import { type Deed, Drill } from "../drill.js";
import { job, START, World, webhook } from "../world.js";

const IS_LONG = process.env["KRON_TEST_LONG"] === "1";
const ONE_SEED = process.env["KRON_TEST_SEED"];
const SEEDS = ONE_SEED === undefined ? Array.from({ length: IS_LONG ? 400 : 8 }, (_, i) => i + 1) : [Number(ONE_SEED)];
const SECONDS = 240;

class Dice {
  #state: number;
  constructor(seed: number) {
    this.#state = seed;
  }

  below(limit: number): number {
    this.#state = (Math.imul(this.#state ^ (this.#state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5) | 0;
    const mixed = Math.imul(this.#state ^ (this.#state >>> 12), 0x297a2d39);
    return ((mixed ^ (mixed >>> 15)) >>> 0) % limit;
  }

  is(percent: number): boolean {
    return this.below(100) < percent;
  }

  of<T>(choices: readonly [T, ...T[]]): T {
    return choices[this.below(choices.length)] ?? choices[0];
  }
}

const SHAPES: readonly [
  (dice: Dice, name: string) => JobDefinition,
  ...((dice: Dice, name: string) => JobDefinition)[],
] = [
  (dice, name) => job(name, dice.of(["* * * * *", "*/2 * * * *", "0 * * * *"]), policyOf(dice)),
  (dice, name) => job(name, "*/2 * * * *", { window: { duration: "50s" }, tags: ["windowed"], ...policyOf(dice) }),
  (_, name) => job(name, "* * * * *", { policy: { suspend: true } }),
  (_, name) => job(name, "* * * * *", { constraints: { only: "hours=3" } }),
  (dice, name) => job(name, dice.of(["@every 20s", "@every 90s"]), policyOf(dice)),
  (_, name) => job(name, "*/5 * * * *", { min_interval: "40s", max_interval: "2m" }),
  (_, name) => job(name, "*/3 * * * *", { retry: { limit: 3, backoff: "10s" } }),
  (_, name) => job(name, "@reboot"),
  (_, name) => job(name, "0 0 1 1 *", { tags: ["yearly"] }),
  (_, name) => webhook(name, "* * * * *"),
];

function policyOf(dice: Dice): Record<string, unknown> {
  return { policy: { suspend: dice.is(10), concurrency: dice.of(["allow", "forbid", "replace"]), deadline: "5s" } };
}

/** What cannot be read in this version of the shapes is left out: then the test would say nothing of it, so it fails. */
function randomJobs(dice: Dice): readonly JobDefinition[] {
  return Array.from({ length: 12 }, (_, index) => {
    const shape = SHAPES[(index + dice.below(3)) % SHAPES.length] ?? SHAPES[0];
    return shape(dice, `${dice.of(["prod", "stage"])}/job-${index}`);
  });
}

function randomDeed(dice: Dice, jobs: readonly JobDefinition[], now: number): Deed | null {
  if (!dice.is(12)) return null;
  const { identity } = jobs[dice.below(jobs.length)] ?? { identity: "none" };
  switch (dice.below(9)) {
    case 0:
    case 1:
      return { do: "pause", identity, forMs: dice.of([5, 30, 90, 3_600]) * SECOND_MS + dice.below(1_000) };
    case 2:
      return { do: "resume", identity };
    case 3:
      return { do: "run", identity };
    case 4: {
      const about = { expiresAt: now + dice.of([10, 45, 600]) * SECOND_MS, reason: "test" };
      const hint = dice.is(50)
        ? ({ kind: "interval", intervalMs: dice.of([7, 25]) * SECOND_MS, ...about } as const)
        : ({ kind: "oneshot", nextRunAt: now + dice.below(30) * SECOND_MS, ...about } as const);
      return { do: "hint", identity, hint } as Deed;
    }
    case 5:
      return { do: "unhint", identity, kind: "all" };
    case 6:
      return dice.is(50) ? { do: "kill" } : { do: "jump", byMs: dice.of([-HOUR_MS, 1_500, 20 * MINUTE_MS]) };
    case 7:
      return { do: "cancel", identity };
    default:
      return { do: "reload", jobs: [...jobs.filter(() => dice.is(85)), ...randomJobs(dice).slice(0, 2)] };
  }
}

function randomFilter(dice: Dice, now: number): ListFilter {
  const maybe = <T>(make: () => T, none: T): T => (dice.is(35) ? make() : none);
  const asked: ListFilter = {
    identities: maybe<readonly string[]>(() => dice.of([["prod/*"], ["*-1?", "*-2"], ["stage/job-3"], ["no*"]]), []),
    standings: maybe<ListFilter["standings"]>(
      () => dice.of<ListFilter["standings"]>([["enabled"], ["paused", "removed"], ["suspended"]]),
      [],
    ),
    tags: [],
    search: maybe<string | undefined>(() => dice.of(["job-1", "stage", "x"]), undefined),
    isFailing: maybe<boolean | undefined>(() => true, undefined),
    isRunning: maybe<boolean | undefined>(() => true, undefined),
    outcomes: maybe<ListFilter["outcomes"]>(
      () => dice.of<ListFilter["outcomes"]>([["missed"], ["executed"], ["skipped", "unschedulable"]]),
      undefined,
    ),
    dueBy: maybe<number | undefined>(() => now + dice.of([-MINUTE_MS, 0, 30 * SECOND_MS, 400 * DAY_MS]), undefined),
  };
  // What people call a job is as good as its identity.
  return asked.search === "x" ? { ...asked, called: CALLED } : asked;
}

const CALLED = ["prod/job-2", "stage/job-3", "prod/job-4", "stage/job-1", "gone"];

async function* onePage(rows: readonly JobStatus[]): AsyncGenerator<readonly JobStatus[]> {
  yield rows;
}

async function wantedPage(supervisor: Supervisor, filter: ListFilter, order: ListOrder): Promise<readonly string[]> {
  const rows = (await supervisor.list()).filter(wantedBy(filter));
  const ordered = await inOrder(onePage(rows), order.sort, rows.length, order.isReversed);
  return ordered.rows.map(({ identity }) => identity);
}

function namesIn({ rows }: JobPage): readonly string[] {
  return rows.map(({ identity }) => identity);
}

interface Tally {
  seconds: number;
  skipped: number;
  readonly standings: Set<string>;
  readonly sources: Set<string>;
  failing: number;
  unstartable: number;
  running: number;
}

function note(tally: Tally, rows: readonly JobStatus[]): void {
  tally.seconds += 1;
  for (const { standing, nextSource, failures, startFailure, active } of rows) {
    if (startFailure !== null) tally.unstartable += 1;
    tally.standings.add(standing);
    tally.sources.add(nextSource ?? "none");
    if (failures > 0) tally.failing += 1;
    if (active.length > 0) tally.running += 1;
  }
}

async function compare(supervisor: Supervisor, dice: Dice, now: number, seed: number): Promise<void> {
  const filter = randomFilter(dice, now);
  const order = { sort: dice.of(INDEX_SORTS as unknown as ["name"]), isReversed: dice.is(30) } as const;
  const expected = await wantedPage(supervisor, filter, order);
  const [offset, limit] = [dice.below(3), 1 + dice.below(6)];
  const at = new Date(now).toISOString();
  for (const limits of [1_000, limit]) {
    const from = limits === limit ? offset : 0;
    const page = await supervisor.find({ filter, order, from: { offset: from }, limit: limits });
    const found = { total: page.total, names: namesIn(page) };
    const wanted = { total: expected.length, names: expected.slice(from, from + limits) };
    expect({ seed, at, filter, order, ...found }).toEqual({ seed, at, filter, order, ...wanted });
  }
}

describe("the index of jobs", () => {
  test("finds what reading every job would find, whatever has happened", async () => {
    const tally: Tally = {
      seconds: 0,
      skipped: 0,
      standings: new Set(),
      sources: new Set(),
      failing: 0,
      unstartable: 0,
      running: 0,
    };
    for (const seed of SEEDS) {
      const dice = new Dice(seed);
      let jobs = randomJobs(dice);
      const behaviour = () => ({ runMs: dice.of([0, 3_000, 70_000]), exitCode: dice.of([0, 0, 1]) });
      const drill = new Drill({ jobs, behaviour, answer: () => ({ status: dice.of([200, 500]) }), seconds: 0 });
      const failure = { code: "command-not-found", message: "ENOENT" } as const;
      drill.faults.plan = ({ name, phase }) => {
        return name === "arm" && phase === "before" && dice.is(5) ? { kind: "arm", failure } : null;
      };
      await drill.boot();
      for (let second = 0; second < SECONDS; second++) {
        const { clock } = drill.world;
        const deed = randomDeed(dice, jobs, clock.now());
        if (deed?.do === "reload") jobs = deed.jobs;
        if (deed !== null) await drill.perform(deed);
        await drill.second();
        // Between two looks the clock goes on by itself as well.
        if (!drill.world.isRunning || drill.world.fatal !== null) continue;
        const { supervisor } = drill.world;
        // What ends a run by force may wait for the clock.
        const isIdle = await Promise.race([supervisor.whenIdle().then(() => true), drill.rest().then(() => false)]);
        if (!isIdle) {
          tally.skipped += 1;
          continue;
        }
        note(tally, await supervisor.list());
        await compare(supervisor, dice, clock.now(), seed);
      }
    }
    expect([...tally.standings].sort()).toEqual(["enabled", "paused", "removed", "suspended"]);
    expect([...tally.sources]).toEqual(expect.arrayContaining(["cron", "interval", "hint-interval", "hint-oneshot"]));
    expect([...tally.sources]).toContain("retry");
    // S46: what cannot be started is a sign of trouble as well.
    expect(tally.unstartable).toBeGreaterThan(0);
    expect(Math.min(tally.failing, tally.running, tally.seconds)).toBeGreaterThan(100);
    expect(tally.skipped).toBeLessThan(0.02 * tally.seconds);
  });

  test("S17: a pause that is over is over without a step, also for whoever asks the same again", async () => {
    const world = new World();
    await world.boot([job("a", "0 0 1 1 *"), job("b", "0 0 1 1 *")]);
    const { supervisor } = world;
    await supervisor.pause("a", world.clock.now() + MINUTE_MS, "test");
    const filter: ListFilter = { ...ALL_JOBS, standings: ["paused"] };
    const ask = async () => namesIn(await supervisor.find({ filter, order: BY_NAME, from: { offset: 0 }, limit: 9 }));
    expect([await ask(), await ask()]).toEqual([["a"], ["a"]]);
    await world.pass(MINUTE_MS - 1, MINUTE_MS);
    expect(await ask()).toEqual(["a"]);
    await world.pass(1, MINUTE_MS);
    expect(await ask()).toEqual([]);
    expect((await supervisor.list()).map(({ standing }) => standing)).toEqual(["enabled", "enabled"]);
  });

  test("no job is read but those that are shown", async () => {
    const read: string[] = [];
    const world = new World({ between: (ports) => ({ ...ports, store: listening(ports.store, read) }) });
    const jobs = Array.from({ length: 500 }, (_, index) => job(`job-${index}`, "0 * * * *"));
    await world.boot(jobs);
    await world.pass(MINUTE_MS, MINUTE_MS);
    for (const sort of INDEX_SORTS) {
      read.length = 0;
      const filter: ListFilter = { ...ALL_JOBS, search: "9", standings: ["enabled"], dueBy: START + DAY_MS };
      const query = { filter, order: { sort, isReversed: true }, from: { offset: 5 }, limit: 3 };
      const page = await world.supervisor.find(query);
      expect(page.total).toBe(jobs.filter(({ identity }) => identity.includes("9")).length);
      expect([...new Set(read)].sort()).toEqual([...namesIn(page)].sort());
      expect(page.rows).toHaveLength(3);
    }
  });

  test("a start knows of every job what it has read for it, and of a job that is told something what comes of it", async () => {
    const read: string[] = [];
    const world = new World({
      between: (ports) => ({ ...ports, store: listening(ports.store, read) }),
      behaviour: () => ({ exitCode: 7 }),
    });
    await world.boot([job("fails", "* * * * *"), job("rests", "0 0 1 1 *"), job("held", "* * * * *", SUSPENDED)]);
    await world.pass(3.5 * MINUTE_MS);
    world.kill();
    await world.boot("as-stored");
    read.length = 0;
    const order = { sort: "failures", isReversed: false } as const;
    const find = (filter: Partial<ListFilter>) =>
      world.supervisor.find({ filter: { ...ALL_JOBS, ...filter }, order, from: { offset: 0 }, limit: 9 });
    expect(namesIn(await find({ isFailing: true }))).toEqual(["fails"]);
    expect(namesIn(await find({ standings: ["suspended"] }))).toEqual(["held"]);
    expect(new Set(read)).toEqual(new Set(["fails", "held"]));
  });

  test("behind a cursor there are the names that follow, and a tag is looked for only among the rest", async () => {
    const read: string[] = [];
    const world = new World({ between: (ports) => ({ ...ports, store: listening(ports.store, read) }) });
    const tagged = (index: number) => ({ tags: index % 2 === 0 ? ["even"] : ["odd"] });
    await world.boot(Array.from({ length: 20 }, (_, i) => job(`job-${10 + i}`, "0 0 1 1 *", tagged(i))));
    const find = (after: string | null, filter: Partial<ListFilter>, limit = 3) =>
      world.supervisor.find({ filter: { ...ALL_JOBS, ...filter }, order: BY_NAME, from: { after }, limit });
    const first = await find("job-11", {});
    expect([namesIn(first), first.next, first.total]).toEqual([["job-12", "job-13", "job-14"], "job-14", 20]);
    expect((await find("job-26", {})).next).toBeNull();
    read.length = 0;
    const even = await find(null, { identities: ["job-1?"], tags: ["even"] });
    expect([namesIn(even), even.next, even.total]).toEqual([["job-10", "job-12", "job-14"], "job-14", null]);
    expect(new Set(read)).toEqual(new Set(["job-10", "job-11", "job-12", "job-13", "job-14"]));
    const query = { filter: { ...ALL_JOBS, tags: ["odd"] }, order: BY_NAME, from: { offset: 8 }, limit: 9 };
    const odd = await world.supervisor.find(query);
    expect([namesIn(odd), odd.total]).toEqual([["job-27", "job-29"], 10]);
  });

  test("what was read while the job was told something else is not believed", () => {
    const index = new JobIndex(new WakeTimes(16), 16);
    index.reading(3);
    index.set(3, { second: 7, marks: 1, lengths: 0 });
    index.read(3, { second: 5, marks: 1, lengths: 0 });
    expect(index.secondOf(3)).toBe(7);
    index.reading(3);
    index.read(3, { second: 5, marks: 1, lengths: 0 });
    expect(index.secondOf(3)).toBe(5);
  });

  test("costs eight bytes a job", () => {
    const rows = new JobRows();
    const before = rows.index.byteLength;
    rows.reserve(1_000);
    for (let index = 0; index < 1_000; index++) rows.add(`job-${index}`);
    expect([before, rows.index.byteLength]).toEqual([8 * 16, 8 * 1_000]);
    rows.setWakeAt(7, START);
    expect(rows.firstWakeAt()).toBe(START);
    rows.remove(7);
    expect(rows.firstWakeAt()).toBeNull();
  });
});

const SUSPENDED = { policy: { suspend: true } };

/** Which jobs are read of it. */
function listening(store: StateStore, read: string[]): StateStore {
  const noted = <T>(identity: string, answer: T): T => {
    read.push(identity);
    return answer;
  };
  return new Proxy(store, {
    get: (target, name, receiver) => {
      if (name === "get") return (identity: string) => noted(identity, target.get(identity));
      if (name === "newestVersion") return (identity: string) => noted(identity, target.newestVersion(identity));
      const value: unknown = Reflect.get(target, name, receiver);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
