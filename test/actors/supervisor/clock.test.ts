/** R8: the wall clock jumps, runs back, stands still and changes its offset; periods run once, and gaps are not caught up. */
import { describe, expect, test } from "vitest";
import type { ProcessArm } from "../../../src/actors/launcher/port.js";
import type { JobDefinition } from "../../../src/core/job/definition.js";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../src/core/time/instant.js";
import { Drill } from "./drill.js";
import { job, World } from "./world.js";

const YEAR_MS = 365 * DAY_MS;
const JUMPS = [1, 2, 59, 61, 3_600, 86_400, 400 * 86_400].map((seconds) => seconds * SECOND_MS);
const ALL_JUMPS = [...JUMPS, 10 * YEAR_MS].flatMap((byMs) => [byMs, -byMs]);
/** Between periods; while processes are made ahead; right after a start, with the run still going. */
const MOMENTS = [30, 57, 60, 61];

function jobs(): JobDefinition[] {
  return [
    job("minutely", "* * * * *", { policy: { deadline: "1h" } }),
    job("windowed", "*/5 * * * *", { window: { duration: "3m", mode: "around" }, policy: { deadline: "10m" } }),
    job("alone", "* * * * *", { policy: { concurrency: "forbid", deadline: "1h" } }),
    job("strict", "* * * * *"),
    job("daily", "0 3 * * *", { policy: { deadline: "2h" } }),
  ];
}

const SLOW = { behaviour: () => ({ runMs: 30_000 }) };

/** Outcomes on record for periods that were due before the gap ended, written after it: what was caught up. */
function evaluatedAfterGap(drill: Drill, identity: string, from: number, to: number): number {
  return drill.world.ledger(identity).filter(({ kind, at, content }) => {
    return kind === "period" && content["outcome"] !== null && at > from && at < to - MINUTE_MS;
  }).length;
}

describe("R8: jumps", () => {
  test.each(ALL_JUMPS)(
    "S12, S13: a jump by %d ms, at any moment: nothing twice, at most one evaluation, all explained",
    async (byMs) => {
      const wrong: string[] = [];
      for (const moment of MOMENTS) {
        const drill = new Drill({ ...SLOW, jobs: jobs(), seconds: 200, deeds: { [moment]: { do: "jump", byMs } } });
        await drill.play();
        const told = drill.world.events.filter(({ event }) => event === "clock_jump");
        const isTold =
          told.length === (Math.abs(byMs) > SECOND_MS ? 1 : 0) && told.every(({ level }) => level === "warn");
        wrong.push(...(isTold ? [] : [`${told.length} lines about the jump`]), ...(await drill.verdict()));
        expect(drill.fatals).toEqual([]);
      }
      expect(wrong).toEqual([]);
    },
  );

  test.each([HOUR_MS, DAY_MS, 400 * DAY_MS, 10 * YEAR_MS])(
    "S13: after a gap of %d ms each job evaluates one period, at the same cost as after any other gap",
    async (byMs) => {
      const counts: number[] = [];
      for (const gapMs of [2 * HOUR_MS, byMs]) {
        const drill = new Drill({ ...SLOW, jobs: jobs(), seconds: 61 });
        await drill.play();
        const before = [drill.world.clock.now(), drill.faults.steps.length] as const;
        drill.world.clock.jump(gapMs);
        await drill.second();
        counts.push(drill.faults.steps.length - before[1]);
        for (const { identity } of jobs()) {
          const to = drill.world.clock.now();
          expect(evaluatedAfterGap(drill, identity, before[0], to)).toBeLessThanOrEqual(1);
        }
        expect(drill.world.ledger("minutely").filter(({ kind }) => kind === "gap")).toHaveLength(1);
      }
      expect(counts[1]).toBeLessThanOrEqual(2 * (counts[0] ?? 0));
    },
  );

  test("back and forth, again and again", async () => {
    const deeds = Object.fromEntries(
      Array.from(
        { length: 20 },
        (_, i) => [10 + i * 17, { do: "jump", byMs: i % 2 === 0 ? 7 * MINUTE_MS : -6 * MINUTE_MS }] as const,
      ),
    );
    const drill = new Drill({ ...SLOW, jobs: jobs(), seconds: 400, deeds });
    await drill.play();
    expect([await drill.verdict(), drill.fatals]).toEqual([[], []]);
  });

  test("a jump with a crash on either side", async () => {
    const wrong: string[] = [];
    for (const byMs of [5 * MINUTE_MS, -5 * MINUTE_MS]) {
      for (const first of [58, 60, 61, 62]) {
        const deeds = { [first]: { do: "kill" }, 65: { do: "jump", byMs }, [first + 10]: { do: "kill" } } as const;
        const drill = new Drill({ ...SLOW, jobs: jobs(), seconds: 200, deeds });
        drill.downSeconds = 4;
        await drill.play();
        wrong.push(...(await drill.verdict()));
      }
    }
    expect(wrong).toEqual([]);
  });
});

