import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { compileRule } from "../../../src/core/decision/compile.js";
import { decide } from "../../../src/core/decision/decide.js";
import {
  COUNTED_PERIODS,
  closingAt,
  currentPeriod,
  isHandled,
  nextPeriod,
  openingAt,
  planAfter,
  planOnReturn,
} from "../../../src/core/period/periods.js";
import { formatInstant } from "../../../src/core/time/instant.js";
import { at, ruleOf } from "../../support/scheduling.js";

const HOUR = 3_600_000;
const hourly = compileRule(ruleOf());
const after30m = compileRule(ruleOf({ window: { mode: "after", durationMs: HOUR / 2 } }));
const around1h = compileRule(ruleOf({ window: { mode: "around", durationMs: HOUR } }));
const before1h = compileRule(ruleOf({ window: { mode: "before", durationMs: HOUR } }));
const aroundOdd = compileRule(ruleOf({ window: { mode: "around", durationMs: 5000 } }));
const RULES = { hourly, after30m, around1h, before1h, aroundOdd };

const text = (instant: number | null): string | null => (instant === null ? null : formatInstant(instant));

describe("current period", () => {
  test.each<[title: string, rule: keyof typeof RULES, now: string, current: string]>([
    ["after: the period begins with its nominal time", "after30m", "2026-03-01T10:00:00Z", "2026-03-01T10:00:00Z"],
    ["after: and lasts until the next", "after30m", "2026-03-01T10:59:59Z", "2026-03-01T10:00:00Z"],
    ["around: half a window ahead the next is current", "around1h", "2026-03-01T09:30:00Z", "2026-03-01T10:00:00Z"],
    ["around: a second earlier it is not", "around1h", "2026-03-01T09:29:59Z", "2026-03-01T09:00:00Z"],
    ["before: a whole window ahead", "before1h", "2026-03-01T09:00:00Z", "2026-03-01T10:00:00Z"],
    ["around 5s: the floored window start counts", "aroundOdd", "2026-03-01T09:59:57Z", "2026-03-01T10:00:00Z"],
    ["around 5s: and no earlier", "aroundOdd", "2026-03-01T09:59:56Z", "2026-03-01T09:00:00Z"],
  ])("S10: %s", (_title, rule, now, current) => {
    expect(text(currentPeriod(RULES[rule], at(now)))).toBe(current);
  });

  test("S10: no chosen time of any window mode lies before its period becomes current", () => {
    const modes = fc.constantFrom("after", "around", "before");
    const property = fc.property(
      modes,
      fc.integer({ min: 0, max: 3600 }),
      fc.integer({ min: 0, max: 9999 }),
      (mode, s, n) => {
        const compiled = compileRule(ruleOf({ window: { mode, durationMs: s * 1000 } }));
        const decision = decide(compiled, at("2026-01-01T00:00:00Z") + n * HOUR);
        const chosenAt = decision.chosenAt ?? Number.NaN;
        // With windows that touch, the last second of one is the first of the next: both are then current in turn.
        const current = currentPeriod(compiled, chosenAt) ?? Number.NaN;
        const isLastSecond = chosenAt === decision.windowEndAt;
        expect(current === decision.nominalAt || (isLastSecond && current === decision.nominalAt + HOUR)).toBe(true);
        expect(openingAt(compiled, decision.nominalAt)).toBe(decision.windowStartAt);
        expect(closingAt(compiled, decision.nominalAt)).toBe(decision.windowEndAt);
      },
    );
    fc.assert(property, { seed: 11, numRuns: 300 });
  });

  test("S15: a window opens where the decision says it starts", () => {
    expect(text(openingAt(around1h, at("2026-03-01T10:00:00Z")))).toBe("2026-03-01T09:30:00Z");
  });
});

describe("handled", () => {
  test.each<[title: string, lastHandled: string | null, nominal: string, handled: boolean]>([
    ["nothing was handled yet", null, "2026-03-01T10:00:00Z", false],
    ["the period itself", "2026-03-01T10:00:00Z", "2026-03-01T10:00:00Z", true],
    ["an older one, as after a backward clock step", "2026-03-01T10:00:00Z", "2026-03-01T09:00:00Z", true],
    ["a newer one", "2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z", false],
  ])("S12: %s", (_title, lastHandled, nominal, handled) => {
    expect(isHandled(lastHandled === null ? null : at(lastHandled), at(nominal))).toBe(handled);
  });
});

