import { describe, expect, test } from "vitest";
import { SETTINGS_DEFAULTS } from "../../../src/core/config/settings.js";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../src/core/time/instant.js";
import { job, START, World } from "./world.js";

describe("the life of a job", () => {
  test("SPEC: at its chosen second a period is triggered, runs and completes, and everything is on record", async () => {
    const world = new World({ startAt: START + 3 * MINUTE_MS });
    await world.boot([job("a", "*/5 * * * *", { window: { duration: "2m" } })]);
    await world.pass(6 * MINUTE_MS);
    const record = world.ledger("a").find(({ content }) => content["outcome"] === "executed");
    const decision = (record?.content["decision"] ?? {}) as Record<string, string>;
    expect(world.starts("a")).toEqual([decision["chosen_time"]?.slice(0, 19)]);
    expect(world.document("a")).toMatchObject({
      LastHandledPeriodID: "2026-03-01T00:05:00Z",
      LastOutcome: "executed",
      LastChosenTime: decision["chosen_time"],
      ActiveExecution: null,
      History: [{ PeriodID: "2026-03-01T00:05:00Z", Outcome: "executed", ExitCode: 0 }],
    });
    expect(world.told("a")).toEqual(["reschedule", "before_definition", "trigger", "started", "completed"]);
  });

  test("S14: the period that was current at first sight and whose second has passed is never triggered", async () => {
    const world = new World({ startAt: START + 30 * SECOND_MS });
    await world.boot([job("a", "*/5 * * * *", { policy: { deadline: "1h" } })]);
    await world.pass(MINUTE_MS);
    expect(world.starts("a")).toEqual([]);
  });

  test("the process is made ahead of its second and released on it", async () => {
    const world = new World();
    await world.boot([job("a", "1 * * * *")]);
    await world.pass(58 * SECOND_MS);
    expect(world.requests).toHaveLength(1);
    expect(world.host.executions).toHaveLength(0);
    await world.pass(SECOND_MS);
    expect(world.requests).toHaveLength(1);
    expect(world.starts("a")).toEqual(["2026-03-01T00:01:00"]);
  });
});

describe("policies", () => {
  test("SPEC-116, forbid: a run of another identity does not matter, however alike the jobs are", async () => {
    const isLong = (env: Readonly<Record<string, string>>): boolean => env["KRON_IDENTITY"] === "long";
    const world = new World({ behaviour: ({ env }) => ({ runMs: isLong(env) ? 10 * MINUTE_MS : SECOND_MS }) });
    const alike = { policy: { concurrency: "forbid" } };
    await world.boot([job("long", "* * * * *", alike), job("short", "* * * * *", alike)]);
    await world.pass(3 * MINUTE_MS);
    expect(world.starts("long")).toEqual(["2026-03-01T00:01:00"]);
    expect(world.document("long")).toMatchObject({ LastOutcome: "skipped", LastReason: "concurrency_forbid" });
    expect(world.starts("short")).toEqual(["2026-03-01T00:01:00", "2026-03-01T00:02:00", "2026-03-01T00:03:00"]);
    expect(world.document("short")).toMatchObject({ LastOutcome: "executed" });
  });

  test("forbid: a period that falls into a run is skipped, and the run is left alone", async () => {
    const world = new World({ behaviour: () => ({ runMs: 90_000 }) });
    await world.boot([job("a", "* * * * *", { policy: { concurrency: "forbid" } })]);
    await world.pass(4 * MINUTE_MS + SECOND_MS);
    expect(world.starts("a")).toEqual(["2026-03-01T00:01:00", "2026-03-01T00:03:00"]);
    expect(world.document("a")).toMatchObject({ LastOutcome: "skipped", LastReason: "concurrency_forbid" });
  });

  test("S26: allow: runs overlap, and each completes for itself", async () => {
    const world = new World({ behaviour: () => ({ runMs: 90_000 }) });
    await world.boot([job("a", "* * * * *")]);
    await world.pass(3 * MINUTE_MS + SECOND_MS);
    expect(world.starts("a")).toHaveLength(3);
    expect(world.document("a")).toMatchObject({
      ActiveExecution: { PeriodID: "2026-03-01T00:03:00Z" },
      OtherActive: [{ PeriodID: "2026-03-01T00:02:00Z" }],
      History: [{ PeriodID: "2026-03-01T00:01:00Z", ExitCode: 0 }],
    });
  });

  test("S25: replace: the older run is ended before the newer begins", async () => {
    const world = new World({ behaviour: () => ({ runMs: null }) });
    await world.boot([job("a", "* * * * *", { policy: { concurrency: "replace", deadline: "30s" } })]);
    await world.pass(2 * MINUTE_MS + SECOND_MS);
    expect(world.starts("a")).toHaveLength(2);
    expect(world.host.running).toHaveLength(1);
    expect(world.document("a").History).toMatchObject([
      { PeriodID: "2026-03-01T00:01:00Z", Reason: "replaced", ExitCode: null },
    ]);
  });

  test("S24: a command that cannot be started is tried again with the same decision, then missed", async () => {
    const refusal = { code: "command-not-found" as const, message: "no such file" };
    const world = new World({ behaviour: () => ({ refusal }) });
    await world.boot([job("a", "5 * * * *", { policy: { deadline: "20s" } })]);
    await world.pass(6 * MINUTE_MS);
    expect(world.starts("a")).toEqual([]);
    expect(world.document("a")).toMatchObject({ LastOutcome: "missed", LastReason: "not_started:command-not-found" });
    expect(world.told("a").filter((name) => name === "error").length).toBeGreaterThan(2);
  });

  test("S17: suspended jobs handle nothing; a pause ends by itself", async () => {
    const world = new World();
    await world.boot([job("asleep", "* * * * *", { policy: { suspend: true } }), job("a", "* * * * *")]);
    await world.supervisor.pause("a", START + 150 * SECOND_MS, "maintenance");
    await world.pass(4 * MINUTE_MS + SECOND_MS);
    expect(world.starts("asleep")).toEqual([]);
    expect(world.document("asleep").LastHandledPeriodID).toBe("");
    expect(world.starts("a")).toEqual(["2026-03-01T00:03:00", "2026-03-01T00:04:00"]);
  });

  test("S15: an unschedulable period is recorded when its window opens", async () => {
    const world = new World();
    await world.boot([job("a", "5 * * * *", { window: { duration: "10m" }, constraints: { only: "hours=3" } })]);
    await world.pass(4 * MINUTE_MS);
    expect(world.document("a").LastHandledPeriodID).toBe("");
    await world.pass(61 * SECOND_MS);
    expect(world.document("a")).toMatchObject({ LastOutcome: "unschedulable", LastChosenTime: "" });
  });
});

