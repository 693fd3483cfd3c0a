/** Health kept run by run says what a look at all runs would have said. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { GRAINS, type Grain } from "../../../src/core/endpoint/buckets.js";
import { type EndedRun, endedRunOf, RUN_RESULTS } from "../../../src/core/endpoint/ended-run.js";
import { type Health, healthAt, NO_HEALTH, noteMissing, noteRun, WINDOWS } from "../../../src/core/endpoint/health.js";
import { decodeHealth, encodeHealth } from "../../../src/core/endpoint/health-text.js";
import { percentilesOf, withDuration } from "../../../src/core/endpoint/histogram.js";
import { ABORTED_LATE, type Ending, EXIT_UNSEEN, START_UNCONFIRMED } from "../../../src/core/state/ending.js";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../src/core/time/units.js";

const NOON = Date.parse("2026-03-28T12:00:00Z");

function counted(runs: readonly EndedRun[]): Health {
  return runs.reduce(noteRun, NO_HEALTH);
}

function run(endedAt: number, more: Partial<EndedRun> = {}): EndedRun {
  return { endedAt, result: "success", durationMs: 100, ...more };
}

// --- the same from all runs, without any bucket ---

function indexOf(at: number, { lengthMs }: Grain): number {
  return Math.floor(at / lengthMs);
}

/** Those that no later run has shown to lie in another time. */
function rememberedOf(runs: readonly EndedRun[], grain: Grain): readonly EndedRun[] {
  return runs.filter(({ endedAt }, at) => {
    const later = runs.slice(at + 1);
    return later.every((other) => Math.abs(indexOf(other.endedAt, grain) - indexOf(endedAt, grain)) < grain.keep);
  });
}

function naive(runs: readonly EndedRun[], name: keyof typeof WINDOWS, now: number) {
  const { lengthMs, grain } = WINDOWS[name];
  const fromAt = Math.floor((now - lengthMs) / grain.lengthMs) * grain.lengthMs;
  const untilAt = (indexOf(now, grain) + 1) * grain.lengthMs;
  const within = rememberedOf(runs, grain).filter(({ endedAt }) => endedAt >= fromAt && endedAt < untilAt);
  const successes = within.filter(({ result }) => result === "success").length;
  const cancelled = within.filter(({ result }) => result === "cancelled").length;
  const errors = within.length - successes - cancelled;
  const durations = within
    .flatMap(({ durationMs, result }) => (durationMs === null || result === "cancelled" ? [] : [durationMs]))
    .sort((a, b) => a - b);
  const rank = (share: number): number | null =>
    durations[Math.max(1, Math.ceil(share * durations.length)) - 1] ?? null;
  return {
    fromAt,
    runs: within.length,
    successes,
    errors,
    idle: within.filter(({ result, isIdle }) => result === "success" && isIdle === true).length,
    successRate: successes + errors === 0 ? null : successes / (successes + errors),
    exactP50Ms: rank(0.5),
    exactP95Ms: rank(0.95),
  };
}

function expectNear(actualMs: number | null, exactMs: number | null): void {
  if (exactMs === null || actualMs === null) {
    expect(actualMs).toBe(exactMs);
    return;
  }
  const reachMs = Math.max(1, Math.min(exactMs, 2.5 * HOUR_MS));
  expect(Math.abs(actualMs - reachMs) / reachMs).toBeLessThanOrEqual(0.05);
}

/** Steps between runs: many in a moment, usual ones, gaps of days, and clocks that are set back or far ahead. */
const step = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 900 }) },
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 20 * MINUTE_MS }) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 40 * DAY_MS }) },
  { weight: 1, arbitrary: fc.integer({ min: -3 * HOUR_MS, max: 0 }) },
  { weight: 1, arbitrary: fc.integer({ min: -60 * DAY_MS, max: 0 }) },
);

const ended = fc.record({
  stepMs: step,
  result: fc.constantFrom(...RUN_RESULTS),
  durationMs: fc.option(fc.oneof(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 0, max: 4 * HOUR_MS }))),
  isIdle: fc.boolean(),
});

const history = fc.array(ended, { maxLength: 60 }).map((steps) => {
  let at = NOON;
  return steps.map(({ stepMs, ...rest }): EndedRun => {
    at += stepMs;
    return { ...rest, endedAt: at };
  });
});