interface ReturnRow {
  readonly title: string;
  readonly rule: keyof typeof RULES;
  readonly lastHandled: string | null;
  readonly defined: string | null;
  readonly now: string;
  readonly live: string;
  readonly gap: readonly [first: string, last: string, count: number, exact: boolean] | null;
  readonly ahead: boolean;
}

const RETURNS: readonly ReturnRow[] = [
  {
    title: "S13: nothing was missed: the next period is waited for",
    rule: "hourly",
    lastHandled: "2026-03-01T10:00:00Z",
    defined: "2026-01-01T00:00:00Z",
    now: "2026-03-01T10:30:00Z",
    live: "2026-03-01T11:00:00Z",
    gap: null,
    ahead: false,
  },
  {
    title: "S13: one period is open: it is evaluated, without a gap",
    rule: "hourly",
    lastHandled: "2026-03-01T10:00:00Z",
    defined: "2026-01-01T00:00:00Z",
    now: "2026-03-01T11:30:00Z",
    live: "2026-03-01T11:00:00Z",
    gap: null,
    ahead: false,
  },
  {
    title: "S13: after a gap only the current one is evaluated",
    rule: "hourly",
    lastHandled: "2026-03-01T10:00:00Z",
    defined: "2026-01-01T00:00:00Z",
    now: "2026-03-01T14:30:00Z",
    live: "2026-03-01T14:00:00Z",
    gap: ["2026-03-01T11:00:00Z", "2026-03-01T13:00:00Z", 3, true],
    ahead: false,
  },
  {
    title: "S13: a gap of ten years costs no more than one of a day and is counted as far as the bound",
    rule: "hourly",
    lastHandled: "2016-03-01T10:00:00Z",
    defined: "2016-01-01T00:00:00Z",
    now: "2026-03-01T14:30:00Z",
    live: "2026-03-01T14:00:00Z",
    gap: ["2016-03-01T11:00:00Z", "2026-03-01T13:00:00Z", COUNTED_PERIODS, false],
    ahead: false,
  },
  {
    title: "S13: exactly as many as the bound are still exact",
    rule: "hourly",
    lastHandled: "2026-03-01T00:00:00Z",
    defined: "2016-01-01T00:00:00Z",
    now: "2026-03-02T09:00:00Z",
    live: "2026-03-02T09:00:00Z",
    gap: ["2026-03-01T01:00:00Z", "2026-03-02T08:00:00Z", 32, true],
    ahead: false,
  },
  {
    title: "S10: around: the period ahead of its nominal time is the current one",
    rule: "around1h",
    lastHandled: "2026-03-01T10:00:00Z",
    defined: "2026-01-01T00:00:00Z",
    now: "2026-03-01T12:45:00Z",
    live: "2026-03-01T13:00:00Z",
    gap: ["2026-03-01T11:00:00Z", "2026-03-01T12:00:00Z", 2, true],
    ahead: false,
  },
  {
    title: "S14: first sight: the current period is looked at and nothing older is missing",
    rule: "hourly",
    lastHandled: null,
    defined: "2026-03-01T14:30:00Z",
    now: "2026-03-01T14:30:00Z",
    live: "2026-03-01T14:00:00Z",
    gap: null,
    ahead: false,
  },
  {
    title: "S14: down since first sight: the gap begins with the first window not over by then",
    rule: "after30m",
    lastHandled: null,
    defined: "2026-03-01T10:15:00Z",
    now: "2026-03-01T13:10:00Z",
    live: "2026-03-01T13:00:00Z",
    gap: ["2026-03-01T10:00:00Z", "2026-03-01T12:00:00Z", 3, true],
    ahead: false,
  },
  {
    title: "S14: a window over by then belongs to no gap",
    rule: "after30m",
    lastHandled: null,
    defined: "2026-03-01T10:45:00Z",
    now: "2026-03-01T13:10:00Z",
    live: "2026-03-01T13:00:00Z",
    gap: ["2026-03-01T11:00:00Z", "2026-03-01T12:00:00Z", 2, true],
    ahead: false,
  },
  {
    title: "S14: a window that ends with the very second of the definition was not over",
    rule: "after30m",
    lastHandled: null,
    defined: "2026-03-01T10:30:00Z",
    now: "2026-03-01T12:10:00Z",
    live: "2026-03-01T12:00:00Z",
    gap: ["2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z", 2, true],
    ahead: false,
  },
  {
    title: "S14: an edit after the last handled period shortens the gap",
    rule: "after30m",
    lastHandled: "2026-03-01T02:00:00Z",
    defined: "2026-03-01T11:45:00Z",
    now: "2026-03-01T13:10:00Z",
    live: "2026-03-01T13:00:00Z",
    gap: ["2026-03-01T12:00:00Z", "2026-03-01T12:00:00Z", 1, true],
    ahead: false,
  },
  {
    title: "S14: unknown birth and nothing handled: no gap is invented",
    rule: "hourly",
    lastHandled: null,
    defined: null,
    now: "2026-03-01T14:30:00Z",
    live: "2026-03-01T14:00:00Z",
    gap: null,
    ahead: false,
  },
  {
    title: "S12: a backward step of a minute re-evaluates nothing",
    rule: "hourly",
    lastHandled: "2026-03-01T11:00:00Z",
    defined: "2026-01-01T00:00:00Z",
    now: "2026-03-01T10:59:00Z",
    live: "2026-03-01T12:00:00Z",
    gap: null,
    ahead: true,
  },
  {
    title: "S32: state a year ahead of the clock: nothing runs until it has caught up",
    rule: "hourly",
    lastHandled: "2027-03-01T11:00:00Z",
    defined: "2026-01-01T00:00:00Z",
    now: "2026-03-01T10:59:00Z",
    live: "2027-03-01T12:00:00Z",
    gap: null,
    ahead: true,
  },
  {
    title: "S32: a lead is not being ahead",
    rule: "around1h",
    lastHandled: "2026-03-01T11:00:00Z",
    defined: "2026-01-01T00:00:00Z",
    now: "2026-03-01T10:30:00Z",
    live: "2026-03-01T12:00:00Z",
    gap: null,
    ahead: false,
  },
];

