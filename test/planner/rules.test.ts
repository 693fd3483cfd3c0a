/** What the rules propose, case by case, and that they propose nothing without evidence. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RUN_RESULTS } from "../../src/core/endpoint/ended-run.js";
import { healthAt, NO_HEALTH, noteRun } from "../../src/core/endpoint/health.js";
import { HOUR_MS, MINUTE_MS } from "../../src/core/time/instant.js";
import { TenantBudget } from "../../src/planner/budget.js";
import type { EndpointSituation, IntervalInForce, Proposal, Situation } from "../../src/planner/model.js";
import { judge } from "../../src/planner/proposal.js";
import { RULES_PLANNER, rulesFor } from "../../src/planner/rules.js";
import { BASELINE_MS, endingWith, NOW, planned, situation, steady } from "./situations.js";

const DAY = steady(24 * HOUR_MS);
const slowHour = (durationMs: number) => DAY.map((run, at) => (at >= DAY.length - 12 ? { ...run, durationMs } : run));
const IDLE_DAY = steady(24 * HOUR_MS, { isIdle: true });
const OF_PERSON: Partial<EndpointSituation> = {
  hints: {
    interval: { intervalMs: 60_000, expiresAt: NOW + HOUR_MS, by: "person", reason: "" },
    oneshot: null,
  },
};

function interval(minutes: number, ttlMinutes: number, rule: string) {
  return { type: "interval", intervalMs: minutes * MINUTE_MS, ttlMinutes, reason: expect.stringMatching(`^${rule}: `) };
}

const CLEAR = { type: "clear", kind: "interval", reason: expect.stringMatching("^recovery: ") };

type Row = readonly [title: string, situation: Situation, proposal: object | null];

describe("rules that apply", () => {
  test.each<Row>([
    ["2 failures in a row", situation({}, endingWith(DAY, 2, "failure")), null],
    [
      "3 failures in a row: twice as slow",
      situation({}, endingWith(DAY, 3, "failure")),
      interval(10, 30, "failure-streak"),
    ],
    ["6 timeouts in a row", situation({}, endingWith(DAY, 6, "timeout")), interval(20, 60, "failure-streak")],
    ["12 ends that nobody saw", situation({}, endingWith(DAY, 12, "unknown")), interval(40, 120, "failure-streak")],
    ["24 failures in a row", situation({}, endingWith(DAY, 24, "failure")), interval(80, 240, "failure-streak")],
    ["10 cancelled runs say nothing", situation({}, endingWith(DAY, 10, "cancelled")), null],
    [
      "never slower than maxIntervalMs",
      situation({ maxIntervalMs: 15 * MINUTE_MS }, endingWith(DAY, 24, "failure")),
      interval(15, 45, "failure-streak"),
    ],
    ["maxIntervalMs leaves no room", situation({ maxIntervalMs: BASELINE_MS }, endingWith(DAY, 24, "failure")), null],
    [
      "asked for: 3 errors are a burst",
      situation({ fasterOnErrors: true }, endingWith(DAY, 3, "failure")),
      interval(1.25, 30, "error-burst"),
    ],
    [
      "asked for, but never faster than minIntervalMs",
      situation({ fasterOnErrors: true, minIntervalMs: 2 * MINUTE_MS }, endingWith(DAY, 3, "failure")),
      interval(2, 30, "error-burst"),
    ],
    [
      "asked for, but 12 in a row are no burst any more",
      situation({ fasterOnErrors: true }, endingWith(DAY, 12, "failure")),
      interval(40, 120, "failure-streak"),
    ],
    [
      "asked for, but so it was all day",
      situation(
        { fasterOnErrors: true },
        DAY.map((run, at) => (at % 3 === 0 ? { ...run, result: "failure" as const } : run)),
      ),
      null,
    ],
    ["twice as long as over a day", situation({}, slowHour(420)), interval(10, 30, "latency-growth")],
    ["four times as long", situation({}, slowHour(900)), interval(20, 60, "latency-growth")],
    ["somewhat longer", situation({}, slowHour(300)), null],
    [
      "twice as long, but by milliseconds",
      situation(
        {},
        DAY.map((run, at) => ({ ...run, durationMs: at >= DAY.length - 12 ? 60 : 20 })),
      ),
      null,
    ],
    [
      "some hours of nothing to do",
      situation(
        {},
        DAY.map((run, at) => ({ ...run, isIdle: at >= DAY.length - 60 })),
      ),
      interval(10, 30, "idle"),
    ],
    ["a day of nothing to do", situation({}, IDLE_DAY), interval(20, 60, "idle")],
    [
      "one run with something to do",
      situation(
        {},
        IDLE_DAY.map((run, at) => ({ ...run, isIdle: at !== 250 })),
      ),
      null,
    ],
  ])("%s", (_, about, proposal) => {
    const { proposals, outcome, kind, calls } = rulesFor(about);
    expect(proposals).toEqual(proposal === null ? [] : [proposal]);
    expect([kind, outcome.code, calls.length]).toEqual(
      proposal === null ? ["rules", "nothing", 0] : ["rules", "proposed", 1],
    );
  });
});

describe("recovery gives back what a rule has taken", () => {
  const slow = planned(40 * MINUTE_MS, "failure-streak: 12 failures in a row");
  const since = (successes: number) => [
    ...endingWith(DAY.slice(0, -successes || undefined), 12, "failure"),
    ...DAY.slice(-successes || DAY.length),
  ];

  test.each<Row>([
    ["still failing, and the hint holds for long", situation(slow, endingWith(DAY, 12, "failure")), null],
    [
      "still failing, and the hint ends before anybody looks again",
      situation(planned(40 * MINUTE_MS, "failure-streak: 12", 10 * MINUTE_MS), endingWith(DAY, 12, "failure")),
      interval(40, 120, "failure-streak"),
    ],
    ["the first success: a part", situation(slow, since(1)), interval(10, 30, "recovery")],
    [
      "the first success, when that part is what holds",
      situation(planned(10 * MINUTE_MS, "failure-streak: 3"), since(1)),
      null,
    ],
    ["the second success: all", situation(slow, since(2)), CLEAR],
    ["what recovery left is given back too", situation(planned(10 * MINUTE_MS, "recovery: first"), since(2)), CLEAR],
    ["latency as usual", situation(planned(10 * MINUTE_MS, "latency-growth: x"), DAY), CLEAR],
    ["latency somewhere between", situation(planned(10 * MINUTE_MS, "latency-growth: x"), slowHour(330)), null],
    ["idle, and too few runs to say it anew", situation(planned(10 * MINUTE_MS, "idle: x"), IDLE_DAY.slice(-3)), null],
    [
      "something to do again",
      situation(planned(10 * MINUTE_MS, "idle: x"), [...IDLE_DAY.slice(0, -1), ...DAY.slice(-1)]),
      CLEAR,
    ],
  ])("%s", (_, about, proposal) => {
    expect(rulesFor(about).proposals).toEqual(proposal === null ? [] : [proposal]);
  });
});

describe("what rules leave alone", () => {
  const failing = endingWith(DAY, 24, "failure");

  test.each<readonly [string, Situation, string]>([
    ["a person's hint", situation(OF_PERSON, failing), "a hint that no rule has made is in force"],
    [
      "another planner's hint",
      situation(planned(60_000, "deployment"), failing),
      "a hint that no rule has made is in force",
    ],
    [
      "a person who writes like a rule",
      situation(
        {
          hints: {
            interval: { intervalMs: 1_000, expiresAt: NOW + 1, by: "person", reason: "idle: x" },
            oneshot: null,
          },
        },
        DAY,
      ),
      "a hint that no rule has made is in force",
    ],
    [
      "a run at an instant",
      situation(
        { hints: { interval: null, oneshot: { nextRunAt: NOW + 1, expiresAt: NOW + 2, by: "planner", reason: "" } } },
        failing,
      ),
      "a run at an instant is hinted",
    ],
    ["a pause", situation({ pausedUntil: { until: NOW + 1, by: "planner", reason: "" } }, failing), "it is paused"],
    [
      "a schedule without a usual interval",
      situation({ baseline: { text: "0 9 1 * *", intervalMs: null } }, failing),
      "nobody can say how often its schedule runs it",
    ],
    ["an endpoint that has never run", situation({}, []), "nothing speaks for another interval"],
  ])("%s", (_, about, message) => {
    expect(rulesFor(about)).toMatchObject({ proposals: [], outcome: { code: "nothing", message } });
  });
});

const run = fc.record({
  endedAt: fc.integer({ min: NOW - 26 * HOUR_MS, max: NOW }),
  result: fc.constantFrom(...RUN_RESULTS),
  durationMs: fc.option(fc.integer({ min: 0, max: 60_000 })),
  isIdle: fc.boolean(),
});

test("property: whatever the runs, there is at most one proposal, within all bounds, and faster only when asked", async () => {
  const endpoint = fc.record({
    intervalMs: fc.integer({ min: 1_000, max: 24 * HOUR_MS }),
    minIntervalMs: fc.option(fc.integer({ min: 1_000, max: HOUR_MS })),
    maxIntervalMs: fc.option(fc.integer({ min: HOUR_MS, max: 48 * HOUR_MS })),
    fasterOnErrors: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(run, { maxLength: 60 }), endpoint, async (runs, { intervalMs, ...bounds }) => {
      const sorted = [...runs].sort((a, b) => a.endedAt - b.endedAt);
      const about = situation({ ...bounds, baseline: { text: "x", intervalMs } }, sorted);
      const session = rulesFor(about);
      const budget = new TenantBudget({ plannerCallsPerDay: 0, plannerTokensPerDay: 0 });
      expect(await RULES_PLANNER.propose(about, { signal: new AbortController().signal, budget })).toEqual(session);
      const [proposal, ...more] = session.proposals;
      expect(more).toEqual([]);
      if (proposal?.type !== "interval") return;
      expect(judge(proposal, about, [])).toEqual({ ok: true, proposal, clamped: null });
      const least = Math.max(intervalMs, bounds.minIntervalMs ?? 0);
      if (!bounds.fasterOnErrors)
        expect(proposal.intervalMs).toBeGreaterThanOrEqual(Math.min(least, bounds.maxIntervalMs ?? least));
      expect(runs.length).toBeGreaterThanOrEqual(3);
    }),
  );
});

test("looked at after each run: a hint comes with the third failure, and is gone after the second success", () => {
  const [failingFrom, wellFrom] = [100, 160];
  const runs = DAY.map((run, at) =>
    at >= failingFrom && at < wellFrom ? { ...run, result: "failure" as const } : run,
  );
  let hint: IntervalInForce | null = null;
  const hinted: (number | null)[] = runs.map((last, at) => {
    const now: number = last.endedAt;
    const present: IntervalInForce | null = hint !== null && hint.expiresAt > now ? hint : null;
    const seen = situation({ hints: { interval: present, oneshot: null } }, runs.slice(0, at + 1));
    const [proposal] = rulesFor({
      ...seen,
      now,
      health: healthAt(runs.slice(0, at + 1).reduce(noteRun, NO_HEALTH), now),
    }).proposals;
    hint = proposal === undefined ? present : proposal.type === "interval" ? inForce(proposal, now) : null;
    return hint === null ? null : hint.intervalMs / BASELINE_MS;
  });
  const steps = hinted.flatMap((factor, at) => (factor === (hinted[at - 1] ?? null) ? [] : [[at, factor]]));
  expect(steps).toEqual([
    [failingFrom + 2, 2],
    [failingFrom + 5, 4],
    [failingFrom + 11, 8],
    [failingFrom + 23, 16],
    [wellFrom, 2],
    [wellFrom + 1, null],
  ]);
});

function inForce(
  { intervalMs, ttlMinutes, reason }: Extract<Proposal, { type: "interval" }>,
  now: number,
): IntervalInForce {
  return { intervalMs, expiresAt: now + ttlMinutes * MINUTE_MS, by: "planner", reason };
}
