/** Quotas let through what a plain count would have let through, however the clock and the limits move. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  boundsUnder,
  hasRoomForEndpoint,
  NO_USE,
  type QuotaLimits,
  type QuotaState,
  reservePlanner,
  settlePlanner,
  shortestIntervalMs,
  takeRun,
} from "../../../src/core/endpoint/quota.js";
import { decodeQuota, encodeQuota } from "../../../src/core/endpoint/quota-text.js";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../src/core/time/units.js";

const NOON = Date.parse("2026-03-28T12:00:00Z");
const UNBOUNDED: QuotaLimits = {
  executionsPerMinute: null,
  executionBurst: 1,
  executionsPerMonth: null,
  plannerCallsPerDay: null,
  plannerTokensPerDay: null,
  endpoints: null,
  minIntervalMs: null,
};

function limits(some: Partial<QuotaLimits>): QuotaLimits {
  return { ...UNBOUNDED, ...some };
}

/** Everything that is let through, of what is asked at these instants. */
function taken(asked: readonly number[], some: Partial<QuotaLimits>): readonly number[] {
  let state: QuotaState = NO_USE;
  return asked.filter((now) => {
    const answer = takeRun(state, limits(some), now);
    if (answer.ok) state = answer.state;
    return answer.ok;
  });
}

const instants = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 90_000 })), { maxLength: 80 })
  .map((steps) => {
    let at = NOON;
    return steps.map((step) => {
      at += step;
      return at;
    });
  });

describe("runs a minute", () => {
  const pace = fc.record({ perMinute: fc.integer({ min: 1, max: 5_000 }), burst: fc.integer({ min: 1, max: 20 }) });

  test("property: a bucket of tokens lets the same through", () => {
    fc.assert(
      fc.property(instants, pace, (asked, { perMinute, burst }) => {
        const apartUs = Math.ceil(60_000_000 / perMinute);
        let creditUs = burst * apartUs;
        let lastAt = NOON;
        const expected = asked.filter((now) => {
          creditUs = Math.min(burst * apartUs, creditUs + (now - lastAt) * 1_000);
          lastAt = now;
          if (creditUs < apartUs) return false;
          creditUs -= apartUs;
          return true;
        });
        expect(taken(asked, { executionsPerMinute: perMinute, executionBurst: burst })).toEqual(expected);
      }),
    );
  });

  test("property: what is refused is let through at the instant that was named, and not before", () => {
    fc.assert(
      fc.property(instants, pace, (asked, { perMinute, burst }) => {
        const some = limits({ executionsPerMinute: perMinute, executionBurst: burst });
        let state: QuotaState = NO_USE;
        for (const now of asked) {
          const answer = takeRun(state, some, now);
          if (answer.ok) {
            state = answer.state;
            continue;
          }
          expect(answer.retryAt).toBeGreaterThan(now);
          expect(takeRun(state, some, answer.retryAt).ok).toBe(true);
          expect(takeRun(state, some, answer.retryAt - 1).ok).toBe(false);
        }
      }),
    );
  });

  test("a clock that is set back by an hour costs a moment, and not an hour", () => {
    const some = limits({ executionsPerMinute: 60, executionBurst: 3 });
    const spent = [0, 0, 0].reduce<QuotaState>((state) => {
      const answer = takeRun(state, some, NOON);
      return answer.ok ? answer.state : state;
    }, NO_USE);
    const again = takeRun(spent, some, NOON - HOUR_MS);
    if (!again.ok) throw new Error("refused");
    const refused = { ok: false, refused: "rate", retryAt: NOON - HOUR_MS + SECOND_MS };
    expect(takeRun(again.state, some, NOON - HOUR_MS)).toEqual(refused);
    expect(takeRun(again.state, some, refused.retryAt).ok).toBe(true);
  });

  test("a clock that is put right by moments gives no run away", () => {
    const some = limits({ executionsPerMinute: 60, executionBurst: 2 });
    const asked = [NOON, NOON - 10, NOON - 20, NOON - 30, NOON + 900, NOON + 960, NOON + 970];
    expect(taken(asked, some)).toEqual([NOON, NOON + 900]);
  });

  test("a limit that is lowered holds from the next run on", () => {
    const wide = takeRun(NO_USE, limits({ executionsPerMinute: 600, executionBurst: 100 }), NOON);
    const state = wide.ok ? wide.state : NO_USE;
    const narrow = limits({ executionsPerMinute: 1, executionBurst: 1 });
    expect(takeRun(state, narrow, NOON)).toEqual({ ok: false, refused: "rate", retryAt: NOON + 100 });
    const next = takeRun(state, narrow, NOON + 100);
    expect(next.ok && takeRun(next.state, narrow, NOON + 100)).toMatchObject({ retryAt: NOON + 100 + MINUTE_MS });
  });
});