describe("returning after a boot, a resume or a jump", () => {
  test.each(RETURNS)("$title", ({ rule, lastHandled, defined, now, live, gap, ahead }) => {
    const marks = {
      lastHandledAt: lastHandled === null ? null : at(lastHandled),
      definedAt: defined === null ? null : at(defined),
    };
    const plan = planOnReturn(RULES[rule], marks, at(now));
    const seen = plan.gap && [text(plan.gap.firstAt), text(plan.gap.lastAt), plan.gap.count, plan.gap.isCountExact];
    expect([text(plan.liveAt), seen, plan.isStateAhead]).toEqual([live, gap, ahead]);
  });

  test("S13: the number of searches does not depend on the length of the gap", () => {
    const searches = (lastHandledAt: number): number => {
      const { schedule } = hourly;
      const next = vi.fn(schedule.next.bind(schedule));
      const previous = vi.fn(schedule.previous.bind(schedule));
      const counted = Object.assign(Object.create(schedule), { next, previous });
      planOnReturn({ ...hourly, schedule: counted }, { lastHandledAt, definedAt: null }, at("2026-03-01T10:00:00Z"));
      return next.mock.calls.length + previous.mock.calls.length;
    };
    const week = searches(at("2026-02-22T10:00:00Z"));
    expect(searches(at("1976-03-01T10:00:00Z"))).toBe(week);
    expect(week).toBeLessThan(COUNTED_PERIODS + 5);
  });
});

describe("while the daemon runs", () => {
  test.each<[title: string, passed: string, lastHandled: string | null, next: string]>([
    [
      "S13: periods follow one another without a hole",
      "2026-03-01T10:00:00Z",
      "2026-03-01T10:00:00Z",
      "2026-03-01T11:00:00Z",
    ],
    ["S14: a period passed over is passed", "2026-03-01T10:00:00Z", null, "2026-03-01T11:00:00Z"],
    ["S12: never back behind what was handled", "2026-03-01T10:00:00Z", "2026-03-01T15:00:00Z", "2026-03-01T16:00:00Z"],
  ])("%s", (_title, passed, lastHandled, next) => {
    const marks = { lastHandledAt: lastHandled === null ? null : at(lastHandled), definedAt: null };
    expect(text(planAfter(hourly, marks, at(passed)))).toBe(next);
  });

  test("next period is strictly later and nothing lies between", () => {
    expect(text(nextPeriod(hourly, at("2026-03-01T10:00:00Z")))).toBe("2026-03-01T11:00:00Z");
  });
});
