/** When a run counts as begun: what an interval and the bounds of a pace count from (S20, S40, S41). */
import { describe, expect, test } from "vitest";
import { redate } from "../../../src/core/state/definition-transitions.js";
import { newDocument, type StateDocument } from "../../../src/core/state/document.js";
import { claimPeriod, claimSlot, withSlotUsed } from "../../../src/core/state/period-transitions.js";
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
      expect(claimSlot(document, claim, at(now)).document.LastRunAt).toBe(expected);
    }
  });

  test("where it is named after an older slot, after the instant by which it was due", () => {
    const named = "2026-03-01T12:30:00.800Z";
    expect(ranAt("interval", named, "2026-03-01T12:00:03.100Z", "2026-03-01T12:00:00.350Z")).toBe(
      "2026-03-01T12:00:02.350Z",
    );
  });

  test("what was asked for has no place in a second, nor has a period", () => {
    const now = "2026-03-01T12:00:05.350Z";
    expect(ranAt("manual", now, now)).toBe("2026-03-01T12:00:05Z");
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
    expect(withSlotUsed(EMPTY, "manual", slotAt).LastRunAt).toBe("2026-03-01T12:00:05Z");
  });
});

test("S14: what a clock ahead has dated keeps its place within the second when it is dated anew", () => {
  const redated = (LastRunAt: string): string | undefined =>
    redate({ ...EMPTY, LastRunAt }, at("2026-03-01T12:00:00.200Z")).document.LastRunAt;
  expect(redated("2026-03-01T14:00:00.350Z")).toBe("2026-03-01T11:59:59.350Z");
  expect(redated("2026-03-01T14:00:00.100Z")).toBe("2026-03-01T12:00:00.100Z");
  expect(redated("2026-03-01T14:00:00Z")).toBe("2026-03-01T12:00:00Z");
  expect(redated("2026-03-01T12:00:00.200Z")).toBe("2026-03-01T12:00:00.200Z");
});
