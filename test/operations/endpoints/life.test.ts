/** An endpoint's life on a virtual clock: its governor, its pauses, its runs, its health, and what its tenant may use. */
import { describe, expect, test } from "vitest";
import type { SimulatedAnswer } from "../../../src/actors/dispatcher/simulated-dispatcher.js";
import { turnOfLoop } from "../../../src/actors/turns.js";
import type { HintKind } from "../../../src/core/governor/hint.js";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/core/time/instant.js";
import {
  DELETE_ENDPOINT,
  GET_ENDPOINT,
  LIST_ENDPOINTS,
  UPDATE_ENDPOINT,
} from "../../../src/operations/endpoints/endpoints.js";
import { HEALTH, LIMITS_OF_CALLER, SET_LIMITS } from "../../../src/operations/endpoints/health.js";
import { DELETE_JOB } from "../../../src/operations/endpoints/jobs.js";
import { RUN_ENDPOINT } from "../../../src/operations/endpoints/run-now.js";
import { GET_RUN, LIST_RUNS, LIST_RUNS_OF_ENDPOINT } from "../../../src/operations/endpoints/runs.js";
import {
  CLEAR_HINTS,
  HINT_INTERVAL,
  HINT_ONESHOT,
  PAUSE_ENDPOINT,
  RESUME_ENDPOINT,
} from "../../../src/operations/endpoints/standing.js";
import { OperationError } from "../../../src/operations/operation.js";
import { Desk, type DeskOptions } from "./desk.js";

async function opened(more: Record<string, unknown> = {}, options: DeskOptions = {}) {
  const desk = await Desk.open(options);
  const { id: jobId } = await desk.job();
  const { id: endpointId } = await desk.endpoint(jobId, more);
  const identity = `endpoint:acme/${jobId}/${endpointId}`;
  return { desk, jobId, endpointId, identity, starts: () => desk.world.starts(identity) };
}

async function refusalOf(asked: Promise<unknown>): Promise<string[]> {
  const error = await asked.catch((reason: unknown) => reason);
  if (!(error instanceof OperationError)) throw new Error(`not refused: ${String(error)}`);
  return error.problems.map(({ path }) => path.join("."));
}