describe("runs a month", () => {
  test("property: of each month the first so many are let through", () => {
    const months = fc
      .array(fc.integer({ min: 0, max: 20 * DAY_MS }), { maxLength: 60 })
      .map((steps) => steps.map((_, at) => NOON + steps.slice(0, at + 1).reduce((sum, step) => sum + step, 0)));
    fc.assert(
      fc.property(months, fc.integer({ min: 0, max: 5 }), (asked, most) => {
        const seen = new Map<string, number>();
        const expected = asked.filter((now) => {
          const month = new Date(now).toISOString().slice(0, 7);
          const count = (seen.get(month) ?? 0) + 1;
          seen.set(month, count);
          return count <= most;
        });
        expect(taken(asked, { executionsPerMonth: most })).toEqual(expected);
      }),
    );
  });

  test("the refusal names the first of the next month, in UTC", () => {
    const one = takeRun(NO_USE, limits({ executionsPerMonth: 1 }), Date.parse("2026-12-31T23:59:59.999Z"));
    expect(one.ok && takeRun(one.state, limits({ executionsPerMonth: 1 }), NOON + 278 * DAY_MS)).toEqual({
      ok: false,
      refused: "month",
      retryAt: Date.parse("2027-01-01T00:00:00Z"),
    });
  });

  test("a clock that is set back across the end of a month opens no old month", () => {
    const [first, before] = [Date.parse("2026-04-01T00:10:00Z"), Date.parse("2026-03-31T23:50:00Z")];
    expect(taken([first, first, before, first], { executionsPerMonth: 2 })).toEqual([first, first]);
  });

  test("a clock that was years ahead does not keep its month", () => {
    const far = Date.parse("2031-04-01T00:10:00Z");
    expect(taken([far, NOON, NOON], { executionsPerMonth: 1 })).toEqual([far, NOON]);
  });

  test("a refusal uses up nothing of the other bound", () => {
    const some = limits({ executionsPerMinute: 1, executionBurst: 1, executionsPerMonth: 2 });
    const one = takeRun(NO_USE, some, NOON);
    expect(one.ok && takeRun(one.state, some, NOON)).toMatchObject({ refused: "rate" });
    expect(taken([NOON, NOON, NOON, NOON + MINUTE_MS, NOON + HOUR_MS], some)).toEqual([NOON, NOON + MINUTE_MS]);
  });
});

