/** When a run counts as begun: what an interval and the bounds of a pace count from (S20, S40, S41). */
import { describe, expect, test } from "vitest";
import { redate } from "../../../src/core/state/definition-transitions.js";
import { newDocument, type StateDocument } from "../../../src/core/state/document.js";
import { claimPeriod, claimSlot, withSlotUsed } from "../../../src/core/state/period-transitions.js";
import { completeRun } from "../../../src/core/state/run-transitions.js";
import { at, decisionOf, IDENTITY } from "../../support/scheduling.js";

const EMPTY = newDocument(IDENTITY);
const BY = { attemptId: "a1", holder: { kind: "request", pid: 1 } } as const;

function ranAt(source: string, slot: string, now: string, chosen = slot): string | undefined {
  const claim = { source, slotAt: at(slot), chosenAt: at(chosen), ...BY, aftermath: null };
  return claimSlot(EMPTY, claim, at(now)).document.LastRunAt;
}

describe("S40: a run of a slot begins whole seconds after it", () => {
  test.each([
    ["on time", "2026-03-01T12:00:05.350Z", "2026-03-01T12:00:05.350Z", "2026-03-01T12:00:05.350Z"],
    ["within a second of it", "2026-03-01T12:00:05.350Z", "2026-03-01T12:00:06.349Z", "2026-03-01T12:00:05.350Z"],
    ["a second late", "2026-03-01T12:00:05.350Z", "2026-03-01T12:00:06.350Z", "2026-03-01T12:00:06.350Z"],
    ["minutes late", "2026-03-01T12:00:05.350Z", "2026-03-01T12:07:00.100Z", "2026-03-01T12:06:59.350Z"],
    ["of a whole second", "2026-03-01T12:00:05Z", "2026-03-01T12:00:09.900Z", "2026-03-01T12:00:09Z"],
  ])("%s", (_, slot, now, expected) => {
    for (const source of ["interval", "hint-interval", "retry"]) {
      const document: StateDocument = { ...EMPTY, Retry: { PeriodID: slot, Attempt: 2, At: slot } };
      const claim = { source, slotAt: at(slot), ...BY, aftermath: null };
      const { LastRunAt, ActiveExecution } = claimSlot(document, claim, at(now)).document;
      expect([LastRunAt, ActiveExecution?.StartedAt]).toEqual([expected, expected]);
    }
  });

  test("where it is named after an older slot, after the instant by which it was due", () => {
    const named = "2026-03-01T12:30:00.800Z";
    expect(ranAt("interval", named, "2026-03-01T12:00:03.100Z", "2026-03-01T12:00:00.350Z")).toBe(
      "2026-03-01T12:00:02.350Z",
    );
  });

  test("what was asked for begins when it was; a period in a second", () => {
    const now = "2026-03-01T12:00:05.350Z";
    expect(ranAt("manual", now, now)).toBe(now);
    const period = decisionOf("2026-03-01T12:00:00Z", "2026-03-01T12:00:05Z");
    expect(claimPeriod(EMPTY, period, BY, at(now)).document.LastRunAt).toBe("2026-03-01T12:00:05Z");
  });

  test("one that is known from the ledger alone began when it was due, unless another one began later", () => {
    const slotAt = at("2026-03-01T12:00:05.350Z");
    expect(withSlotUsed(EMPTY, "interval", slotAt).LastRunAt).toBe("2026-03-01T12:00:05.350Z");
    // As texts they would be the other way round.
    const earlier = { ...EMPTY, LastRunAt: "2026-03-01T12:00:05Z" };
    expect(withSlotUsed(earlier, "interval", slotAt).LastRunAt).toBe("2026-03-01T12:00:05.350Z");
    const later = { ...EMPTY, LastRunAt: "2026-03-01T12:00:06Z" };
    expect(withSlotUsed(later, "interval", slotAt).LastRunAt).toBe("2026-03-01T12:00:06Z");
  });
});

test("S40: a run ends whole seconds after its start, and never before it", () => {
  const slot = "2026-03-01T12:00:05.350Z";
  const claim = { source: "interval", slotAt: at(slot), ...BY, aftermath: null };
  const { document } = claimSlot(EMPTY, claim, at(slot));
  const run = { attemptId: "a1", source: "interval", periodId: slot, pid: 1 };
  const ending = { kind: "exited", code: 0, signal: null, reason: null } as const;
  const endedAt = (now: string): string | undefined =>
    completeRun(document, run, ending, at(now), 5).document.History.at(-1)?.CompletedAt;
  expect(endedAt("2026-03-01T12:00:05.400Z")).toBe(slot);
  expect(endedAt("2026-03-01T12:00:07.300Z")).toBe("2026-03-01T12:00:06.350Z");
  // The clock was set back in between.
  expect(endedAt("2026-03-01T11:00:00.400Z")).toBe("2026-03-01T11:00:00.350Z");
});

test("S14: a birth that a clock ahead has dated keeps its place within the second, too", () => {
  const born = { ...EMPTY, DefinedAt: "2026-03-01T14:00:00.350Z" };
  expect(redate(born, at("2026-03-01T12:00:00.400Z")).document.DefinedAt).toBe("2026-03-01T12:00:00.350Z");
});

test("S43: a retry that is dated anew gets a name that no retry had before, wherever in its second the run was", () => {
  const named = (ran: string): string | undefined => {
    const Retry = { PeriodID: "2026-03-01T13:59:00Z", Attempt: 2, At: "2026-03-01T14:00:40.001Z" };
    const document: StateDocument = { ...EMPTY, LastRunAt: ran, LastSlot: { retry: ran }, Retry };
    return redate(document, at("2026-03-01T12:00:00.400Z")).document.Retry?.At;
  };
  expect(named("2026-03-01T14:00:10.001Z")).toBe("2026-03-01T12:00:30.002Z");
  expect(named("2026-03-01T14:00:10Z")).toBe("2026-03-01T12:00:30.002Z");
});

test("S14: what a clock ahead has dated keeps its place within the second when it is dated anew", () => {
  const redated = (LastRunAt: string): string | undefined =>
    redate({ ...EMPTY, LastRunAt }, at("2026-03-01T12:00:00.200Z")).document.LastRunAt;
  expect(redated("2026-03-01T14:00:00.350Z")).toBe("2026-03-01T11:59:59.350Z");
  expect(redated("2026-03-01T14:00:00.100Z")).toBe("2026-03-01T12:00:00.100Z");
  expect(redated("2026-03-01T14:00:00Z")).toBe("2026-03-01T12:00:00Z");
  expect(redated("2026-03-01T12:00:00.200Z")).toBe("2026-03-01T12:00:00.200Z");
});
