/** S44: jobs that run once for each boot of the machine, taken through the production step. */
import { describe, expect, test } from "vitest";
import type { Policy } from "../../src/core/job/definition.js";
import { at } from "../support/scheduling.js";
import { Scenario } from "./scenario.js";

const NOON = "2026-03-01T12:00:00Z";
const LATER = "2026-03-01T12:30:00Z";

function atBoot(policy: Partial<Policy> = {}): Scenario {
  const job = new Scenario({
    rule: { schedule: "@reboot" },
    policy: { deadlineMs: 0, concurrency: "allow", ...policy },
  });
  job.wake("2026-03-01T11:59:59Z", true);
  return job;
}

const boot = (job: Scenario, now: string, bootId = "b1", isPast = false): readonly string[] =>
  job.tell(now, { type: "BOOT", bootId, isPast });

describe("S44", () => {
  test("one run for each boot, due at the first look, and the boot is on record before it runs", () => {
    const job = atBoot();
    expect(job.live).toBeNull();
    expect(boot(job, NOON)).toEqual(["persist boot", `arm a1 reboot ${NOON}`]);
    expect(job.document.Boot).toEqual({ ID: "b1", Due: { Slot: NOON, Since: NOON } });
    job.start(NOON, "a1");
    expect(job.document).toMatchObject({ Boot: { ID: "b1" }, LastSlot: { reboot: NOON }, LastHandledPeriodID: "" });
    expect(job.document.Boot?.Due).toBeUndefined();
    expect(boot(job, LATER)).toEqual([]);
    expect(job.wake(LATER, true)).toEqual([]);
    expect(boot(job, LATER, "b2")).toEqual(["persist boot", `arm a2 reboot ${LATER}`]);
  });

  test("S16: an edit leaves what is due; a job that was removed and comes back waits for the next boot", () => {
    const job = atBoot({ suspend: true });
    boot(job, NOON);
    job.tell(NOON, { type: "DEFINE", hash: "other", carriedAt: null });
    expect(job.document.Boot?.Due).toBeDefined();
    job.tell(NOON, { type: "REMOVE" });
    job.tell(NOON, { type: "DEFINE", hash: "other", carriedAt: null });
    expect(job.document.Boot).toBeUndefined();
    boot(job, NOON, "b1", true);
    expect(job.document.Boot).toEqual({ ID: "b1" });
  });

  test("a boot that is older than the definition is put on record, and nothing runs", () => {
    const job = atBoot();
    expect(boot(job, NOON, "b1", true)).toEqual(["persist boot"]);
    expect([job.live, job.document.Boot]).toEqual([null, { ID: "b1" }]);
    expect(boot(job, LATER)).toEqual([]);
  });

  test("a machine that begins each boot with the same time has slots that go on", () => {
    const job = atBoot();
    boot(job, NOON);
    job.start(NOON, "a1");
    expect(boot(job, "2026-03-01T11:00:00Z", "b2")).toEqual(["persist boot", "arm a2 reboot 2026-03-01T12:00:01Z"]);
  });

  test("S20: paused, it waits, and is missed when the pause ends after its deadline", () => {
    const job = atBoot({ deadlineMs: 60_000 });
    job.tell("2026-03-01T11:59:59Z", { type: "PAUSE", untilAt: at("2026-03-01T12:01:00Z"), reason: "x" });
    expect(boot(job, NOON)).toEqual(["persist boot"]);
    expect(job.wakeAt).toBe("2026-03-01T12:01:00Z");
    expect(job.wake("2026-03-01T12:01:00Z")).toEqual(["persist resumed", `arm a1 reboot ${NOON}`]);
    const late = atBoot({ deadlineMs: 60_000 });
    late.tell("2026-03-01T11:59:59Z", { type: "PAUSE", untilAt: at("2026-03-01T12:01:01Z"), reason: "x" });
    boot(late, NOON);
    expect(late.wake("2026-03-01T12:01:01Z")).toEqual(["persist resumed", "persist missed(paused)"]);
    expect(late.document).toMatchObject({
      LastSlot: { reboot: NOON },
      History: [{ Outcome: "missed", Reason: "paused", Source: "reboot" }],
    });
    expect(late.document.Boot).toEqual({ ID: "b1" });
    expect(late.wake("2026-03-01T12:01:02Z", true)).toEqual([]);
  });

  test("S17: suspended, nothing is started", () => {
    const job = atBoot({ suspend: true });
    expect(boot(job, NOON)).toEqual(["persist boot"]);
    expect(job.wake(LATER, true)).toEqual([]);
  });

  test("S21: forbid skips it for good while another run goes on", () => {
    const job = atBoot({ concurrency: "forbid" });
    job.tell("2026-03-01T11:59:59Z", { type: "RUN", source: "manual", slotAt: at("2026-03-01T11:59:59Z") });
    job.start("2026-03-01T11:59:59Z", "a1");
    expect(boot(job, NOON)).toEqual(["persist boot", "persist skipped(concurrency_forbid)"]);
    expect(job.document.History).toMatchObject([{ Outcome: "skipped", Reason: "concurrency_forbid" }]);
  });

  test("S43: a run at boot that failed is tried again, until the next boot", () => {
    const job = atBoot({ retry: { limit: 2, backoffMs: 30_000, maxBackoffMs: 30_000, on: ["exit"] } });
    boot(job, NOON);
    job.start(NOON, "a1");
    job.tell("2026-03-01T12:00:10Z", {
      type: "EXITED",
      attemptId: "a1",
      ending: { kind: "exited", code: 1, signal: null, reason: null },
    });
    expect(job.live).toBe("2026-03-01T12:00:40Z planned");
    expect(job.document.Retry).toMatchObject({ PeriodID: NOON, Attempt: 2 });
    expect(boot(job, LATER, "b2")).toEqual(["persist boot", `arm a2 reboot ${LATER}`]);
    expect(job.document.Retry).toBeUndefined();
  });
});