describe("the planner's calls and tokens", () => {
  const some = limits({ plannerCallsPerDay: 3, plannerTokensPerDay: 1_000 });

  test("what was reserved and not used is given back, what was used beyond it counts", () => {
    const first = reservePlanner(NO_USE, some, 900, NOON);
    if (!first.ok) throw new Error("refused");
    expect(reservePlanner(first.state, some, 200, NOON)).toMatchObject({ refused: "planner_tokens" });
    const settled = settlePlanner(first.state, first.reservation, 100);
    expect(settled).toMatchObject({ plannerCalls: 1, plannerTokens: 100 });
    expect(settlePlanner(first.state, first.reservation, 1_200).plannerTokens).toBe(1_200);
    expect(reservePlanner(settled, some, 900, NOON).ok).toBe(true);
  });

  test("calls are bounded too, until the next day in UTC", () => {
    let state: QuotaState = NO_USE;
    for (let call = 0; call < 3; call++) {
      const answer = reservePlanner(state, some, 1, NOON);
      if (answer.ok) state = answer.state;
    }
    const midnight = Date.parse("2026-03-29T00:00:00Z");
    expect(reservePlanner(state, some, 1, NOON)).toEqual({ ok: false, refused: "planner_calls", retryAt: midnight });
    expect(reservePlanner(state, some, 1, midnight)).toMatchObject({ ok: true, state: { plannerCalls: 1 } });
  });

  test("what is settled on the next day changes nothing of it", () => {
    const first = reservePlanner(NO_USE, some, 500, NOON);
    if (!first.ok) throw new Error("refused");
    const next = reservePlanner(first.state, some, 10, NOON + DAY_MS);
    if (!next.ok) throw new Error("refused");
    expect(settlePlanner(next.state, first.reservation, 400)).toEqual(next.state);
  });

  test("property: never more is reserved on a day than it has, and what is settled is what was used", () => {
    const call = fc.record({
      tokens: fc.integer({ min: 0, max: 500 }),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    fc.assert(
      fc.property(fc.array(call, { maxLength: 30 }), (calls) => {
        let state: QuotaState = NO_USE;
        let used = 0;
        for (const { tokens, share } of calls) {
          const answer = reservePlanner(state, some, tokens, NOON);
          expect(answer.ok).toBe(used + tokens <= 1_000 && (state.day === 0 ? 0 : state.plannerCalls) < 3);
          if (!answer.ok) continue;
          used += Math.floor(tokens * share);
          state = settlePlanner(answer.state, answer.reservation, Math.floor(tokens * share));
          expect(state.plannerTokens).toBe(used);
        }
      }),
    );
  });
});

test("endpoints are counted, and the stricter of two intervals holds", () => {
  expect([hasRoomForEndpoint(limits({ endpoints: 2 }), 1), hasRoomForEndpoint(limits({ endpoints: 2 }), 2)]).toEqual([
    true,
    false,
  ]);
  expect(hasRoomForEndpoint(UNBOUNDED, 1_000_000)).toBe(true);
  expect(shortestIntervalMs(limits({ minIntervalMs: 60_000 }), 5_000)).toBe(60_000);
  expect(shortestIntervalMs(limits({ minIntervalMs: 60_000 }), null)).toBe(60_000);
  expect(shortestIntervalMs(UNBOUNDED, 5_000)).toBe(5_000);
  expect(shortestIntervalMs(UNBOUNDED, null)).toBeNull();
  const own = { minIntervalMs: 5_000, maxIntervalMs: 30_000 };
  expect(boundsUnder(UNBOUNDED, own)).toEqual(own);
  expect(boundsUnder(limits({ minIntervalMs: 10_000 }), own)).toEqual({ minIntervalMs: 10_000, maxIntervalMs: 30_000 });
  // Where they cannot both hold, that of the tenant does.
  expect(boundsUnder(limits({ minIntervalMs: 60_000 }), own)).toEqual({ minIntervalMs: 60_000, maxIntervalMs: 60_000 });
  expect(
    boundsUnder(limits({ minIntervalMs: 1 }), { minIntervalMs: null, maxIntervalMs: null }).minIntervalMs,
  ).toBeNull();
});

describe("as it is stored", () => {
  const count = fc.integer({ min: 0, max: 2 ** 40 });
  const state = fc.record({
    dueUs: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
    month: count,
    executions: count,
    day: count,
    plannerCalls: count,
    plannerTokens: count,
  });

  test("property: it is read as it was written", () => {
    fc.assert(
      fc.property(state, (used) => {
        expect(decodeQuota(encodeQuota(used))).toEqual(used);
      }),
    );
  });

  test.each([
    "",
    "q1",
    "q2|0|0|0|0|0|0",
    "q1|0|0|0|0|0",
    "q1|0|0|0|0|0|0|0",
    "q1|00|0|0|0|0|0",
    "q1|-1|0|0|0|0|0",
    "q1|Z|0|0|0|0|0",
  ])("%j is none", (text) => expect(decodeQuota(text)).toBeNull());
});