describe("health", () => {
  test("property: each window says what a look at all runs would have said", () => {
    fc.assert(
      fc.property(history, step, (runs, sinceMs) => {
        const now = (runs.at(-1)?.endedAt ?? NOON) + sinceMs;
        const { windows } = healthAt(counted(runs), now);
        for (const name of ["1h", "4h", "24h", "30d"] as const) {
          const { p50Ms, p95Ms, ...exact } = windows[name];
          const { exactP50Ms, exactP95Ms, ...expected } = naive(runs, name, now);
          expect(exact).toEqual(expected);
          expectNear(p50Ms, exactP50Ms);
          expectNear(p95Ms, exactP95Ms);
        }
      }),
    );
  });

  test("property: what is written is read as it was, and health that was read is counted on alike", () => {
    fc.assert(
      fc.property(history, history, (runs, more) => {
        const health = counted(runs);
        const read = decodeHealth(encodeHealth(health));
        expect(read).toEqual(health);
        expect(more.reduce(noteRun, read ?? NO_HEALTH)).toEqual(more.reduce(noteRun, health));
      }),
    );
  });

  test("property: the streak is the end of what happened, and cancelled runs have no part in it", () => {
    fc.assert(
      fc.property(history, (runs) => {
        const told = runs.filter(({ result }) => result !== "cancelled").map(({ result }) => result === "success");
        const last = told.at(-1);
        const length = last === undefined ? 0 : told.length - 1 - told.lastIndexOf(!last);
        const { failures, successes } = counted(runs).streak;
        expect([failures, successes]).toEqual(last === true ? [0, length] : [length, 0]);
      }),
    );
  });

  test("without runs there is no rate and no duration, which is not 0", () => {
    const { windows, streak } = healthAt(NO_HEALTH, NOON);
    expect(windows["1h"]).toMatchObject({ runs: 0, successRate: null, p50Ms: null, p95Ms: null });
    expect(streak).toEqual({ failures: 0, successes: 0, sinceAt: null });
  });

  test("a thousand runs in one second are a thousand", () => {
    const runs = Array.from({ length: 1_000 }, (_, at) => run(NOON + at, at % 4 === 0 ? { result: "failure" } : {}));
    const { "1h": hour } = healthAt(counted(runs), NOON + SECOND_MS).windows;
    expect(hour).toMatchObject({ runs: 1_000, successes: 750, errors: 250, successRate: 0.75 });
  });

  test("after a gap of days the short windows are empty and the long one is not", () => {
    const { windows } = healthAt(counted([run(NOON)]), NOON + 3 * DAY_MS);
    expect([windows["1h"].runs, windows["4h"].runs, windows["24h"].runs, windows["30d"].runs]).toEqual([0, 0, 0, 1]);
  });

  test("one run in a wrong year does not keep out those of the right one", () => {
    const health = counted([run(NOON), run(NOON + 4_000 * DAY_MS), run(NOON + MINUTE_MS), run(NOON + 2 * MINUTE_MS)]);
    expect(healthAt(health, NOON + 3 * MINUTE_MS).windows["1h"].runs).toBe(2);
    expect(health.throughAt).toBe(NOON + 2 * MINUTE_MS);
  });

  test("a clock that is set back by an hour: what ended later by it is not told until it has come again", () => {
    const health = counted([run(NOON), run(NOON - HOUR_MS)]);
    expect(healthAt(health, NOON - HOUR_MS).windows["1h"].runs).toBe(1);
    expect(healthAt(health, NOON).windows["1h"].runs).toBe(2);
  });

  test("what it costs to keep does not grow with the number of runs", () => {
    const all = Array.from({ length: 20_000 }, (_, at) => run(NOON + at * 500, { durationMs: (at * 7919) % 100_000 }));
    const [half, whole] = [counted(all.slice(0, 10_000)), counted(all)];
    expect(encodeHealth(whole).length).toBeLessThan(1.5 * encodeHealth(half).length);
    expect(whole.rings.map((ring) => ring.length)).toEqual([15, 3, 1]);
  });

  test("percentiles lie within five per cent, whatever the duration", () => {
    for (let durationMs = 1; durationMs <= 2.5 * HOUR_MS; durationMs = Math.ceil(durationMs * 1.003)) {
      expectNear(percentilesOf([withDuration([], durationMs)], [0.5])[0] ?? null, durationMs);
    }
  });
});

describe("the last errors", () => {
  const failed = (at: number): EndedRun =>
    run(at, { result: "failure", error: { code: "status-500", status: 500, message: `no ${at}` } });

  test("are the newest five, newest first", () => {
    const { lastErrors } = counted(Array.from({ length: 7 }, (_, at) => failed(NOON + at)));
    expect(lastErrors.map(({ at }) => at - NOON)).toEqual([6, 5, 4, 3, 2]);
  });

  test("are one line of at most 200 characters, without what a terminal would obey or half a character", () => {
    const message = `a\u001b[2J\nb\u202e${"x".repeat(191)}\u{1f600}`;
    const { lastErrors } = counted([run(NOON, { result: "failure", error: { code: "c", status: null, message } })]);
    expect(lastErrors[0]?.message).toBe(`a [2J b ${"x".repeat(191)}`);
  });

  test("have the result for a code where nobody knows more", () => {
    expect(counted([run(NOON, { result: "timeout" })]).lastErrors).toEqual([
      { at: NOON, code: "timeout", status: null, message: "" },
    ]);
  });
});

