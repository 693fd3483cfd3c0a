/** S51: endpoints that stop by themselves, after failures, after runs, and at an end. */
import { describe, expect, test } from "vitest";
import { plannerNamed } from "../../../src/core/governor/author.js";
import { MINUTE_MS } from "../../../src/core/time/instant.js";
import { AUDIT } from "../../../src/operations/audit/audit.js";
import { GET_ENDPOINT, UPDATE_ENDPOINT } from "../../../src/operations/endpoints/endpoints.js";
import { HEALTH } from "../../../src/operations/endpoints/health.js";
import { PAUSE_ENDPOINTS, RESUME_ENDPOINTS } from "../../../src/operations/endpoints/many.js";
import { PREVIEW_ENDPOINT } from "../../../src/operations/endpoints/preview.js";
import { RUN_ENDPOINT } from "../../../src/operations/endpoints/run-now.js";
import { LIST_RUNS_OF_ENDPOINT } from "../../../src/operations/endpoints/runs.js";
import { PAUSE_ENDPOINT, RESUME_ENDPOINT } from "../../../src/operations/endpoints/standing.js";
import { Desk, type DeskOptions } from "./desk.js";

const EVERY_MINUTE = { baselineIntervalMs: 60_000 };

async function opened(more: Record<string, unknown>, options: DeskOptions = {}) {
  const desk = await Desk.open(options);
  const { id: jobId } = await desk.job();
  const { id: endpointId } = await desk.endpoint(jobId, more);
  const identity = `endpoint:acme/${jobId}/${endpointId}`;
  const starts = () => desk.world.starts(identity).length;
  const shown = () => desk.ask(GET_ENDPOINT, { endpointId });
  return { desk, jobId, endpointId, identity, starts, shown };
}

const failing: DeskOptions = { answer: () => ({ status: 503 }) };

