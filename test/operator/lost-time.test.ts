/** S13, S24: why a period was missed or passed over is told as krond tells it: down, stalled, clock_jump. */
import { afterEach, describe, expect, test } from "vitest";
import { HOUR_MS } from "../../src/core/time/instant.js";
import type { KronJob } from "../../src/operator/kube/types.js";
import { NOTHING_KNOWN } from "../../src/operator/plan/memory.js";
import { TestCluster } from "../support/kube/cluster.js";
import { Leader } from "./support/drive.js";
import { at, kronJob } from "./support/samples.js";

const HOURLY = { schedule: "0 * * * *", policy: { concurrency: "forbid", deadline: "30s" } } as const;

function settled(): Leader {
  const one = new Leader(kronJob(HOURLY));
  one.look("2026-03-01T00:10:00Z");
  one.runUntil("2026-03-01T01:00:01Z");
  for (const name of one.jobNames) one.finish(name);
  one.look("2026-03-01T01:10:00Z");
  return one;
}

describe("a leader that knows when nobody could look", () => {
  test("stalled: it was there, and came too late", () => {
    const one = settled();
    one.look("2026-03-01T02:00:40Z");
    expect(one.status).toMatchObject({ lastOutcome: "missed", lastReason: "stalled" });
    expect(one.status.notEvaluated).toBeUndefined();
  });

  test("clock_jump: what the clock went over, and the periods in between", () => {
    const one = settled();
    one.lost = [{ cause: "clock_jump", fromAt: at("2026-03-01T01:20:00Z"), untilAt: at("2026-03-01T05:20:00Z") }];
    one.look("2026-03-01T05:20:00Z");
    expect(one.status).toMatchObject({ lastPeriodID: "2026-03-01T05:00:00Z", lastReason: "clock_jump" });
    expect(one.status.notEvaluated).toMatchObject({ count: 3, reason: "clock_jump" });
    expect(one.told("not_evaluated")).toMatchObject([{ reason: "clock_jump" }]);
  });

  test("down: nobody was there; of the periods in between no reason is told but that", () => {
    const one = settled();
    one.memory = NOTHING_KNOWN;
    one.lost = [{ cause: "down", fromAt: at("2026-03-01T01:20:00Z"), untilAt: at("2026-03-01T05:20:00Z") }];
    one.look("2026-03-01T05:20:00Z");
    expect(one.status).toMatchObject({ lastPeriodID: "2026-03-01T05:00:00Z", lastReason: "down" });
    expect(one.status.notEvaluated).toMatchObject({ count: 3, reason: "down" });
  });

  test("deadline stays what nobody knows: it begins, and nothing says what was before it", () => {
    const one = settled();
    one.memory = NOTHING_KNOWN;
    one.look("2026-03-01T05:20:00Z");
    expect(one.status).toMatchObject({ lastOutcome: "missed", lastReason: "deadline" });
  });

  test("a start that failed says why before anything else does", () => {
    const one = settled();
    one.interfere = ({ type }) =>
      type === "createGate" ? { kind: "refused", code: "job-quota", message: "exceeded quota" } : null;
    one.runUntil("2026-03-01T02:00:10Z");
    one.lost = [{ cause: "clock_jump", fromAt: at("2026-03-01T02:00:10Z"), untilAt: at("2026-03-01T02:20:00Z") }];
    one.look("2026-03-01T02:20:00Z");
    expect(one.status).toMatchObject({ lastOutcome: "missed", lastReason: "not_started:job-quota" });
  });
});

describe("an operator finds out by itself", () => {
  let cluster: TestCluster | null = null;

  afterEach(async () => {
    await cluster?.close();
    cluster = null;
  });

  const isHandledAfter =
    (periodId: string) =>
    ({ status }: KronJob): boolean =>
      (status?.lastPeriodID ?? "") > periodId;

  async function settledCluster(schedule: string) {
    const it = await TestCluster.openDouble();
    cluster = it;
    const lease = { namespace: it.namespace, name: "kron-operator" };
    const { operator } = await it.operator({ lease });
    await it.create("it", { schedule, policy: { concurrency: "forbid", deadline: "0s" } });
    const { status } = await it.until("it", (kronJob) => kronJob.status?.lastSuccessfulTime !== undefined);
    return { it, lease, operator, last: status?.lastPeriodID ?? "" };
  }

  test("by its clock, that it jumped", async () => {
    const { it, last } = await settledCluster("* * * * *");
    it.jump(1_815_000);
    const gap = await it.until("it", ({ status }) => status?.notEvaluated !== undefined);
    expect(gap.status?.notEvaluated).toMatchObject({ reason: "clock_jump" });
    await it.until("it", isHandledAfter(last));
  });

  test("by the Lease, since when nobody was there", async () => {
    const { it, lease, operator, last } = await settledCluster("*/5 * * * *");
    operator.abort();
    // Too late for one period, and long before the next, however slowly the operator begins.
    it.jump(7 * HOUR_MS - (it.clock.now() % HOUR_MS) + 15_000);
    await it.operator({ lease });
    const missed = await it.until("it", isHandledAfter(last));
    expect(missed.status?.history).toContainEqual(expect.objectContaining({ outcome: "missed", reason: "down" }));
    expect(missed.status?.notEvaluated?.count).toBeGreaterThan(20);
    expect(missed.status?.notEvaluated?.reason).toBe("down");
  });
});
