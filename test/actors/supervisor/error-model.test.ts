/** What the supervisor does, and what it says, when something is not as it should be. */
import { describe, expect, test } from "vitest";
import type { SupervisorEvent } from "../../../src/actors/supervisor/write/events.js";
import { errorFields } from "../../../src/core/base/errors/fields.js";
import { verifyRecord } from "../../../src/core/decision/verify.js";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../src/core/time/instant.js";
import { documentKey } from "../../../src/persist/keys.js";
import { job, START, World } from "./world.js";

const VERSIONS = { tzVersion: "test", engineVersion: "test" };

function toldAs(world: World, event: string): readonly SupervisorEvent[] {
  return world.events.filter((told) => told.event === event);
}

function errorsOf(world: World): readonly SupervisorEvent[] {
  return world.events.filter(({ level, error }) => level === "error" || error !== undefined);
}

/** Time passes without waiting for rest: a termination that cannot succeed comes to none before its bound. */
async function passRestlessly(world: World, durationMs: number): Promise<void> {
  for (let passed = 0; passed < durationMs; passed += SECOND_MS) {
    world.clock.advance(SECOND_MS);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
}

describe("what is no error", () => {
  test("ERROR-MODEL unschedulable: handled, said at WARN, no error, no retry", async () => {
    const world = new World();
    const never = { window: { duration: "10m" }, constraints: { only: "hours=3" } };
    await world.boot([job("never", "5 0 * * *", never), job("other", "* * * * *")]);
    await world.pass(20 * MINUTE_MS, 5 * SECOND_MS);
    expect(toldAs(world, "unschedulable")).toMatchObject([{ level: "warn", identity: "never" }]);
    expect(world.document("never")).toMatchObject({
      LastHandledPeriodID: "2026-03-01T00:05:00Z",
      LastOutcome: "unschedulable",
    });
    expect([errorsOf(world), world.starts("never"), world.starts("other").length]).toEqual([[], [], 20]);
  });

  test("ERROR-MODEL deadline: missed is said at INFO and is no error", async () => {
    const world = new World();
    await world.boot([job("late", "5 * * * *"), job("other", "* * * * *")]);
    await world.pass(4 * MINUTE_MS + 30 * SECOND_MS);
    world.clock.freeze(MINUTE_MS);
    await world.settle();
    await world.pass(MINUTE_MS);
    expect(toldAs(world, "missed_deadline").filter(({ identity }) => identity === "late")).toMatchObject([
      { level: "info", periodId: "2026-03-01T00:05:00Z" },
    ]);
    expect(world.document("late")).toMatchObject({ LastOutcome: "missed" });
    expect([errorsOf(world), world.starts("other").at(-1)]).toEqual([[], "2026-03-01T00:06:00"]);
  });

  test("ERROR-MODEL concurrency: skipped is no error", async () => {
    const world = new World({ behaviour: () => ({ runMs: null }) });
    await world.boot([job("a", "* * * * *", { policy: { concurrency: "forbid" } })]);
    await world.pass(2 * MINUTE_MS + SECOND_MS);
    expect(world.document("a").LastOutcome).toBe("skipped");
    expect([toldAs(world, "skipped_concurrency").map(({ level }) => level), errorsOf(world)]).toEqual([["info"], []]);
  });
});

describe("clock anomalies", () => {
  test("ERROR-MODEL clock: after a jump forward the current period is evaluated, deadlines hold, and it is no error", async () => {
    const world = new World();
    await world.boot([
      job("patient", "0 * * * *", { policy: { deadline: "30m" } }),
      job("strict", "0 * * * *", { policy: { deadline: "1m" } }),
    ]);
    await world.pass(MINUTE_MS);
    world.clock.jump(3 * HOUR_MS + 4 * MINUTE_MS);
    await world.pass(MINUTE_MS);
    expect(world.starts("patient")).toHaveLength(1);
    expect(world.document("patient")).toMatchObject({
      LastHandledPeriodID: "2026-03-01T03:00:00Z",
      LastOutcome: "executed",
    });
    expect(world.document("strict")).toMatchObject({
      LastHandledPeriodID: "2026-03-01T03:00:00Z",
      LastOutcome: "missed",
    });
    expect([errorsOf(world), world.fatal]).toEqual([[], null]);
  });

  test("ERROR-MODEL clock: after a jump backward nothing runs again, and a line at WARN says so", async () => {
    const world = new World();
    await world.boot([job("a", "* * * * *", { policy: { deadline: "1h" } })]);
    await world.pass(5 * MINUTE_MS + 10 * SECOND_MS);
    const before = world.starts("a");
    world.clock.jump(-4 * MINUTE_MS);
    await world.pass(3 * MINUTE_MS + 30 * SECOND_MS);
    expect([before.length, world.starts("a")]).toEqual([5, before]);
    const jumps = toldAs(world, "clock_jump").map(({ level, fields }) => [level, fields]);
    expect(jumps).toEqual([["warn", { jump_ms: -4 * MINUTE_MS }]]);
    await world.pass(90 * SECOND_MS);
    expect([world.starts("a").at(-1), errorsOf(world)]).toEqual(["2026-03-01T00:06:00", []]);
  });
});

describe("executions", () => {
  test("ERROR-MODEL ExecutionError: a non-zero exit code is recorded and told, nothing is tried again, and the others go on", async () => {
    const world = new World({ behaviour: ({ env }) => ({ exitCode: env["KRON_IDENTITY"] === "bad" ? 3 : 0 }) });
    await world.boot([job("bad", "1 * * * *", { policy: { deadline: "30m" } }), job("other", "* * * * *")]);
    await world.pass(10 * MINUTE_MS, 5 * SECOND_MS);
    expect(world.document("bad")).toMatchObject({
      LastOutcome: "executed",
      History: [{ Outcome: "executed", ExitCode: 3 }],
    });
    expect(world.starts("bad")).toHaveLength(1);
    const told = errorsOf(world).map(({ event, fields, error }) => [event, fields?.["exit_code"], error?.code]);
    expect(told).toEqual([["completed", 3, "exit-nonzero"]]);
    expect([world.starts("other").length, world.fatal]).toEqual([10, null]);
  });

  test("ERROR-MODEL SystemError: a launcher without resources is told, tried again with growing delays, and nothing is handled meanwhile", async () => {
    let isExhausted = true;
    const refusal = { code: "descriptors-exhausted" as const, message: "EMFILE" };
    const world = new World({ behaviour: () => (isExhausted ? { refusal } : {}) });
    await world.boot([job("a", "1 * * * *", { policy: { deadline: "10m" } })]);
    await world.pass(80 * SECOND_MS);
    const errors = errorsOf(world).filter(({ at }) => at >= START + 59 * SECOND_MS);
    expect(new Set(errors.map(({ error }) => error?.category))).toEqual(new Set(["SystemError"]));
    const delays = errors.slice(1).map(({ at }, i) => at - (errors[i]?.at ?? 0));
    // The world moves in steps of a second, so that what is due may be seen a step late.
    const slack = delays.map((delayMs, i) => delayMs - 2 ** i * SECOND_MS);
    expect([slack.length, slack.every((ms) => ms >= 0 && ms <= SECOND_MS)]).toEqual([4, true]);
    expect(world.document("a").LastHandledPeriodID).toBe("");
    isExhausted = false;
    await world.pass(MINUTE_MS);
    expect([world.starts("a").length, world.document("a").LastOutcome]).toEqual([1, "executed"]);
  });

  test("ERROR-MODEL concurrency: a victim that cannot be ended is told at ERROR, nothing new starts, and the period is tried until its deadline", async () => {
    const world = new World({ behaviour: () => ({ runMs: null, isUnkillable: true }) });
    await world.boot([job("a", "* * * * *", { policy: { concurrency: "replace", deadline: "30s" } })]);
    await world.pass(MINUTE_MS);
    await passRestlessly(world, MINUTE_MS + 5 * SECOND_MS);
    expect(world.document("a").LastHandledPeriodID).toBe("2026-03-01T00:01:00Z");
    await passRestlessly(world, 50 * SECOND_MS);
    expect(errorsOf(world)).toContainEqual(expect.objectContaining({ event: "error", level: "error" }));
    expect(new Set(errorsOf(world).map(({ error }) => error?.code))).toEqual(new Set(["replace-not-terminated"]));
    expect(world.starts("a")).toEqual(["2026-03-01T00:01:00"]);
    expect(world.document("a")).toMatchObject({
      LastHandledPeriodID: "2026-03-01T00:02:00Z",
      LastOutcome: "missed",
      ActiveExecution: { PeriodID: "2026-03-01T00:01:00Z" },
    });
  });

  test("STATE concurrency interaction: replace: ActiveExecution names the new run", async () => {
    const world = new World({ behaviour: () => ({ runMs: null }) });
    await world.boot([job("a", "* * * * *", { policy: { concurrency: "replace", deadline: "30s" } })]);
    await world.pass(2 * MINUTE_MS + SECOND_MS);
    expect(world.document("a").ActiveExecution).toMatchObject({
      PeriodID: "2026-03-01T00:02:00Z",
      PID: world.host.running[0]?.pid,
    });
  });

  test("SPEC replace: the termination is told", async () => {
    const world = new World({ behaviour: () => ({ runMs: null }) });
    await world.boot([job("a", "* * * * *", { policy: { concurrency: "replace", deadline: "30s" } })]);
    await world.pass(2 * MINUTE_MS + SECOND_MS);
    expect(toldAs(world, "replaced")).toMatchObject([{ identity: "a", fields: { reason: "replaced", survivors: [] } }]);
  });
});

describe("state", () => {
  test("ERROR-MODEL PersistenceError: a write that fails after the outcome is fatal too", async () => {
    const world = new World({ behaviour: () => ({ runMs: 30_000 }) });
    await world.boot([job("a", "1 * * * *"), job("other", "2 * * * *")]);
    await world.pass(65 * SECOND_MS);
    expect(world.document("a").LastOutcome).toBe("executed");
    world.disk.faults = () => ({ kind: "fail", errno: "ENOSPC", isDurable: false });
    await world.pass(2 * MINUTE_MS);
    expect(world.fatal).toMatchObject({ code: "state-write-failed", category: "PersistenceError", isFatal: true });
    expect(world.starts("other")).toEqual([]);
  });

  test("ERROR-MODEL logging contract: a failed commit names its job and its period, of several jobs their number", async () => {
    const failed = async (...names: readonly string[]) => {
      const world = new World();
      await world.boot(names.map((name) => job(name, "1 * * * *")));
      await world.pass(50 * SECOND_MS);
      world.disk.faults = (_commit, group) => {
        const isOfJobs = group.some(({ ledger = [] }) => ledger.length > 0);
        return isOfJobs ? { kind: "fail", errno: "EIO", isDurable: false } : null;
      };
      await world.pass(MINUTE_MS);
      return world.fatal;
    };
    expect(await failed("a")).toMatchObject({ identity: "a", periodId: "2026-03-01T00:01:00Z" });
    const several = await failed("a", "b", "c");
    expect(several).toMatchObject({ identity: undefined, periodId: undefined });
    expect(several?.message).toContain("(a commit about 3 jobs)");
  });

  test("ERROR-MODEL IncompatibleStateError: the start is refused, nothing is scheduled, nothing is changed", async () => {
    const world = new World();
    const text = '{"Version":"9","Identity":"a"}';
    world.disk.apply({ documents: [{ key: documentKey("a"), text }] });
    await expect(world.boot([job("a", "* * * * *"), job("b", "* * * * *")])).rejects.toMatchObject({
      category: "IncompatibleStateError",
      isFatal: true,
      identity: "a",
    });
    await world.pass(3 * MINUTE_MS);
    expect([world.host.executions, world.disk.documents.get(documentKey("a"))?.text]).toEqual([[], text]);
  });

  test("STATE invariants: corrupted state does not cause a duplicate execution", async () => {
    const world = new World();
    const definitions = [job("a", "1 * * * *", { policy: { deadline: "50m" } })];
    await world.boot(definitions);
    await world.pass(2 * MINUTE_MS);
    expect(world.starts("a")).toHaveLength(1);
    world.kill();
    world.disk.apply({ documents: [{ key: documentKey("a"), text: '{"Version":"1","Ident' }] });
    await world.boot(definitions);
    await world.pass(5 * MINUTE_MS);
    expect(world.starts("a")).toHaveLength(1);
    // The ledger was not damaged: what it says of the period stands.
    expect(world.document("a")).toMatchObject({ LastOutcome: "executed" });
    const error = { code: "state-document-corrupt", operation: "load", category: "PersistenceError" };
    expect(toldAs(world, "state_recovered")).toMatchObject([{ level: "error", identity: "a", error }]);
  });
});

test("S31: all claims of a tick, and all ends of another, go into one transaction each", async () => {
  const world = new World({ behaviour: () => ({ runMs: 10_000 }) });
  await world.boot(Array.from({ length: 50 }, (_, i) => job(`job/${i}`, "1 * * * *")));
  await world.pass(58 * SECOND_MS);
  const commitsIn = async (durationMs: number): Promise<number> => {
    const before = world.disk.commits;
    await world.pass(durationMs);
    return world.disk.commits - before;
  };
  expect(await commitsIn(SECOND_MS)).toBe(1);
  // The daemon's mark of being alive (S36) comes with the next second.
  await world.pass(SECOND_MS);
  expect(world.host.executions).toHaveLength(50);
  expect(await commitsIn(15 * SECOND_MS)).toBe(1);
});

describe("what is told", () => {
  test("ERROR-MODEL logging contract: every line about an error carries all of it", async () => {
    const refusal = { code: "command-not-found" as const, message: "no such file" };
    const world = new World({
      behaviour: ({ env }) => (env["KRON_IDENTITY"] === "missing" ? { refusal } : { exitCode: 3 }),
    });
    await world.boot([job("missing", "1 * * * *"), job("failing", "1 * * * *")]);
    await world.pass(2 * MINUTE_MS);
    const lines = errorsOf(world).map(({ error, component, event, identity, periodId }) =>
      errorFields(error, { component, operation: event, identity, periodId }),
    );
    expect(new Set(lines.map(({ identity }) => identity))).toEqual(new Set(["missing", "failing"]));
    for (const line of lines) {
      expect(line).toEqual({
        ...line,
        identity: expect.stringMatching(/./),
        period_id: "2026-03-01T00:01:00Z",
        component: expect.stringMatching(/./),
        error_type: "ExecutionError",
        operation: expect.stringMatching(/./),
        message: expect.stringMatching(/./),
      });
    }
  });

  test("SPEC observability: each outcome is told with a decision that verifies", async () => {
    const world = new World({ behaviour: () => ({ runMs: 90_000 }) });
    const window = { duration: "30s" };
    await world.boot([
      job("runs", "* * * * *", { window, policy: { concurrency: "forbid", deadline: "30s" } }),
      job("never", "* * * * *", { window, constraints: { only: "hours=3" } }),
    ]);
    await world.pass(4 * MINUTE_MS);
    const decisions = world.events.flatMap(({ fields }) => (fields?.["decision"] ? [fields["decision"]] : []));
    const outcomes = new Set(world.events.flatMap(({ fields }) => (fields?.["outcome"] ? [fields["outcome"]] : [])));
    expect(outcomes).toEqual(new Set(["executed", "skipped", "unschedulable"]));
    expect(decisions.map((decision) => verifyRecord(JSON.parse(JSON.stringify(decision)), VERSIONS))).toEqual(
      decisions.map((decision) => ({ ok: true, differences: [], notes: [], recomputed: decision })),
    );
  });
});