describe("seed 003, the governor: what decides, in this order", () => {
  test("an interval hint for its time, then the baseline again", async () => {
    const { desk, endpointId, starts } = await opened({ baselineIntervalMs: 600_000 });
    const hint = { endpointId, intervalMs: 60_000, ttlMinutes: 5, reason: "errors" };
    const inForce = await desk.ask(HINT_INTERVAL, hint);
    expect(inForce.interval).toMatchObject({ intervalMs: 60_000, reason: "errors" });
    expect(await desk.ask(GET_ENDPOINT, { endpointId })).toMatchObject({ nextSource: "ai-interval" });
    await desk.world.pass(20 * MINUTE_MS);
    expect(starts().map((at) => at.slice(11, 16))).toEqual(["00:01", "00:02", "00:03", "00:04", "00:14"]);
    expect((await desk.ask(GET_ENDPOINT, { endpointId })).hints).toEqual({ interval: null, oneshot: null });
  });

  test("S42: a one-shot hint before an interval hint, and it is used once", async () => {
    const { desk, endpointId, starts } = await opened({ baselineIntervalMs: 3_600_000 });
    await desk.ask(HINT_INTERVAL, { endpointId, intervalMs: 1_200_000, ttlMinutes: 60 });
    await desk.ask(HINT_ONESHOT, { endpointId, nextRunAt: "2026-03-01T00:05:00Z", ttlMinutes: 30 });
    expect(await desk.ask(GET_ENDPOINT, { endpointId })).toMatchObject({
      nextRunAt: "2026-03-01T00:05:00Z",
      nextSource: "ai-oneshot",
    });
    await desk.world.pass(30 * MINUTE_MS);
    expect(starts().map((at) => at.slice(11, 16))).toEqual(["00:05", "00:25"]);
  });

  test("bounds hold whatever is hinted, and say so", async () => {
    const { desk, endpointId } = await opened({ minIntervalMs: 120_000, maxIntervalMs: 900_000 });
    await desk.ask(HINT_INTERVAL, { endpointId, intervalMs: 10_000, ttlMinutes: 60 });
    expect(await desk.ask(GET_ENDPOINT, { endpointId })).toMatchObject({
      nextRunAt: "2026-03-01T00:02:01Z",
      nextSource: "clamped-min",
    });
    await desk.ask(HINT_INTERVAL, { endpointId, intervalMs: 7_200_000, ttlMinutes: 60 });
    expect(await desk.ask(GET_ENDPOINT, { endpointId })).toMatchObject({
      nextRunAt: "2026-03-01T00:15:01Z",
      nextSource: "clamped-max",
    });
  });

  test("a pause before everything; null, or resuming, ends it", async () => {
    const { desk, endpointId, starts } = await opened({ baselineIntervalMs: 60_000 });
    const pause = { endpointId, pausedUntil: "2026-03-01T01:00:00Z", reason: "maintenance" };
    expect(await desk.ask(PAUSE_ENDPOINT, pause)).toMatchObject({
      status: "paused",
      nextRunAt: "2026-03-01T01:00:00Z",
      nextSource: "paused",
      pauseReason: "maintenance",
    });
    await desk.world.pass(30 * MINUTE_MS);
    expect(starts()).toEqual([]);
    expect(await desk.ask(PAUSE_ENDPOINT, { endpointId, pausedUntil: null })).toMatchObject({ status: "active" });
    await desk.world.pass(2 * MINUTE_MS);
    expect(starts().length).toBeGreaterThan(0);
    await desk.ask(PAUSE_ENDPOINT, pause);
    expect(await desk.ask(RESUME_ENDPOINT, { endpointId })).toMatchObject({ status: "active" });
  });

  test("hints are taken back by kind or all at once", async () => {
    const { desk, endpointId } = await opened();
    for (const [kind, left] of [
      ["interval", "oneshot"],
      ["oneshot", null],
    ] as [HintKind, HintKind | null][]) {
      await desk.ask(HINT_INTERVAL, { endpointId, intervalMs: 60_000, ttlMinutes: 60 });
      const at = `2026-03-01T00:0${kind === "interval" ? 5 : 6}:00Z`;
      await desk.ask(HINT_ONESHOT, { endpointId, nextRunAt: at, ttlMinutes: 30 });
      const rest = await desk.ask(CLEAR_HINTS, { endpointId, kind });
      expect(rest.oneshot === null).toBe(left !== "oneshot");
      expect(await desk.ask(CLEAR_HINTS, { endpointId })).toEqual({ interval: null, oneshot: null });
    }
  });

  test("what is no hint is refused at its field, and changes nothing", async () => {
    const { desk, endpointId } = await opened();
    const refused = [
      desk.ask(HINT_INTERVAL, { endpointId, intervalMs: 10, ttlMinutes: 5 }),
      desk.ask(HINT_INTERVAL, { endpointId, intervalMs: 60_000, ttlMinutes: 0 }),
      desk.ask(HINT_ONESHOT, { endpointId, nextRunAt: "2026-03-01T03:00:00Z", ttlMinutes: 5 }),
      desk.ask(PAUSE_ENDPOINT, { endpointId, pausedUntil: "2020-01-01T00:00:00Z" }),
    ];
    expect(await Promise.all(refused.map(refusalOf))).toEqual([
      ["intervalMs"],
      ["ttlMinutes"],
      ["nextRunAt"],
      ["pausedUntil"],
    ]);
    expect((await desk.ask(GET_ENDPOINT, { endpointId })).hints).toEqual({ interval: null, oneshot: null });
  });

  test("a hint that arrives in the middle of a run counts from the end of it on, and is not lost", async () => {
    const answer = () => ({ answerMs: 20_000 });
    const { desk, endpointId, starts } = await opened({ baselineIntervalMs: 3_600_000 }, { answer });
    await desk.ask(RUN_ENDPOINT, { endpointId });
    await desk.world.pass(5_000);
    await desk.ask(HINT_INTERVAL, { endpointId, intervalMs: 120_000, ttlMinutes: 10 });
    await desk.world.pass(3 * MINUTE_MS);
    expect(starts().map((at) => at.slice(11))).toEqual(["00:00:01", "00:02:01"]);
  });
});