describe("operators", () => {
  test("S40: a manual run starts now, is recorded as such, and leaves the schedule alone", async () => {
    const world = new World();
    await world.boot([job("a", "5 * * * *")]);
    const asked = world.supervisor.runNow("a");
    await world.settle();
    expect(await asked).toMatchObject({ ok: true, slot: "2026-03-01T00:00:01Z" });
    await world.pass(20 * SECOND_MS);
    expect(world.document("a")).toMatchObject({
      LastHandledPeriodID: "",
      LastSlot: { manual: "2026-03-01T00:00:01Z" },
      History: [{ Source: "manual", ExitCode: 0 }],
    });
    await world.pass(5 * MINUTE_MS);
    expect(world.document("a").LastHandledPeriodID).toBe("2026-03-01T00:05:00Z");
  });

  test("cancel ends what runs; the outcome stays executed, with the reason", async () => {
    const world = new World({ behaviour: () => ({ runMs: null }) });
    await world.boot([job("a", "1 * * * *")]);
    await world.pass(61 * SECOND_MS);
    expect(await world.supervisor.cancel("a")).toBe(1);
    await world.settle();
    await world.pass(2 * SECOND_MS);
    expect(world.host.running).toEqual([]);
    expect(world.document("a")).toMatchObject({
      LastOutcome: "executed",
      ActiveExecution: null,
      History: [{ Reason: "cancelled" }],
    });
  });

  test("list says what is next, what was last, and what runs", async () => {
    const world = new World({ behaviour: () => ({ runMs: null }) });
    await world.boot([job("a", "1 * * * *"), job("b", "2 * * * *", { policy: { suspend: true } })]);
    await world.pass(61 * SECOND_MS);
    expect(await world.supervisor.list()).toMatchObject([
      {
        identity: "a",
        standing: "enabled",
        nextPeriodId: "2026-03-01T01:01:00Z",
        lastOutcome: "executed",
        active: [{ periodId: "2026-03-01T00:01:00Z" }],
      },
      { identity: "b", standing: "suspended", lastOutcome: null, active: [] },
    ]);
  });
});

