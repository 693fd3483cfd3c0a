/** What a job is while nothing concerns it: a row and what the store knows, and all the same the job it was. */
import { describe, expect, test } from "vitest";
import { SETTINGS_DEFAULTS } from "../../../src/core/config/settings.js";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../src/core/time/instant.js";
import { job, START, World } from "./world.js";

const EVERY_MINUTE = "* * * * *";

describe("definitions are read from the store when their job is due", () => {
  test("S16: what is started is what the newest definition says, although the clock was set back before the change", async () => {
    const world = new World();
    await world.boot([job("a", EVERY_MINUTE)]);
    await world.pass(61 * SECOND_MS);
    world.clock.jump(-HOUR_MS);
    await world.settle();
    const changed = job("a", EVERY_MINUTE, { command: ["/bin/false"], policy: { deadline: "30s" } });
    await world.supervisor.reload([changed], SETTINGS_DEFAULTS, []);
    await world.pass(2 * HOUR_MS);
    expect(world.requests.at(-1)?.command).toEqual({ kind: "argv", argv: ["/bin/false"] });
    const versions = [...(world.disk.definitions.get("a")?.values() ?? [])].map(({ definedAt }) => definedAt);
    expect(versions).toEqual([...versions].sort((one, other) => one - other));
    expect(versions[1]).toBeGreaterThan(START);
  });

  test("the same set again changes nothing and writes nothing", async () => {
    const world = new World();
    const jobs = [job("a", EVERY_MINUTE), job("b", "5 * * * *")];
    await world.boot(jobs);
    const writes = world.disk.definitions.get("a")?.size;
    const report = await world.supervisor.reload(jobs, SETTINGS_DEFAULTS, []);
    expect(report).toEqual({ added: [], removed: [], changed: [], unchanged: 2 });
    expect(world.disk.definitions.get("a")?.size).toBe(writes);
  });

  test("S35: kept jobs stay, named by the new set or not", async () => {
    const world = new World();
    await world.boot([job("a", EVERY_MINUTE), job("b", EVERY_MINUTE), job("c", EVERY_MINUTE)]);
    const report = await world.supervisor.reload([job("a", EVERY_MINUTE)], SETTINGS_DEFAULTS, ["b"]);
    expect(report).toEqual({ added: [], removed: ["c"], changed: [], unchanged: 2 });
    expect((await world.supervisor.list()).map(({ identity }) => identity)).toEqual(["a", "b"]);
  });
});

describe("a start without a configuration: what is on record is what is wanted", () => {
  test("jobs go on as they were; removed ones stay removed", async () => {
    const world = new World();
    await world.boot([job("a", EVERY_MINUTE), job("b", "5 * * * *"), job("gone", EVERY_MINUTE)]);
    await world.supervisor.reload([job("a", EVERY_MINUTE), job("b", "5 * * * *")], SETTINGS_DEFAULTS, []);
    await world.pass(90 * SECOND_MS);
    world.kill();
    await world.boot("as-stored");
    expect((await world.supervisor.list()).map(({ identity }) => identity)).toEqual(["a", "b"]);
    await world.pass(MINUTE_MS);
    expect(world.starts("a")).toEqual(["2026-03-01T00:01:00", "2026-03-01T00:02:00"]);
    expect(world.starts("gone")).toEqual([]);
  });

  test("S14: what was noted at the definition is not noted again at every start", async () => {
    const world = new World();
    await world.boot([job("a", "0 0 * * *", { window: { mode: "after", duration: "1h" } })]);
    const records = world.ledger("a").length;
    for (let start = 0; start < 3; start++) {
      world.kill();
      world.clock.advance(MINUTE_MS);
      await world.boot("as-stored");
    }
    expect(world.ledger("a")).toHaveLength(records);
  });
});

test("what is live can be asked for at any time: also while a job is being read, and after a hint, when it rests again", async () => {
  const world = new World();
  await world.boot([job("a", "0 0 1 1 *")]);
  const expiresAt = world.clock.now() + HOUR_MS;
  const told = world.supervisor.hint("a", { kind: "interval", intervalMs: 2 * HOUR_MS, expiresAt, reason: "" });
  expect([...world.supervisor.live()]).toEqual([]);
  expect(await told).toBe("set");
  expect([...world.supervisor.live()]).toEqual([]);
  expect(await world.supervisor.hint("b", { kind: "interval", intervalMs: HOUR_MS, expiresAt, reason: "" })).toBe(
    "unknown",
  );
});