describe("R8: a process that stood still", () => {
  test.each([30, 61, 600, 86_400])(
    "S13: for %d s: nothing twice, at most one evaluation each, all explained",
    async (seconds) => {
      const drill = new Drill({ ...SLOW, jobs: jobs(), seconds: 61 });
      await drill.play();
      const from = drill.world.clock.now();
      drill.world.clock.freeze(seconds * SECOND_MS);
      await drill.rest();
      const to = drill.world.clock.now();
      const most = Math.max(...jobs().map(({ identity }) => evaluatedAfterGap(drill, identity, from, to)));
      expect(most).toBeLessThanOrEqual(1);
      for (let second = 0; second < 130; second++) await drill.second();
      expect([await drill.verdict(), drill.fatals]).toEqual([[], []]);
    },
  );

  test("S13: so many jobs that they are woken in several turns: none of them catches up", async () => {
    const many = Array.from({ length: 700 }, (_, i) => job(`job-${i}`, "* * * * *", { policy: { deadline: "1h" } }));
    const drill = new Drill({ jobs: many, behaviour: () => ({ runMs: 1_000 }), seconds: 30 });
    await drill.play();
    drill.world.clock.freeze(30 * MINUTE_MS);
    for (let second = 0; second < 3; second++) await drill.second();
    const outcomes = many.map(({ identity }) => {
      return drill.world
        .ledger(identity)
        .filter(({ kind, content }) => kind === "period" && content["outcome"] !== null);
    });
    expect([Math.min(...outcomes.map((it) => it.length)), Math.max(...outcomes.map((it) => it.length))]).toEqual([
      1, 1,
    ]);
  });

  test("S13: what was under way when time was lost: its answer comes before the tick, and no gap is caught up for it", async () => {
    const waiting: (() => void)[] = [];
    const world = new World({
      between: (ports) => {
        const { runner } = ports;
        const arm = async (request: ProcessArm) => {
          await new Promise<void>((resolve) => waiting.push(resolve));
          return runner.arm(request);
        };
        const get = (target: typeof runner, key: keyof typeof runner): unknown => {
          if (key === "arm") return arm;
          const value: unknown = target[key];
          return typeof value === "function" ? value.bind(target) : value;
        };
        return {
          ...ports,
          runner: new Proxy(runner, { get: (target, key) => get(target, key as keyof typeof runner) }),
        };
      },
    });
    await world.boot([job("a", "* * * * *", { policy: { deadline: "2m" } })]);
    for (let second = 0; second < 61; second++) await restless(world);
    // The clock alone moves: the waker has not noticed when the process is ready.
    world.clock.jump(HOUR_MS);
    for (const go of waiting.splice(0)) go();
    await restless(world, 0);
    for (const go of waiting.splice(0)) go();
    await restless(world, 0);
    const periods = world.ledger("a").filter(({ kind, content }) => kind === "period" && content["outcome"] !== null);
    expect(periods.map(({ content }) => content["outcome"])).toEqual(["missed", "executed"]);
    expect(world.ledger("a").filter(({ kind }) => kind === "gap")).toHaveLength(1);
  });
});

async function restless(world: World, byMs: number = SECOND_MS): Promise<void> {
  world.clock.advance(byMs);
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

describe("R8: transitions of the zone", () => {
  const BERLIN = { timezone: "Europe/Berlin", policy: { deadline: "50m" } };
  test.each([
    ["the gap of spring", "2026-03-29T00:00:01Z", "30 2 * * *", 0],
    ["the hour that comes twice", "2026-10-24T23:59:01Z", "30 2 * * *", 2],
    ["every quarter of it", "2026-10-24T23:59:01Z", "*/15 2 * * *", 8],
  ])("S3: %s", async (_name, from, schedule, runs) => {
    const world = new World({ startAt: Date.parse(from) });
    await world.boot([job("a", schedule, BERLIN)]);
    await world.pass(3 * HOUR_MS, 10 * SECOND_MS);
    expect(world.starts("a")).toHaveLength(runs);
    expect(new Set(world.starts("a")).size).toBe(runs);
  });

  test("S12: somebody sets the clock back by the hour as well: nothing runs again", async () => {
    const world = new World({ startAt: Date.parse("2026-10-24T23:59:01Z") });
    await world.boot([job("a", "*/15 2 * * *", BERLIN)]);
    await world.pass(HOUR_MS + 20 * MINUTE_MS, 10 * SECOND_MS);
    const before = world.starts("a").length;
    world.clock.jump(-HOUR_MS);
    await world.pass(HOUR_MS, 10 * SECOND_MS);
    expect([before, world.starts("a").length]).toEqual([6, 6]);
    await world.pass(HOUR_MS, 10 * SECOND_MS);
    expect(world.starts("a")).toHaveLength(8);
  });
});