describe("runs", () => {
  const statuses = [200, 500, 200, 404, 200, 200];
  const answer: DeskOptions["answer"] = () => ({ status: statuses.shift() ?? 200, excerpt: "what was said" });

  test("are told with all there is to say, page by page, of one endpoint and of a tenant", async () => {
    const { desk, endpointId } = await opened({ baselineIntervalMs: 60_000 }, { answer });
    await desk.world.pass(6 * MINUTE_MS + 10_000);
    const all = await desk.ask(LIST_RUNS_OF_ENDPOINT, { endpointId, cursor: null, limit: 50 });
    expect(all.rows.map(({ status }) => status)).toEqual([
      "success",
      "success",
      "failure",
      "success",
      "failure",
      "success",
    ]);
    expect(all.rows[2]).toMatchObject({ httpStatus: 404, source: "baseline-interval", wasSent: true });
    expect(all.rows[2]?.error).not.toBeNull();
    const paged: string[] = [];
    let cursor: string | null = null;
    do {
      const page: { rows: readonly { id: string }[]; next: string | null } = await desk.ask(LIST_RUNS_OF_ENDPOINT, {
        endpointId,
        cursor,
        limit: 4,
      });
      paged.push(...page.rows.map(({ id }) => id));
      cursor = page.next;
    } while (cursor !== null);
    expect(paged).toEqual(all.rows.map(({ id }) => id));
    const failed = await desk.ask(LIST_RUNS, { cursor: null, limit: 50, status: ["failure"] });
    expect(failed.rows.map(({ httpStatus }) => httpStatus)).toEqual([404, 500]);
    const some = await desk.ask(LIST_RUNS, { cursor: null, limit: 4 });
    const rest = await desk.ask(LIST_RUNS, { cursor: some.next, limit: 4 });
    expect([...some.rows, ...rest.rows].map(({ id }) => id)).toEqual(paged);
    const recent = await desk.ask(LIST_RUNS, { cursor: null, limit: 50, since: "2026-03-01T00:05:00Z" });
    expect(recent.rows).toHaveLength(2);
    expect((await desk.ask(LIST_RUNS, { cursor: null, limit: 50 }, "evil")).rows).toEqual([]);
  });

  test("one is told with what was in force when it began", async () => {
    const failing: DeskOptions["answer"] = () => ({ status: 500 });
    const { desk, endpointId } = await opened({ baselineIntervalMs: 60_000 }, { answer: failing });
    await desk.world.pass(3 * MINUTE_MS + 5_000);
    await desk.ask(HINT_INTERVAL, { endpointId, intervalMs: 30_000, ttlMinutes: 5, reason: "look closer" });
    const { runId, slot } = await desk.ask(RUN_ENDPOINT, { endpointId });
    await desk.world.pass(10_000);
    const run = await desk.ask(GET_RUN, { runId });
    expect(run).toMatchObject({ id: runId, source: "manual", status: "failure", scheduledFor: slot, failureCount: 3 });
    expect(run.hints).toEqual([expect.stringContaining("look closer")]);
    await expect(desk.ask(GET_RUN, { runId }, "evil")).rejects.toThrow(/no run/);
    await expect(desk.ask(GET_RUN, { runId: `${runId.slice(0, -8)}x_manual` })).rejects.toThrow(OperationError);
  });

  test("each with the constraints that have moved it, or broken it off", async () => {
    const answers: Partial<SimulatedAnswer>[] = [{ answerMs: 45_000 }, { status: 200 }, { status: 200 }];
    const late: DeskOptions["answer"] = () => answers.shift() ?? {};
    const bounds = { baselineIntervalMs: 60_000, minIntervalMs: 120_000, maxIntervalMs: 600_000 };
    const { desk, endpointId } = await opened(bounds, { answer: late });
    await desk.world.pass(4 * MINUTE_MS + 30_000);
    await desk.ask(HINT_INTERVAL, { endpointId, intervalMs: 7_200_000, ttlMinutes: 60 });
    await desk.world.pass(12 * MINUTE_MS);
    const { rows } = await desk.ask(LIST_RUNS_OF_ENDPOINT, { endpointId, cursor: null, limit: 9 });
    const told = await Promise.all(rows.map(({ id }) => desk.ask(GET_RUN, { runId: id })));
    const constraints = told.map(({ violations }) => violations.map(({ constraint }) => constraint));
    expect(constraints).toEqual([["maxIntervalMs"], ["minIntervalMs"], ["minIntervalMs", "timeoutMs"]]);
    expect(told[1]?.violations[0]?.message).toBe("it was to begin at 2026-03-01T00:03:01Z");
    // It is on record with each of them, whatever its bounds are by now, and whether there still are any.
    await desk.world.pass(1_000);
    await desk.ask(UPDATE_ENDPOINT, { endpointId, minIntervalMs: 90_000 });
    expect(await desk.ask(GET_RUN, { runId: rows[1]?.id ?? "" })).toEqual(told[1]);
    await desk.ask(DELETE_ENDPOINT, { endpointId });
    expect(await desk.ask(GET_RUN, { runId: rows[1]?.id ?? "" })).toEqual(told[1]);
  });

  test("a run is tagged with the bound that has moved it, on record, also across a crash", async () => {
    const answer: DeskOptions["answer"] = () => ({ answerMs: 20_000 });
    const bounds = { baselineIntervalMs: 60_000, minIntervalMs: 120_000, maxIntervalMs: 600_000 };
    const { desk, endpointId } = await opened(bounds, { answer });
    expect(await desk.ask(GET_ENDPOINT, { endpointId })).toMatchObject({ nextSource: "clamped-min" });
    await desk.world.pass(2 * MINUTE_MS + 30_000);
    await desk.ask(HINT_INTERVAL, { endpointId, intervalMs: 7_200_000, ttlMinutes: 60 });
    expect(await desk.ask(GET_ENDPOINT, { endpointId })).toMatchObject({ nextSource: "clamped-max" });
    await desk.world.pass(9 * MINUTE_MS + 40_000);
    // It is under way.
    desk.world.kill();
    await desk.boot();
    await desk.ask(CLEAR_HINTS, { endpointId });
    await desk.ask(UPDATE_ENDPOINT, { endpointId, minIntervalMs: null });
    await desk.world.pass(2 * MINUTE_MS);
    const { rows } = await desk.ask(LIST_RUNS_OF_ENDPOINT, { endpointId, cursor: null, limit: 9 });
    const told = rows.map(({ source, status }) => [source, status]).reverse();
    expect(told.slice(0, 3)).toEqual([
      ["clamped-min", "success"],
      ["clamped-max", "unknown"],
      ["baseline-interval", "success"],
    ]);
    const ended = await desk.ask(LIST_RUNS, { cursor: null, limit: 9 });
    expect(ended.rows.map(({ source }) => source)).toContain("clamped-max");
  });

  test("a period of an expression that the pace holds back is tagged so, and one that is on time is not", async () => {
    const wish = { baselineIntervalMs: null, baselineCron: "*/2 * * * *", minIntervalMs: 180_000 };
    const { desk, endpointId } = await opened(wish);
    await desk.world.pass(6 * MINUTE_MS);
    const { rows } = await desk.ask(LIST_RUNS_OF_ENDPOINT, { endpointId, cursor: null, limit: 9 });
    expect(rows.map(({ source }) => source).reverse()).toEqual(["baseline-cron", "clamped-min"]);
  });

  test("one that the bound of its tenant alone has moved says so", async () => {
    const { desk, endpointId } = await opened({ baselineIntervalMs: 60_000 });
    await desk.ask(SET_LIMITS, { tenant: "acme", minIntervalMs: 180_000 });
    await desk.world.pass(10 * MINUTE_MS);
    const { rows } = await desk.ask(LIST_RUNS_OF_ENDPOINT, { endpointId, cursor: null, limit: 9 });
    const { violations } = await desk.ask(GET_RUN, { runId: rows[0]?.id ?? "" });
    expect(violations).toEqual([
      { constraint: "minIntervalMs", message: expect.stringMatching(/^it was to begin at/) },
    ]);
  });

  test("what still runs of one that is deleted leaves no health behind, also when the daemon dies in it", async () => {
    for (const dies of [false, true]) {
      const { desk, endpointId } = await opened({ timeoutMs: 60_000 }, { answer: () => ({ answerMs: 20_000 }) });
      await desk.ask(RUN_ENDPOINT, { endpointId });
      await desk.world.pass(2_000);
      await desk.ask(DELETE_ENDPOINT, { endpointId });
      if (dies) {
        desk.world.kill();
        await desk.boot();
      }
      await desk.world.pass(MINUTE_MS);
      const left = [...desk.world.disk.objects.keys()].filter((key) => key.startsWith("health/"));
      expect([dies, left]).toEqual([dies, []]);
      const { rows } = await desk.ask(LIST_RUNS, { cursor: null, limit: 9 });
      expect(rows).toHaveLength(1);
    }
  });

  test("a run holds its endpoint no longer than it may", async () => {
    const answer: DeskOptions["answer"] = () => ({ answerMs: 20_000 });
    const { desk, endpointId } = await opened({ maxExecutionTimeMs: 5_000 }, { answer });
    const { runId } = await desk.ask(RUN_ENDPOINT, { endpointId });
    await desk.world.pass(4_000);
    expect(await desk.ask(GET_RUN, { runId })).toMatchObject({ status: "running" });
    await desk.world.pass(3_000);
    const violations = [{ constraint: "maxExecutionTimeMs", message: expect.any(String) }];
    expect(await desk.ask(GET_RUN, { runId })).toMatchObject({ status: "timeout", violations });
    expect(await desk.ask(GET_ENDPOINT, { endpointId })).toMatchObject({ running: 0 });
  });

  test("one that goes on is running; one that nobody saw end is unknown, and is not sent again (S29)", async () => {
    const slow: DeskOptions["answer"] = () => ({ answerMs: 25_000 });
    const { desk, endpointId, starts } = await opened({}, { answer: slow });
    const { runId } = await desk.ask(RUN_ENDPOINT, { endpointId });
    await desk.world.pass(5_000);
    expect(await desk.ask(GET_RUN, { runId })).toMatchObject({ status: "running", finishedAt: null });
    desk.world.kill();
    await desk.boot();
    await desk.world.pass(60_000);
    expect(await desk.ask(GET_RUN, { runId })).toMatchObject({ status: "unknown" });
    expect(starts()).toHaveLength(1);
    expect((await desk.ask(LIST_RUNS, { cursor: null, limit: 9, status: ["unknown"] })).rows).toHaveLength(1);
  });
});