describe("many jobs", () => {
  const jobs = Array.from({ length: 300 }, (_, n) => job(`job-${String(n).padStart(3, "0")}`, `${n % 60} * * * *`));

  test("status and list come from the rows, in pages in the order of the names", async () => {
    const world = new World();
    await world.boot(jobs);
    const first = await world.supervisor.list({ limit: 100 });
    const rest = await world.supervisor.list({ afterIdentity: first.at(-1)?.identity ?? "" });
    expect([...first, ...rest].map(({ identity }) => identity)).toEqual(jobs.map(({ identity }) => identity));
    expect(await world.supervisor.list({ identities: ["job-007", "nobody"] })).toMatchObject([
      { identity: "job-007", schedule: "7 * * * *", nextPeriodId: "2026-03-01T00:07:00Z" },
    ]);
    expect(world.supervisor.status()).toMatchObject({ jobs: 300, nextDueAt: START - SECOND_MS + MINUTE_MS });
  });

  test("S13: a clock jump reaches every one of them, also those that rest", async () => {
    const world = new World();
    await world.boot(jobs);
    world.clock.jump(24 * HOUR_MS);
    await world.settle();
    await world.pass(HOUR_MS);
    // Each one once for the hour that was current after the jump or the next, none for the day that was skipped.
    const counts = jobs.map(({ identity }) => world.starts(identity).length);
    expect([Math.min(...counts), Math.max(...counts)]).toEqual([1, 1]);
  });
});

describe("S23: that a run has begun is put on record soon, although nothing waits for it", () => {
  const confirmed = (world: World): unknown => world.document("a").ActiveExecution?.Confirmed;

  test("a crash a while after the start finds a run that is known to have been one", async () => {
    const world = new World({ behaviour: () => ({ runMs: 30_000 }) });
    await world.boot([job("a", "1 * * * *")]);
    await world.pass(59_500);
    expect([world.starts("a").length, confirmed(world)]).toEqual([1, undefined]);
    await world.pass(2 * SECOND_MS);
    expect(confirmed(world)).toBe(true);
  });

  test("a run that ends meanwhile is written once, by its end", async () => {
    const world = new World({ behaviour: () => ({ runMs: 200 }) });
    await world.boot([job("a", "1 * * * *")]);
    await world.pass(70 * SECOND_MS);
    expect(world.document("a")).toMatchObject({ ActiveExecution: null, History: [{ ExitCode: 0 }] });
  });

  test("a daemon that stops at once leaves it on record too", async () => {
    const world = new World({ behaviour: () => ({ runMs: 90_000 }) });
    await world.boot([job("a", "1 * * * *")]);
    await world.pass(59_500);
    await world.supervisor.stop({ graceful: false });
    expect(confirmed(world)).toBe(true);
  });
});

describe("a slot that is due just as its daemon stops", () => {
  /** Nothing could be made ready ahead of it; then it is due, and the daemon stops in the same turn. */
  async function stoppedAtItsSecond(graceful: boolean): Promise<World> {
    let isRefused = true;
    const refusal = { code: "fork-failed", message: "no process" } as const;
    const world = new World({ behaviour: () => (isRefused ? { refusal } : {}) });
    await world.boot([job("a", "@every 10s")]);
    await world.pass(9 * SECOND_MS);
    isRefused = false;
    world.clock.advance(SECOND_MS);
    await world.supervisor.stop({ graceful });
    return world;
  }

  test.each([true, false])(
    "is left to whoever has the job next: nothing is put on record of it (graceful: %s)",
    async (graceful) => {
      const world = await stoppedAtItsSecond(graceful);
      expect([world.told("a").includes("not_started"), world.document("a").StartFailure ?? null]).toEqual([
        false,
        null,
      ]);
      world.kill();
      await world.boot("as-stored");
      await world.settle();
      expect(world.starts("a")).toEqual(["2026-03-01T00:00:11"]);
    },
  );

  test("is refused to somebody who waits for it", async () => {
    const world = new World();
    await world.boot([job("a", "5 * * * *")]);
    const asked = world.supervisor.runNow("a");
    await world.supervisor.stop({ graceful: true });
    expect(await asked).toMatchObject({ ok: false });
  });
});

test("S29: a graceful stop ends when its runs have, although something was due meanwhile and others ended after that", async () => {
  const world = new World({ behaviour: () => ({ runMs: 25_500 }) });
  await world.boot([job("a", "@every 10s", { policy: { concurrency: "allow" } })]);
  // Three of them run: the first ends before the next is due, and two after that.
  await world.pass(34 * SECOND_MS);
  expect(world.supervisor.status().active).toBe(3);
  let isOver = false;
  const stopped = world.supervisor.stop({ graceful: true }).then(() => {
    isOver = true;
  });
  await world.pass(MINUTE_MS);
  expect(isOver).toBe(true);
  await stopped;
  expect(world.ledger("a").some(({ content }) => JSON.stringify(content).includes("launcher-unavailable"))).toBe(false);
});