describe("what a crash has kept from being written", () => {
  test("is counted again from the ledger, and nothing twice", () => {
    const runs = Array.from({ length: 40 }, (_, at) => run(NOON + at * MINUTE_MS));
    const written = counted(runs.slice(0, 25));
    expect(noteMissing(written, runs)).toEqual(counted(runs));
  });

  test("after the clock was set back it goes on from there", () => {
    const written = counted([run(NOON), run(NOON - 20 * MINUTE_MS)]);
    expect(written.throughAt).toBe(NOON - 20 * MINUTE_MS);
    expect(noteMissing(written, [run(NOON - 10 * MINUTE_MS)]).streak.successes).toBe(3);
  });

  test("a clock that is put right by seconds takes nothing back", () => {
    expect(counted([run(NOON), run(NOON - 5 * SECOND_MS)]).throughAt).toBe(NOON);
  });
});

describe("a text that nobody has written so is none", () => {
  const text = encodeHealth(
    counted([run(NOON), run(NOON + HOUR_MS, { result: "failure", error: { code: "c", status: 500, message: "a|b" } })]),
  );

  test("the text itself is read", () => {
    expect(decodeHealth(text)?.lastErrors[0]?.message).toBe("a|b");
  });

  test.each([
    ["nothing", ""],
    ["another version", text.replace("h1|", "h2|")],
    ["a field less", text.replace(/^h1\|[^|]*/, "h1")],
    ["leading zeros", text.replace(/^h1\|/, "h1|0")],
    ["capitals", text.toUpperCase().replace("H1", "h1")],
    ["both a streak of failures and of successes", text.replace("|1,0,", "|1,1,")],
    ["a streak without a beginning", text.replace(/\|1,0,[^|]*/, "|1,0,-")],
    ["a bucket without runs", text.replace(/,1,,,,,,/, ",,,,,,,")],
    ["more durations than runs", text.replace(/,1(?=[;|])/, ",2")],
    ["a 0 that is written", text.replace(",,", ",0,")],
    ["more behind it", `${text} `],
    ["other JSON", text.replace(/\[\[.*$/, "{}")],
    ["an error that is too long", text.replace('"a|b"', `"${"x".repeat(201)}"`)],
    ["broken JSON", text.slice(0, -1)],
  ])("%s", (_, other) => {
    expect(other).not.toBe(text);
    expect(decodeHealth(other)).toBeNull();
  });

  test("property: whatever is changed, it is refused or it is what would be written", () => {
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.constantFrom("", "0", "9", "z", ",", ";", "|", "-", '"'), (at, other) => {
        const changed = `${text.slice(0, at)}${other}${text.slice(at + 1)}`;
        const read = decodeHealth(changed);
        if (read !== null) expect(encodeHealth(read)).toBe(changed);
      }),
    );
  });
});

describe("a run as health counts it", () => {
  const timings = { dnsMs: null, connectMs: 1, tlsMs: null, firstByteMs: 2 };
  const exchange = { durationMs: 12, bytes: 2, timings, excerpt: "oh" };
  const answered = (status: number, isExpected: boolean): Ending => {
    return { kind: "answered", status, isExpected, reason: null, ...exchange };
  };
  const failed = (reason: string): Ending => {
    return { kind: "failed", status: null, isSent: true, detail: "reset", reason, ...exchange };
  };

  test.each<[string, Ending, Partial<EndedRun> | null]>([
    ["an answer", answered(200, true), { result: "success", durationMs: 12 }],
    ["an answer that says nothing was to be done", answered(204, true), { result: "success", isIdle: true }],
    [
      "an answer that is no success",
      answered(500, false),
      { result: "failure", error: { code: "status-500", status: 500, message: "oh" } },
    ],
    [
      "no answer",
      failed("connection-lost"),
      { result: "failure", error: { code: "connection-lost", status: null, message: "reset" } },
    ],
    ["a time limit", failed("timeout"), { result: "timeout" }],
    ["cancelled", failed("cancelled"), { result: "cancelled" }],
    ["replaced", { kind: "exited", code: null, signal: "SIGTERM", reason: "replaced" }, { result: "cancelled" }],
    ["exit 0", { kind: "exited", code: 0, signal: null, reason: null }, { result: "success", durationMs: null }],
    [
      "exit 3",
      { kind: "exited", code: 3, signal: null, reason: null },
      { result: "failure", error: { code: "exit-3", status: null, message: "" } },
    ],
    ["S29: unseen", EXIT_UNSEEN, { result: "unknown" }],
    ["S23: perhaps never begun", START_UNCONFIRMED, { result: "unknown" }],
    ["S20: never begun", ABORTED_LATE, null],
  ])("%s", (_, ending, expected) => {
    const counted = endedRunOf(ending, NOON);
    if (expected === null) expect(counted).toBeNull();
    else expect(counted).toMatchObject({ endedAt: NOON, ...expected });
  });
});

test("grains hold what the windows ask for", () => {
  for (const { lengthMs, grain } of Object.values(WINDOWS)) {
    expect(GRAINS).toContain(grain);
    expect(grain.keep).toBeGreaterThan(lengthMs / grain.lengthMs);
  }
});