describe("S51: after so many failures in a row", () => {
  test("it is paused by kron, with a reason that names them, and that is told wherever people look", async () => {
    const { desk, endpointId, starts, shown } = await opened(
      { ...EVERY_MINUTE, autoPause: { afterFailures: 3 } },
      failing,
    );
    const events: unknown[] = [];
    desk.onEvent = ({ event, fields }) => (event === "paused" ? void events.push(fields) : undefined);
    await desk.world.pass(30 * MINUTE_MS);
    expect(starts()).toBe(3);
    const reason = "3 runs in a row failed: 3 times HTTP 503";
    expect(await shown()).toMatchObject({
      status: "paused",
      pausedBy: "kron",
      pauseReason: reason,
      pausedUntil: "9999-12-31T23:59:59Z",
      nextRunAt: null,
      nextSource: "paused",
    });
    expect(await desk.ask(HEALTH, { endpointId })).toMatchObject({ stopped: reason, streak: { failures: 3 } });
    expect(events).toEqual([expect.objectContaining({ by: "kron", reason, stopped_for: "failures" })]);
    const { rows } = await desk.ask(AUDIT, { cursor: null, limit: 9 });
    expect(rows[0]).toMatchObject({ operation: "endpoints.pause", keyId: "kron", about: { endpointId } });
    expect(desk.failures).toEqual([]);
  });

  test("a success begins the count anew, and what somebody cancels does not count", async () => {
    const statuses = [503, 503, 200, 503, 503, 503];
    const answer = () => ({ status: statuses.shift() ?? 200 });
    const { desk, starts, shown } = await opened({ ...EVERY_MINUTE, autoPause: { afterFailures: 3 } }, { answer });
    await desk.world.pass(5 * MINUTE_MS + 10_000);
    expect(await shown()).toMatchObject({ status: "active" });
    await desk.world.pass(20 * MINUTE_MS);
    expect([starts(), (await shown()).status]).toEqual([6, "paused"]);
  });

  test("a person's resume begins the count anew; of many at once too", async () => {
    const { desk, jobId, endpointId, starts, shown } = await opened(
      { ...EVERY_MINUTE, autoPause: { afterFailures: 2 } },
      failing,
    );
    await desk.world.pass(10 * MINUTE_MS);
    expect(starts()).toBe(2);
    await desk.ask(RESUME_ENDPOINT, { endpointId });
    expect(await shown()).toMatchObject({ status: "active", pausedBy: null });
    await desk.world.pass(10 * MINUTE_MS);
    expect(starts()).toBe(4);
    await desk.ask(RESUME_ENDPOINTS, { jobId });
    await desk.world.pass(10 * MINUTE_MS);
    expect([starts(), (await shown()).status]).toEqual([6, "paused"]);
  });

  test("a pause that somebody wants in its place is theirs: when that is over it goes on, and is counted anew", async () => {
    const { desk, endpointId, starts } = await opened({ ...EVERY_MINUTE, autoPause: { afterFailures: 2 } }, failing);
    await desk.world.pass(10 * MINUTE_MS);
    await desk.ask(PAUSE_ENDPOINT, { endpointId, pausedUntil: "2026-03-01T00:20:00Z", reason: "looking" });
    await desk.world.pass(9 * MINUTE_MS);
    expect(starts()).toBe(2);
    await desk.world.pass(20 * MINUTE_MS);
    expect(starts()).toBe(4);
  });

  test("a planner neither ends it nor puts anything in its place", async () => {
    const { desk, identity, starts } = await opened({ ...EVERY_MINUTE, autoPause: { afterFailures: 2 } }, failing);
    await desk.world.pass(10 * MINUTE_MS);
    const by = plannerNamed("rules");
    const { supervisor, clock } = desk.world;
    const hint = {
      kind: "interval",
      intervalMs: 30_000,
      expiresAt: clock.now() + 60 * MINUTE_MS,
      reason: "",
      by,
    } as const;
    expect(await supervisor.resume(identity, by)).toBe(false);
    expect(await supervisor.pause(identity, clock.now() + MINUTE_MS, "", false, by)).toBe(false);
    expect(await supervisor.hint(identity, hint)).toBe("held");
    await desk.world.pass(10 * MINUTE_MS);
    expect(starts()).toBe(2);
  });

  test("the count is on record: a daemon that dies after each run stops it after as many", async () => {
    const { desk, starts, shown } = await opened({ ...EVERY_MINUTE, autoPause: { afterFailures: 3 } }, failing);
    for (let run = 0; run < 8; run++) {
      await desk.world.pass(MINUTE_MS + 5_000);
      desk.world.kill();
      await desk.boot();
    }
    expect([starts(), (await shown()).status]).toEqual([3, "paused"]);
  });

  test("a crash at any commit of the run that is the last leaves it paused, or running to no more than that", async () => {
    for (let crashAt = 1; crashAt <= 6; crashAt += 1) {
      for (const isDurable of [true, false]) {
        const { desk, starts, shown } = await opened({ ...EVERY_MINUTE, autoPause: { afterFailures: 2 } }, failing);
        await desk.world.pass(MINUTE_MS + 30_000);
        const { disk } = desk.world;
        const from = disk.commits;
        disk.faults = (commit) => (commit === from + crashAt ? { kind: "crash", isDurable } : null);
        disk.onCrash = () => desk.world.kill();
        await desk.world.pass(MINUTE_MS);
        disk.faults = () => null;
        if (!desk.world.isRunning) await desk.boot();
        await desk.world.pass(20 * MINUTE_MS);
        // A run whose claim was not durable was never sent; one that nobody saw end has failed as well.
        expect([crashAt, isDurable, starts() <= 3, (await shown()).status]).toEqual([
          crashAt,
          isDurable,
          true,
          "paused",
        ]);
        desk.world.kill();
      }
    }
  });

  test("with an expression too; what falls into it is passed over", async () => {
    const cron = { baselineCron: "* * * * *", baselineIntervalMs: null, autoPause: { afterFailures: 2 } };
    const { desk, endpointId, starts, shown } = await opened(cron, failing);
    await desk.world.pass(30 * MINUTE_MS);
    expect([starts(), (await shown()).nextRunAt]).toEqual([2, null]);
    await desk.ask(RESUME_ENDPOINT, { endpointId });
    await desk.world.pass(30 * MINUTE_MS);
    expect(starts()).toBe(4);
    desk.world.kill();
    await desk.boot();
    expect((await shown()).status).toBe("paused");
  });
});

