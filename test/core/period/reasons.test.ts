import { describe, expect, test } from "vitest";
import { UNSCHEDULABLE_REASON } from "../../../src/core/decision/record.js";
import { gapCause, type LostTime, missedCause } from "../../../src/core/period/cause.js";
import {
  GAP_REASONS,
  gapText,
  knownReason,
  MISSED_REASONS,
  notStarted,
  reasonText,
  SKIPPED_REASONS,
  startFailureOf,
} from "../../../src/core/period/reasons.js";
import { at } from "../../support/scheduling.js";

describe("every reason has a text of its own, and is one of a bounded set", () => {
  const reasons = [...MISSED_REASONS, ...SKIPPED_REASONS, notStarted("command-not-found")];
  test.each(reasons)("%s", (reason) => {
    expect(reasonText(reason)).not.toBe(reason);
    expect(knownReason(reason)).toBe(reason);
  });

  test("no two reasons read alike", () => {
    expect(new Set(reasons.map(reasonText)).size).toBe(reasons.length);
    expect(new Set(GAP_REASONS.map(gapText)).size).toBe(GAP_REASONS.length);
  });

  test.each([
    ["not_started:command-not-found", "command-not-found"],
    ["not_started:no-such-code", null],
    ["deadline", null],
    [null, null],
  ] as const)("what stood in the way, by %s: %s", (reason, code) => {
    expect(startFailureOf(reason)).toBe(code);
  });

  test.each([
    ["", ""],
    [UNSCHEDULABLE_REASON, UNSCHEDULABLE_REASON],
    ["not_started:no-such-code", "other"],
    ["toString", "other"],
  ])("%j is told as %j", (reason, label) => {
    expect(knownReason(reason)).toBe(label);
  });
});

describe("S20: what a period was missed for", () => {
  const limitAt = at("2026-03-01T02:00:00Z");
  const lost = (cause: LostTime["cause"], from: string, until: string): LostTime => ({
    cause,
    fromAt: at(`2026-03-01T${from}Z`),
    untilAt: at(`2026-03-01T${until}Z`),
  });
  const DOWN = lost("down", "01:00:00", "03:00:00");

  test("time that was lost over its last second is the cause", () => {
    expect(missedCause("deadline", { limitAt, failure: null, lost: [DOWN] })).toEqual({ reason: "down", lost: DOWN });
  });

  test.each([
    ["ended before the last second was over", lost("down", "01:00:00", "02:00:00")],
    ["began after it", lost("stalled", "02:00:01", "03:00:00")],
  ])("time that %s is none", (_, span) => {
    expect(missedCause("deadline", { limitAt, failure: null, lost: [span] })).toEqual({ reason: "deadline" });
  });

  test("S24: a start that failed is named before all others; the newest of two stretches counts", () => {
    expect(missedCause("deadline", { limitAt, failure: "fork-failed", lost: [DOWN] })).toEqual({
      reason: "not_started:fork-failed",
    });
    const stall = lost("stalled", "02:00:00", "02:30:00");
    expect(missedCause("deadline", { limitAt, failure: null, lost: [DOWN, stall] })).toEqual({
      reason: "stalled",
      lost: stall,
    });
  });

  test.each([
    ["late_start", null, "late_start"],
    ["superseded", null, "superseded"],
    // A start that took too long was the last one: nothing stood in its way any more.
    ["late_start", "user-unknown", "late_start"],
    // It does not matter what ended the trying.
    ["superseded", "user-unknown", "not_started:user-unknown"],
  ] as const)("S24: judged %s after the failure %s: %s", (judged, failure, reason) => {
    expect(missedCause(judged, { limitAt, failure, lost: [DOWN] })).toEqual({ reason });
  });

  test("S13: a gap is told with the time that was lost over it, and with none where nobody knows", () => {
    const gap = {
      firstAt: at("2026-03-01T02:00:00Z"),
      lastAt: at("2026-03-01T02:30:00Z"),
      count: 2,
      isCountExact: true,
    };
    expect(gapCause(gap, [DOWN])).toEqual({ reason: "down", lost: DOWN });
    const stall = lost("stalled", "02:10:00", "02:40:00");
    expect(gapCause(gap, [DOWN, stall])).toEqual({ reason: "stalled", lost: stall });
    expect(gapCause(gap, [lost("stalled", "03:10:00", "03:40:00")])).toBeNull();
    // What ended as the first of them came has lost none.
    expect(gapCause(gap, [lost("paused", "01:00:00", "02:00:00")])).toBeNull();
  });
});
