/** S13, S17: what passes after a pause, while nobody is there, is told apart from what the pause has passed over. */
import { expect, test } from "vitest";
import type { LostTime } from "../../src/core/period/cause.js";
import { step } from "../../src/machines/step.js";
import { at } from "../support/scheduling.js";
import { type Plot, Scenario } from "./scenario.js";

const MIDNIGHT = "2026-03-01T00:00:00Z";
const HANDLED = { LastHandledPeriodID: MIDNIGHT, LastOutcome: "executed", LastNominalTime: MIDNIGHT } as const;

function pausedUntil(Until: string, CatchUp?: true): NonNullable<Plot["document"]> {
  const about = { Until, Reason: "", Since: "2026-03-01T00:30:00Z" };
  return { ...HANDLED, Pause: CatchUp === undefined ? about : { ...about, CatchUp } };
}

/** Of each gap that is told on return: its ends, how many, and what for. */
function gapsOnReturn(plot: Plot, now: string, lost: readonly LostTime[]): readonly unknown[] {
  const { scope, activation } = new Scenario(plot);
  const moment = { now: at(now), gate: null, lost, freshId: () => "a1" };
  const { effects } = step(scope, activation, { type: "WAKE", isReturning: true, nominalAt: null }, moment);
  const facts = effects.flatMap(({ type, params }) => (type === "persist" ? params.facts : []));
  return facts.flatMap((fact) => {
    if (fact.kind !== "periods_not_evaluated") return [];
    const { firstAt, lastAt, count, reason = null } = fact;
    return [[new Date(firstAt).getUTCHours(), new Date(lastAt).getUTCHours(), count, reason]];
  });
}

function lostUntil(untilAt: string, cause: LostTime["cause"]): LostTime {
  return { cause, fromAt: at("2026-03-01T00:40:00Z"), untilAt: at(untilAt) };
}

const NINE_THIRTY = "2026-03-01T09:30:00Z";

test.each([
  ["down", "down"],
  ["stalled", "stalled"],
] as const)("S17: a pause that ended while the daemon was %s: the rest is told as %s", (cause, reason) => {
  const plot = { rule: { schedule: "0 * * * *" }, document: pausedUntil("2026-03-01T03:00:00Z") };
  expect(gapsOnReturn(plot, NINE_THIRTY, [lostUntil(NINE_THIRTY, cause)])).toEqual([
    [1, 2, 2, "paused"],
    [3, 8, 6, reason],
  ]);
});

test("S17: of a pause that catches up and a time after it in which nobody was there, the later one counts", () => {
  const plot = { rule: { schedule: "0 * * * *" }, document: pausedUntil("2026-03-01T03:00:00Z", true) };
  expect(gapsOnReturn(plot, NINE_THIRTY, [lostUntil(NINE_THIRTY, "down")])).toEqual([[1, 8, 8, "down"]]);
  expect(gapsOnReturn(plot, "2026-03-01T03:30:00Z", [])).toEqual([[1, 2, 2, "paused"]]);
});

test.each(["2026-03-01T03:10:00Z", "2026-03-01T03:40:00Z", "2026-03-01T03:59:00Z"])(
  "S17: a window that reaches over the end of a pause (%s) is in one of both gaps",
  (until) => {
    const rule = { schedule: "0 * * * *", window: { mode: "after", durationMs: 3_540_000 } } as const;
    const gaps = gapsOnReturn({ rule, document: pausedUntil(until) }, "2026-03-01T09:50:00Z", []);
    expect(gaps).toHaveLength(2);
    const [[first, inPause], [after, last, count]] = gaps as [[number, number], [number, number, number]];
    expect([first, last, after, count]).toEqual([1, 8, inPause + 1, 8 - inPause]);
  },
);