describe("S51: a bound that is changed", () => {
  test("what failed before there was none is none of a row that comes later", async () => {
    let status = 503;
    const answer = () => ({ status });
    const { desk, endpointId, starts, shown } = await opened(
      { ...EVERY_MINUTE, autoPause: { afterFailures: 3 } },
      { answer },
    );
    await desk.world.pass(2 * MINUTE_MS + 20_000);
    expect(starts()).toBe(2);
    await desk.ask(UPDATE_ENDPOINT, { endpointId, autoPause: null });
    status = 200;
    await desk.world.pass(10 * MINUTE_MS);
    await desk.ask(UPDATE_ENDPOINT, { endpointId, autoPause: { afterFailures: 3 } });
    status = 503;
    const before = starts();
    await desk.world.pass(20 * MINUTE_MS);
    expect([starts() - before, (await shown()).status]).toEqual([3, "paused"]);
  });

  test("what began before there was none is none of those that it may begin later", async () => {
    const { desk, endpointId, starts } = await opened({ ...EVERY_MINUTE, maxRuns: 5 });
    await desk.world.pass(3 * MINUTE_MS + 20_000);
    await desk.ask(UPDATE_ENDPOINT, { endpointId, maxRuns: null });
    await desk.world.pass(10 * MINUTE_MS);
    const before = starts();
    await desk.ask(UPDATE_ENDPOINT, { endpointId, maxRuns: 5 });
    await desk.world.pass(20 * MINUTE_MS);
    expect(starts() - before).toBe(5);
  });

  test("one that it has come to already stops it at once; let go on, it begins as many again", async () => {
    const { desk, endpointId, starts, shown } = await opened({ ...EVERY_MINUTE, maxRuns: 5 });
    await desk.world.pass(3 * MINUTE_MS + 20_000);
    expect(starts()).toBe(3);
    const { status, pausedBy } = await desk.ask(UPDATE_ENDPOINT, { endpointId, maxRuns: 2 });
    expect([status, pausedBy]).toEqual(["paused", "kron"]);
    await desk.world.pass(10 * MINUTE_MS);
    expect([starts(), (await shown()).pauseReason]).toEqual([3, "the last of its 2 runs has begun"]);
    await desk.ask(RESUME_ENDPOINT, { endpointId });
    await desk.world.pass(10 * MINUTE_MS);
    expect([starts(), (await shown()).status]).toEqual([5, "paused"]);
  });
});

describe("S51: after so many runs", () => {
  test("exactly so many begin by themselves, whatever crashes; what is asked for by hand does not count", async () => {
    for (const baseline of [EVERY_MINUTE, { baselineCron: "* * * * *", baselineIntervalMs: null }]) {
      for (let crashAt = 1; crashAt <= 9; crashAt += 1) {
        const { desk, endpointId, starts, shown } = await opened({ ...baseline, maxRuns: 4 });
        await desk.ask(RUN_ENDPOINT, { endpointId });
        const { disk } = desk.world;
        let crashes = 0;
        disk.onCrash = () => desk.world.kill();
        for (let minute = 0; minute < 20; minute++) {
          disk.faults = () => null;
          if (!desk.world.isRunning) await desk.boot();
          const from = disk.commits;
          disk.faults = (commit) => {
            if (commit !== from + 1 + (minute % crashAt) || crashes >= crashAt) return null;
            crashes += 1;
            return { kind: "crash", isDurable: crashes % 2 === 0 };
          };
          await desk.world.pass(MINUTE_MS);
        }
        disk.faults = () => null;
        if (!desk.world.isRunning) await desk.boot();
        await desk.world.pass(10 * MINUTE_MS);
        const { status, pausedBy, pauseReason } = await shown();
        expect([status, pausedBy, pauseReason]).toEqual(["paused", "kron", "the last of its 4 runs has begun"]);
        // What was claimed is on record; of a claim that became durable in the crash itself nothing was sent.
        const { rows } = await desk.ask(LIST_RUNS_OF_ENDPOINT, { endpointId, cursor: null, limit: 50 });
        const own = rows.filter(({ source }) => source !== "manual");
        expect([crashAt, own.length, starts() <= 5]).toEqual([crashAt, 4, true]);
        desk.world.kill();
      }
    }
  });

  test("without a crash they are exactly so many, and a resume allows as many again", async () => {
    const { desk, endpointId, starts, shown } = await opened({ ...EVERY_MINUTE, maxRuns: 4 });
    await desk.world.pass(20 * MINUTE_MS);
    expect(starts()).toBe(4);
    await desk.ask(RUN_ENDPOINT, { endpointId });
    await desk.world.pass(5_000);
    expect([starts(), (await shown()).status]).toEqual([5, "paused"]);
    await desk.ask(RESUME_ENDPOINT, { endpointId });
    await desk.world.pass(20 * MINUTE_MS);
    expect(starts()).toBe(9);
  });

  test("a pause of many at once is none of what has stopped for good: when it is over that begins nothing", async () => {
    const { desk, jobId, starts, shown } = await opened({ ...EVERY_MINUTE, maxRuns: 1 });
    await desk.endpoint(jobId, { ...EVERY_MINUTE, name: "other" });
    await desk.world.pass(3 * MINUTE_MS);
    const wish = { jobId, pausedUntil: "2026-03-01T00:10:00Z", reason: "maintenance" };
    expect(await desk.ask(PAUSE_ENDPOINTS, wish)).toEqual({ matched: 2, changed: 1 });
    await desk.world.pass(20 * MINUTE_MS);
    expect([starts(), (await shown()).pausedBy]).toEqual([1, "kron"]);
  });
});