describe("reload (S16)", () => {
  test("a changed schedule counts from now; an added job never fires the past; a removed one keeps its state", async () => {
    const world = new World();
    await world.boot([job("a", "*/2 * * * *"), job("gone", "* * * * *"), job("same", "* * * * *")]);
    await world.pass(3 * MINUTE_MS);
    const report = await world.supervisor.reload(
      [job("a", "*/5 * * * *"), job("same", "* * * * *"), job("new", "* * * * *")],
      SETTINGS_DEFAULTS,
      [],
    );
    expect(report).toMatchObject({
      added: ["new"],
      removed: ["gone"],
      changed: [{ identity: "a", fields: ["schedule"] }],
      unchanged: 1,
    });
    await world.pass(3 * MINUTE_MS);
    expect(world.starts("a")).toEqual(["2026-03-01T00:02:00", "2026-03-01T00:05:00"]);
    expect(world.starts("gone")).toHaveLength(3);
    expect(world.starts("new")).toEqual(["2026-03-01T00:04:00", "2026-03-01T00:05:00", "2026-03-01T00:06:00"]);
    expect(world.document("gone").RemovedAt).toBe("2026-03-01T00:03:01Z");
  });

  test("removing a job and adding it again repeats nothing", async () => {
    const world = new World();
    const definition = job("a", "* * * * *", { policy: { deadline: "1h" } });
    await world.boot([definition]);
    await world.pass(61 * SECOND_MS);
    await world.supervisor.reload([], SETTINGS_DEFAULTS, []);
    await world.supervisor.reload([definition], SETTINGS_DEFAULTS, []);
    await world.pass(20 * SECOND_MS);
    expect(world.starts("a")).toEqual(["2026-03-01T00:01:00"]);
  });
});

describe("crashes", () => {
  test("S13, S29: after a restart the running execution is adopted, the current period evaluated, older ones named", async () => {
    const world = new World({ behaviour: () => ({ runMs: 10 * MINUTE_MS }) });
    const definition = job("a", "* * * * *", { policy: { concurrency: "forbid", deadline: "30s" } });
    await world.boot([definition]);
    await world.pass(61 * SECOND_MS);
    world.kill();
    world.clock.advance(5 * MINUTE_MS);
    await world.boot([definition]);
    expect(world.document("a")).toMatchObject({
      ActiveExecution: { PeriodID: "2026-03-01T00:01:00Z" },
      LastHandledPeriodID: "2026-03-01T00:06:00Z",
      LastOutcome: "skipped",
    });
    expect(world.ledger("a").find(({ kind }) => kind === "gap")?.content).toMatchObject({
      first: "2026-03-01T00:02:00Z",
      last: "2026-03-01T00:05:00Z",
      count: 4,
    });
    await world.pass(6 * MINUTE_MS);
    expect(world.document("a").History.find(({ PeriodID }) => PeriodID === "2026-03-01T00:01:00Z")).toMatchObject({
      ExitCode: null,
    });
  });

  test("S31: a commit that fails is fatal: nothing runs, and the period is still open after a restart", async () => {
    const world = new World();
    const definition = job("a", "1 * * * *", { policy: { deadline: "30s" } });
    await world.boot([definition]);
    await world.pass(50 * SECOND_MS);
    world.disk.faults = () => ({ kind: "fail", errno: "EIO", isDurable: false });
    await world.pass(11 * SECOND_MS);
    expect(world.fatal).toMatchObject({ code: "state-write-failed" });
    expect(world.host.executions).toEqual([]);
    world.kill();
    world.disk.faults = () => null;
    await world.boot([definition]);
    await world.settle();
    await world.pass(2 * SECOND_MS);
    expect(world.starts("a")).toEqual(["2026-03-01T00:01:02"]);
  });

  test("ERROR-MODEL: a write that fails after a run has begun is fatal: nothing more begins, and the run is not begun again", async () => {
    const world = new World({ behaviour: () => ({ runMs: 30 * SECOND_MS }) });
    const jobs = [job("a", "1 * * * *"), job("b", "2 * * * *")];
    await world.boot(jobs);
    await world.pass(61 * SECOND_MS);
    expect(world.starts("a")).toEqual(["2026-03-01T00:01:00"]);
    world.disk.faults = () => ({ kind: "fail", errno: "EIO", isDurable: false });
    await world.pass(2 * MINUTE_MS);
    expect(world.fatal).toMatchObject({ code: "state-write-failed" });
    expect(world.starts("b")).toEqual([]);
    world.kill();
    world.disk.faults = () => null;
    await world.boot(jobs);
    await world.pass(HOUR_MS - 5 * MINUTE_MS);
    expect(world.starts("a")).toEqual(["2026-03-01T00:01:00"]);
    expect(world.document("a").ActiveExecution).toBeNull();
  });
});