describe("health", () => {
  test("a month of a life: windows, streak and last errors, also after a crash", async () => {
    let isDown = false;
    const answer: DeskOptions["answer"] = () => ({ status: isDown ? 503 : 200, answerMs: 400 });
    const { desk, endpointId } = await opened({ baselineIntervalMs: 3_600_000 }, { answer });
    await desk.world.pass(28 * DAY_MS, 5 * MINUTE_MS);
    isDown = true;
    await desk.world.pass(3 * HOUR_MS + 10 * MINUTE_MS, MINUTE_MS);
    const before = await desk.ask(HEALTH, { endpointId });
    expect(before.streak.failures).toBe(3);
    expect(before.lastErrors).toHaveLength(3);
    expect(before.windows["24h"]).toMatchObject({ runs: before.windows["24h"].successes + 3, errors: 3 });
    expect(before.windows["30d"].runs).toBeGreaterThan(600);
    // Of what was not written yet the ledger tells.
    desk.world.kill();
    await desk.boot();
    expect(await desk.ask(HEALTH, { endpointId })).toEqual(before);
    await desk.world.pass(HOUR_MS, MINUTE_MS);
    expect((await desk.ask(HEALTH, { endpointId })).streak.failures).toBe(4);
    expect(desk.failures).toEqual([]);
  });

  test("of no runs nothing is claimed", async () => {
    const { desk, endpointId } = await opened();
    const { windows, streak } = await desk.ask(HEALTH, { endpointId });
    expect([windows["1h"].successRate, windows["1h"].p95Ms, streak.since]).toEqual([null, null, null]);
  });
});

