/** What was due, or failed to start, by a clock that is set back afterwards (S24, S40, S44). */
import { expect, test } from "vitest";
import { ENGINE } from "../../src/machines/engine.js";
import { createStepper } from "../../src/machines/step.js";
import { at } from "../support/scheduling.js";
import { Scenario } from "./scenario.js";

const NOON = "2026-03-01T12:00:00Z";
const EVERY_10M = {
  rule: { schedule: "@every 10m" },
  document: { DefinitionHash: "x", LastRunAt: NOON, LastSlot: { interval: NOON } },
} as const;

/** The start of the slot of 12:10 has failed. */
function failing(): Scenario {
  const job = new Scenario(EVERY_10M);
  job.wake("2026-03-01T12:05:00Z", true);
  job.wake("2026-03-01T12:10:00Z");
  job.tell("2026-03-01T12:10:01Z", { type: "FAILED", attemptId: "a1", code: "command-not-found" });
  return job;
}

test.each([
  ["half an hour", "2026-03-01T11:30:00Z", "2026-03-01T11:40:00Z"],
  ["a day", "2026-02-28T12:00:00Z", "2026-02-28T12:10:00Z"],
])("S40: a slot of an interval that fails is planned anew by a clock that is set back by %s", (_by, back, dueAt) => {
  const job = failing();
  job.wake(back, true);
  expect(job.wakeAt).toBe(dueAt);
  expect(job.wake(dueAt)).toEqual([expect.stringMatching(/^arm a2 interval /)]);
});

test("S24: a clock that is corrected by seconds leaves the delay as it is", () => {
  const job = failing();
  expect(job.wake("2026-03-01T12:10:00.500Z", true)).toEqual([]);
  expect(job.wakeAt).toBe("2026-03-01T12:10:02Z");
});

test("S24: a start that failed long after its time is tried at once by a clock that is set back", () => {
  const job = new Scenario({ ...EVERY_10M, document: { ...EVERY_10M.document, LastRunAt: "2026-03-01T08:00:00Z" } });
  job.wake("2026-03-01T08:10:00Z");
  job.tell("2026-03-01T12:30:00Z", { type: "FAILED", attemptId: "a1", code: "command-not-found" });
  expect(job.wake("2026-03-01T12:25:00Z", true)).toEqual([expect.stringMatching(/^arm a2 interval /)]);
});

test("S24: the same of a period, and before its chosen time it waits for that (S6)", () => {
  const handled = "2026-02-28T12:00:00Z";
  const job = new Scenario({
    rule: { schedule: "0 12 * * *" },
    policy: { deadlineMs: 7_200_000 },
    document: { LastHandledPeriodID: handled, LastNominalTime: handled, LastOutcome: "executed" },
  });
  job.wake("2026-03-01T11:00:00Z", true);
  job.wake(NOON);
  job.tell("2026-03-01T13:00:01Z", { type: "FAILED", attemptId: "a1", code: "command-not-found" });
  expect(job.wake("2026-03-01T12:30:00Z", true)).toEqual([`arm a2 period ${NOON}`]);
  job.tell("2026-03-01T12:30:01Z", { type: "FAILED", attemptId: "a2", code: "command-not-found" });
  expect(job.wake("2026-03-01T11:00:00Z", true)).toEqual([]);
  expect(job.wakeAt).toBe(NOON);
  expect(job.wake(NOON)).toEqual([`arm a3 period ${NOON}`]);
});

test("S18: a period that could not be decided is decided by the clock that is set back", () => {
  let isBroken = true;
  const decide: typeof ENGINE.decide = (...args) => {
    if (isBroken) throw new Error("no zone");
    return ENGINE.decide(...args);
  };
  const eleven = "2026-03-01T11:00:00Z";
  const job = new Scenario({
    rule: { schedule: "0 * * * *", pace: { minMs: 60_000, maxMs: null } },
    policy: { deadlineMs: 7_200_000 },
    document: { LastHandledPeriodID: eleven, LastNominalTime: eleven, LastOutcome: "executed" },
    step: createStepper({ ...ENGINE, decide }),
  });
  expect(job.wake("2026-03-01T12:40:00Z", true)).toEqual([`undecided ${NOON} 1`]);
  isBroken = false;
  expect(job.wake("2026-03-01T12:10:00Z", true)).toEqual([`arm a1 period ${NOON}`]);
});

test("S44: what is due of a boot is due whatever the clock says, and is tried at once", () => {
  const job = new Scenario({
    rule: { schedule: "@reboot" },
    policy: { deadlineMs: 600_000 },
    document: { DefinitionHash: "x", Boot: { ID: "b0" } },
  });
  job.tell(NOON, { type: "BOOT", bootId: "b1", isPast: false });
  job.tell("2026-03-01T12:00:01Z", { type: "FAILED", attemptId: "a1", code: "command-not-found" });
  expect(job.wake("2026-03-01T09:00:00Z", true)).toEqual([`arm a2 reboot ${NOON}`]);
});

test("S40: a slot that is named after an older one was chosen for when it is due, on record as in its attempt", () => {
  const job = new Scenario(EVERY_10M);
  job.wake("2026-03-01T11:30:00Z", true);
  expect(job.wake("2026-03-01T11:40:00Z")).toEqual(["arm a1 interval 2026-03-01T12:00:00.001Z"]);
  const [attempt] = job.activation.attempts;
  expect(attempt?.execution.context.attempt.chosenAt).toBe(at("2026-03-01T11:40:00Z"));
  job.ready("2026-03-01T11:40:01Z", "a1");
  expect(job.document.ActiveExecution).toMatchObject({
    PeriodID: "2026-03-01T12:00:00.001Z",
    ChosenTime: "2026-03-01T11:40:00Z",
  });
});
