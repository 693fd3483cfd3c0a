import { expect, test } from "vitest";
import type { SupervisorEvent } from "../../../src/actors/supervisor/write/events.js";
import { RecentEnds } from "../../../src/operations/now/recent.js";

const MINUTE_MS = 60_000;

function told(at: number, event: SupervisorEvent["event"], level: SupervisorEvent["level"] = "info"): SupervisorEvent {
  return { level, at, component: "executor", event, identity: "t/one", periodId: "p" };
}

test("outcomes are counted over an hour, and each once", () => {
  const recent = new RecentEnds();
  for (let times = 0; times < 100; times += 1) recent.tell(told(0, "completed"));
  for (const event of ["started", "trigger", "paused"] as const) recent.tell(told(0, event));
  recent.tell(told(MINUTE_MS, "completed", "warn"));
  recent.tell(told(2 * MINUTE_MS, "missed_deadline"));
  recent.tell(told(2 * MINUTE_MS, "skipped_concurrency"));
  recent.tell(told(2 * MINUTE_MS, "skipped"));
  recent.tell(told(3 * MINUTE_MS, "unschedulable"));
  const all = { executed: 100, failed: 1, missed: 1, skipped: 2, unschedulable: 1 };
  expect(recent.outcomes(59 * MINUTE_MS)).toEqual(all);
  expect(recent.outcomes(60 * MINUTE_MS)).toEqual({ ...all, executed: 0 });
  recent.tell(told(62 * MINUTE_MS, "completed"));
  expect(recent.outcomes(62 * MINUTE_MS)).toEqual({
    executed: 1,
    failed: 0,
    missed: 0,
    skipped: 0,
    unschedulable: 1,
  });
  // The clock was set back: what is newer than now is no part of the hour before it.
  expect(recent.outcomes(61 * MINUTE_MS)).toMatchObject({ executed: 0 });
});
