/** S17: a pause that nobody saw begin may have begun long ago, and what passed in a pause is told once. */
import { expect, test } from "vitest";
import { at } from "../support/scheduling.js";
import { Scenario } from "./scenario.js";

const ELEVEN = "2026-03-01T11:00:00Z";
const HANDLED = { LastHandledPeriodID: ELEVEN, LastOutcome: "executed", LastNominalTime: ELEVEN } as const;

test.each([
  ["begun unseen: nothing up to its end runs", false, ["persist resumed+periods_not_evaluated"]],
  [
    "begun now: what was current before it may",
    true,
    ["persist resumed", "persist periods_not_evaluated", "arm a1 period 2026-03-01T13:00:00Z"],
  ],
] as const)("%s", (_name, isNew, told) => {
  const rule = { schedule: "0 * * * *" };
  const job = new Scenario({ rule, document: HANDLED, policy: { deadlineMs: 36_000_000 } });
  job.tell("2026-03-01T13:30:00Z", { type: "PAUSE", untilAt: at("2026-03-01T13:50:00Z"), reason: "x", isNew });
  expect(job.wake("2026-03-01T13:50:00Z")).toEqual(told);
});

test("a window that reaches over its end is not told of again", () => {
  const job = new Scenario({
    rule: { schedule: "5,20,50 * * * *", window: { mode: "after", durationMs: 840_000 } },
    document: { LastHandledPeriodID: "2026-03-01T00:50:00Z", LastOutcome: "missed" },
    policy: {},
  });
  job.tell("2026-03-01T01:04:33Z", { type: "PAUSE", untilAt: at("2026-03-01T01:18:50Z"), reason: "x" });
  // Whatever is heard first ends it.
  job.tell("2026-03-01T01:20:00Z", { type: "LOST", attemptId: "another" });
  job.wake("2026-03-01T01:20:00Z", true);
  const gaps = job.facts.filter(({ kind }) => kind === "periods_not_evaluated");
  expect(gaps).toMatchObject([{ firstAt: at("2026-03-01T01:05:00Z"), count: 1, reason: "paused" }]);
});