describe("quotas", () => {
  test("runs of a month: what is over them is not begun, says why, and goes on with the next month", async () => {
    const { desk, endpointId, starts } = await opened({ baselineIntervalMs: 3_600_000 });
    const limits = { ...(await desk.quotas.use("acme")).limits, executionsPerMonth: 5 };
    await desk.quotas.setLimits("acme", limits);
    await desk.world.pass(10 * HOUR_MS, 5 * MINUTE_MS);
    expect(starts()).toHaveLength(5);
    expect(await desk.ask(GET_ENDPOINT, { endpointId })).toMatchObject({ trouble: "not_started:quota-exceeded" });
    expect((await desk.ask(LIMITS_OF_CALLER, {})).used).toMatchObject({ executionsThisMonth: 5, endpoints: 1 });
    // A restart does not forget it.
    desk.world.kill();
    await desk.boot();
    await desk.world.pass(10 * HOUR_MS, 5 * MINUTE_MS);
    expect(starts()).toHaveLength(5);
    await desk.world.pass(30 * DAY_MS + 4 * HOUR_MS, 5 * MINUTE_MS);
    await desk.world.pass(2 * MINUTE_MS);
    expect(starts()).toHaveLength(6);
  });

  test("what a tenant has used is kept also where nothing bounds it", async () => {
    const { desk } = await opened({ baselineIntervalMs: 60_000 });
    await desk.world.pass(9 * MINUTE_MS + 30_000);
    const before = (await desk.ask(LIMITS_OF_CALLER, {})).used.executionsThisMonth;
    desk.world.kill();
    await desk.boot();
    expect([before, (await desk.ask(LIMITS_OF_CALLER, {})).used.executionsThisMonth]).toEqual([9, 9]);
  });

  test("a hint may last for a part of a minute", async () => {
    const { desk, endpointId } = await opened();
    const hints = await desk.ask(HINT_INTERVAL, { endpointId, intervalMs: 1_000, ttlMinutes: 0.1001 });
    expect(hints.interval?.expiresAt).toBe("2026-03-01T00:00:08Z");
  });

  test("the pace of a tenant does not touch that of another", async () => {
    const { desk, starts } = await opened({ baselineIntervalMs: 60_000 });
    const { id: jobId } = await desk.job("other", "globex");
    const other = await desk.endpoint(jobId, { baselineIntervalMs: 60_000 }, "globex");
    const { limits } = await desk.quotas.use("acme");
    await desk.quotas.setLimits("acme", { ...limits, executionsPerMonth: 0 });
    await desk.world.pass(5 * MINUTE_MS);
    expect(starts()).toEqual([]);
    expect(desk.world.starts(`endpoint:globex/${jobId}/${other.id}`)).toHaveLength(5);
  });

  test("how many endpoints, and how often, is judged when they are made and changed", async () => {
    const { desk, jobId } = await opened();
    const { limits } = await desk.quotas.use("acme");
    await desk.quotas.setLimits("acme", { ...limits, endpoints: 2, minIntervalMs: 60_000 });
    expect(await refusalOf(desk.endpoint(jobId, { name: "b" }))).toEqual(["minIntervalMs"]);
    await desk.endpoint(jobId, { name: "b", minIntervalMs: 60_000 });
    await expect(desk.endpoint(jobId, { name: "c", minIntervalMs: 60_000 })).rejects.toThrow(/2 endpoints already/);
  });

  test("how often: a limit holds for the endpoints that there are, whatever is hinted, until it is lifted", async () => {
    const { desk, jobId, endpointId, starts } = await opened({ baselineIntervalMs: 60_000 });
    await desk.endpoint(jobId, { name: "bounded", maxIntervalMs: 900_000 });
    const { id: cron } = await desk.endpoint(jobId, {
      name: "cron",
      baselineCron: "* * * * *",
      baselineIntervalMs: null,
    });
    await desk.ask(SET_LIMITS, { tenant: "acme", minIntervalMs: 3_600_000 });
    await desk.ask(HINT_INTERVAL, { endpointId, intervalMs: 1_000, ttlMinutes: 240 });
    await desk.ask(HINT_INTERVAL, { endpointId: cron, intervalMs: 1_000, ttlMinutes: 240 });
    await desk.world.pass(3 * HOUR_MS + MINUTE_MS, 5_000);
    expect(starts()).toHaveLength(3);
    // Two intervals, and one by a cron expression: each at most once an hour.
    expect(desk.asked.length).toBeLessThanOrEqual(9);
    desk.world.kill();
    await desk.boot();
    await desk.ask(CLEAR_HINTS, { endpointId });
    expect(await desk.ask(GET_ENDPOINT, { endpointId })).toMatchObject({ nextSource: "clamped-min" });
    await desk.ask(SET_LIMITS, { tenant: "acme" });
    expect(await desk.ask(GET_ENDPOINT, { endpointId })).toMatchObject({ nextSource: "baseline-interval" });
    expect(desk.failures).toEqual([]);
  });

  test("how often: a crash at any commit of the change leaves no endpoint behind it", async () => {
    for (let crashAt = 1; crashAt <= 5; crashAt += 1) {
      for (const isDurable of [true, false]) {
        const { desk, jobId } = await opened({ baselineIntervalMs: 60_000 });
        const { id: other } = await desk.job("other");
        for (const of of [jobId, other]) await desk.endpoint(of, { name: "b", baselineIntervalMs: 60_000 });
        const { disk } = desk.world;
        const from = disk.commits;
        disk.faults = (commit) => (commit === from + crashAt ? { kind: "crash", isDurable } : null);
        const crashed = new Promise<void>((resolve) => {
          disk.onCrash = () => {
            desk.world.kill();
            resolve();
          };
        });
        const over = desk.ask(SET_LIMITS, { tenant: "acme", minIntervalMs: 3_600_000 }).catch(() => undefined);
        // Who was killed in the middle is never answered.
        await Promise.race([over, crashed]);
        await turnOfLoop();
        disk.faults = () => null;
        if (!desk.world.isRunning) await desk.boot();
        const { limits } = await desk.ask(LIMITS_OF_CALLER, {});
        const { rows } = await desk.ask(LIST_ENDPOINTS, { cursor: null, limit: 9 });
        const wanted = limits.minIntervalMs === null ? "baseline-interval" : "clamped-min";
        const sources = rows.map(({ nextSource }) => nextSource);
        expect([crashAt, isDurable, sources]).toEqual([crashAt, isDurable, [wanted, wanted, wanted]]);
        expect(await desk.ports.reader.objects({ prefix: "unsettled/", limit: 9 })).toEqual([]);
        desk.world.kill();
      }
    }
  });

  test("of twenty made at once there are as many as there may be, and a place that comes to nothing is free again", async () => {
    const { desk, jobId } = await opened();
    const { limits } = await desk.quotas.use("acme");
    await desk.quotas.setLimits("acme", { ...limits, endpoints: 3 });
    const wishes = Array.from({ length: 20 }, (_, index) => desk.endpoint(jobId, { name: `at-once-${index}` }));
    const made = await Promise.allSettled(wishes);
    const refused = made.flatMap((one) => (one.status === "rejected" ? [(one.reason as OperationError).kind] : []));
    expect(refused).toEqual(Array.from({ length: 18 }, () => "exhausted"));
    const isThere = made.find((one) => one.status === "fulfilled");
    await desk.ask(DELETE_ENDPOINT, { endpointId: isThere?.value.id });
    const { supervisor } = desk.world;
    const define = supervisor.define.bind(supervisor);
    supervisor.define = () => Promise.reject(new Error("not now"));
    await expect(desk.endpoint(jobId, { name: "fails" })).rejects.toThrow("not now");
    supervisor.define = define;
    expect((await desk.ask(LIMITS_OF_CALLER, {})).used.endpoints).toBe(2);
    expect((await desk.endpoint(jobId, { name: "last" })).version).toBe(1);
    await expect(desk.endpoint(jobId, { name: "too-many" })).rejects.toThrow(/3 endpoints already/);
  });

  test("the count of endpoints is that of the store, in whatever order they come and their jobs go", async () => {
    const { desk } = await opened();
    // They are counted once, now, and then kept up with.
    expect((await desk.ask(LIMITS_OF_CALLER, {})).used.endpoints).toBe(1);
    for (let turns = 0; turns < 120; turns += 1) {
      const { id: jobId } = await desk.job(`leaves-${turns}`);
      const made = desk.endpoint(jobId).then(
        () => "made",
        (error: OperationError) => error.kind,
      );
      for (let turn = 0; turn < turns; turn += 1) await null;
      await desk.ask(DELETE_JOB, { jobId, force: true });
      expect(["made", "not-found"]).toContain(await made);
    }
    const stored = await desk.ports.reader.objects({ prefix: "endpoint/acme/", limit: 100 });
    expect([stored.length, (await desk.ask(LIMITS_OF_CALLER, {})).used.endpoints]).toEqual([1, 1]);
  });

  test("a share that was taken for a request that was never sent is given back", async () => {
    const { desk, endpointId } = await opened({ baselineCron: "* * * * *", baselineIntervalMs: null });
    const { limits } = await desk.quotas.use("acme");
    await desk.quotas.setLimits("acme", { ...limits, executionsPerMonth: 100 });
    // Made ready five seconds ahead, and then held.
    await desk.world.pass(57_000);
    await desk.ask(PAUSE_ENDPOINT, { endpointId, pausedUntil: "2026-03-02T00:00:00Z" });
    await desk.world.pass(2 * MINUTE_MS);
    expect((await desk.ask(LIMITS_OF_CALLER, {})).used.executionsThisMonth).toBe(0);
  });
});