describe("S51: at an end", () => {
  const endAt = "2026-03-01T00:05:30Z";

  test("nothing begins from then on, and nothing is promised", async () => {
    const { desk, starts, shown } = await opened({ ...EVERY_MINUTE, endAt });
    await desk.world.pass(5 * MINUTE_MS + 10_000);
    expect(starts()).toBe(5);
    expect(await shown()).toMatchObject({ nextRunAt: null, nextSource: null });
    await desk.world.pass(30 * MINUTE_MS);
    expect(starts()).toBe(5);
    expect(await shown()).toMatchObject({
      status: "paused",
      pausedBy: "kron",
      pauseReason: `it has ended at ${endAt}`,
    });
  });

  test("what lies behind the end is not what lists of jobs say that it has next", async () => {
    const { desk, identity } = await opened({ baselineCron: "0 0 * * *", baselineIntervalMs: null, endAt });
    const listed = async () => {
      const [row] = await desk.world.supervisor.list({ identities: [identity] });
      return [row?.standing, row?.nextPeriodId, row?.nextChosenTime];
    };
    expect(await listed()).toEqual(["enabled", null, null]);
    desk.world.kill();
    await desk.boot();
    expect(await listed()).toEqual(["enabled", null, null]);
  });

  test("a resume is refused until the end is another; then it goes on", async () => {
    const { desk, jobId, endpointId, starts, shown } = await opened({ ...EVERY_MINUTE, endAt });
    await desk.world.pass(10 * MINUTE_MS);
    await expect(desk.ask(RESUME_ENDPOINT, { endpointId })).rejects.toThrow(/has ended/);
    // Of many at once nobody is refused: it is held again at once.
    await desk.ask(RESUME_ENDPOINTS, { jobId });
    await desk.world.pass(10 * MINUTE_MS);
    expect([starts(), (await shown()).status]).toEqual([5, "paused"]);
    // What has ended may be changed otherwise, and only an end that is yet to come takes the place of that one.
    await desk.ask(UPDATE_ENDPOINT, { endpointId, description: "over" });
    await expect(desk.ask(UPDATE_ENDPOINT, { endpointId, endAt: "2026-03-01T00:01:00Z" })).rejects.toThrow(
      /in the past/,
    );
    await desk.ask(UPDATE_ENDPOINT, { endpointId, endAt: null });
    await desk.ask(RESUME_ENDPOINT, { endpointId });
    await desk.world.pass(5 * MINUTE_MS);
    expect(starts()).toBeGreaterThan(5);
  });

  test("a daemon that was down over it starts nothing", async () => {
    const { desk, starts, shown } = await opened({ baselineCron: "* * * * *", baselineIntervalMs: null, endAt });
    await desk.world.pass(2 * MINUTE_MS + 30_000);
    const before = starts();
    desk.world.kill();
    await desk.world.pass(10 * MINUTE_MS);
    await desk.boot();
    await desk.world.pass(10 * MINUTE_MS);
    expect([starts(), (await shown()).status]).toEqual([before, "paused"]);
  });

  test("what lies behind it, or after the last run, is not in a preview", async () => {
    const { desk } = await opened(EVERY_MINUTE);
    const wish = { name: "x", url: "https://api.example.com/", baselineIntervalMs: 60_000 };
    const count = async (more: object) => (await desk.ask(PREVIEW_ENDPOINT, { ...wish, ...more })).rows.length;
    expect([await count({}), await count({ endAt }), await count({ maxRuns: 3 })]).toEqual([10, 5, 3]);
  });
});
