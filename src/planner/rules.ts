/**
 * The planner that there is when nobody names another: a few rules, in a fixed order, from the endpoint's own health and
 * nothing else. The same situation gives the same session. Without evidence there is no proposal, and what a person or
 * another planner has said is left alone.
 */

import { LIMITS } from "../core/base/limits.js";
import type { HealthWindow } from "../core/endpoint/health.js";
import { formatDuration } from "../core/time/duration.js";
import { MINUTE_MS } from "../core/time/instant.js";
import { PLANNER_LIMITS } from "./limits.js";
import type { IntervalInForce, Proposal, Situation } from "./model.js";
import type { Planner } from "./port.js";
import { judge } from "./proposal.js";
import { inputsHashOf, NO_TOKENS, nextAnalysisAt, type Outcome, type Session, type SessionCall } from "./session.js";

/** Every number of the rules. */
const RULE_NUMBERS = {
  /** Failures in a row, and how many times slower. Strongest first. */
  streakSteps: [
    { failures: 24, factor: 16 },
    { failures: 12, factor: 8 },
    { failures: 6, factor: 4 },
    { failures: 3, factor: 2 },
  ],
  /** Beyond this many failures in a row it is no burst any more. */
  burstStreak: 12,
  burstErrors: 3,
  burstSuccessRate: 0.8,
  /** Of the errors of a day, so much lies in the last hour. */
  burstShare: 0.5,
  burstFactor: 1 / 4,
  latencySteps: [
    { times: 4, factor: 4 },
    { times: 2, factor: 2 },
  ],
  latencyRiseMs: 100,
  latencyRuns: 5,
  latencyDayRuns: 20,
  latencyGoneTimes: 1.5,
  /** All runs of a window were idle, and there were so many. */
  idleSteps: [
    { window: "24h", runs: 24, factor: 4 },
    { window: "4h", runs: 10, factor: 2 },
  ],
  recoverySuccesses: 2,
  /** What is left of it after the first success. */
  recoveringFactor: 2,
  leastTtlMinutes: 30,
  /** A slower interval holds for so many of itself. */
  ttlIntervals: 3,
} as const;
const N = RULE_NUMBERS;

export const RULE_NAMES = ["error-burst", "failure-streak", "latency-growth", "idle", "recovery"] as const;
type RuleName = (typeof RULE_NAMES)[number];

interface Wish {
  readonly rule: RuleName;
  /** Of the baseline's interval. */
  readonly factor: number;
  readonly why: string;
}

type Finding = { readonly proposal: Proposal; readonly rule: RuleName } | { readonly nothing: string };

/** What the rules say. Pure: the same for whoever asks. */
export function rulesFor(situation: Situation): Session {
  const found = findingOf(situation);
  const verdict = "nothing" in found ? null : judge(found.proposal, situation, []);
  const call = "nothing" in found || verdict === null ? null : callOf(found.rule, found.proposal, verdict.ok);
  const outcome: Outcome =
    "nothing" in found
      ? { code: "nothing", message: found.nothing }
      : verdict?.ok === true
        ? { code: "proposed", message: found.proposal.reason }
        : { code: "nothing", message: verdict?.message ?? "" };
  return {
    endpoint: situation.endpoint.id,
    startedAt: situation.now,
    inputsHash: inputsHashOf(situation),
    kind: "rules",
    calls: call === null ? [] : [call],
    tokens: NO_TOKENS,
    durationMs: 0,
    proposals: verdict?.ok === true ? [verdict.proposal] : [],
    outcome,
    nextAnalysisAt: nextAnalysisAt(situation),
  };
}

export const RULES_PLANNER: Planner = { propose: async (situation) => rulesFor(situation) };

function callOf(rule: RuleName, proposal: Proposal, isAccepted: boolean): SessionCall {
  return { name: rule, arguments: "", result: isAccepted ? "accepted" : "refused", message: proposal.reason };
}

function findingOf(situation: Situation): Finding {
  const { endpoint } = situation;
  const { interval, oneshot } = endpoint.hints;
  const baselineMs = endpoint.baseline.intervalMs;
  if (baselineMs === null) return { nothing: "nobody can say how often its schedule runs it" };
  if (endpoint.pausedUntil !== null) return { nothing: "it is paused" };
  if (oneshot !== null) return { nothing: "a run at an instant is hinted" };
  if (interval !== null && ruleBehind(interval) === null)
    return { nothing: "a hint that no rule has made is in force" };
  const wish = wishOf(situation);
  if (wish !== null) return intervalFor(wish, baselineMs, situation);
  return interval === null
    ? { nothing: "nothing speaks for another interval" }
    : recovery(interval, baselineMs, situation);
}

/** The rule that a hint in force comes from; null: somebody else has made it. */
function ruleBehind({ by, reason }: IntervalInForce): RuleName | null {
  if (by === "person") return null;
  return RULE_NAMES.find((rule) => reason.startsWith(`${rule}:`)) ?? null;
}

/** The first rule that applies. */
function wishOf(situation: Situation): Wish | null {
  return errorBurst(situation) ?? failureStreak(situation) ?? latencyGrowth(situation) ?? idleness(situation);
}

function errorBurst({ endpoint, health }: Situation): Wish | null {
  const { "1h": hour, "24h": day } = health.windows;
  const isBurst =
    hour.errors >= N.burstErrors &&
    hour.successRate !== null &&
    hour.successRate <= N.burstSuccessRate &&
    hour.errors >= N.burstShare * day.errors &&
    health.streak.failures < N.burstStreak;
  if (!(endpoint.fasterOnErrors && isBurst)) return null;
  return { rule: "error-burst", factor: N.burstFactor, why: `${hour.errors} of ${hour.runs} runs of an hour failed` };
}

function failureStreak({ health }: Situation): Wish | null {
  const { failures } = health.streak;
  const step = N.streakSteps.find((it) => failures >= it.failures);
  return step === undefined
    ? null
    : { rule: "failure-streak", factor: step.factor, why: `${failures} failures in a row` };
}

function latencyGrowth({ health }: Situation): Wish | null {
  const { "1h": hour, "24h": day } = health.windows;
  if (hour.runs < N.latencyRuns || day.runs < N.latencyDayRuns) return null;
  const [nowMs, usualMs] = [hour.p50Ms, day.p50Ms];
  if (nowMs === null || usualMs === null || nowMs - usualMs < N.latencyRiseMs) return null;
  const step = N.latencySteps.find(({ times }) => nowMs >= times * usualMs);
  if (step === undefined) return null;
  const why = `half of the runs take ${Math.round(nowMs)} ms or more, ${Math.round(usualMs)} ms over a day`;
  return { rule: "latency-growth", factor: step.factor, why };
}

function idleness({ health }: Situation): Wish | null {
  const isIdle = (window: HealthWindow, runs: number): boolean => window.runs >= runs && window.idle === window.runs;
  const step = N.idleSteps.find(({ window, runs }) => isIdle(health.windows[window], runs));
  if (step === undefined) return null;
  const { idle } = health.windows[step.window];
  return { rule: "idle", factor: step.factor, why: `all ${idle} runs of ${step.window} had nothing to do` };
}

function intervalFor({ rule, factor, why }: Wish, baselineMs: number, situation: Situation): Finding {
  const { endpoint } = situation;
  const intervalMs = bounded(Math.round(baselineMs * factor), situation);
  if (intervalMs === bounded(baselineMs, situation)) return { nothing: `${rule}: ${why}; its bounds leave no room` };
  const { interval } = endpoint.hints;
  const holds = interval !== null && interval.intervalMs === intervalMs;
  // Renewed only when it would end before anybody looks again.
  if (holds && interval.expiresAt > nextAnalysisAt(situation)) return { nothing: `${rule}: ${why}; that is in force` };
  return { rule, proposal: hint(rule, intervalMs, why) };
}

function bounded(intervalMs: number, { endpoint }: Situation): number {
  const { min, max } = LIMITS.intervalMs;
  const belowMs = Math.min(intervalMs, endpoint.maxIntervalMs ?? max, max);
  return Math.max(belowMs, endpoint.minIntervalMs ?? min, min);
}

function hint(rule: RuleName, intervalMs: number, why: string): Proposal {
  const minutes = Math.ceil((N.ttlIntervals * intervalMs) / MINUTE_MS);
  const ttlMinutes = Math.min(Math.max(minutes, N.leastTtlMinutes), PLANNER_LIMITS.ttlMinutes);
  return { type: "interval", intervalMs, ttlMinutes, reason: `${rule}: ${why}` };
}

/** Only what speaks against the hint in force gives back what it took; that nothing speaks for it any more does not. */
function recovery(interval: IntervalInForce, baselineMs: number, situation: Situation): Finding {
  const behind = ruleBehind(interval);
  const clear = (why: string): Finding => {
    return { rule: "recovery", proposal: { type: "clear", kind: "interval", reason: `recovery: ${why}` } };
  };
  const { windows, streak } = situation.health;
  const { "1h": hour, "24h": day } = windows;
  if (behind === "idle") {
    return hour.successes > hour.idle ? clear("it has something to do again") : { nothing: "nothing to do since" };
  }
  if (behind === "latency-growth") {
    const [nowMs, usualMs] = [hour.p50Ms, day.p50Ms];
    const isOver = nowMs !== null && usualMs !== null && nowMs < N.latencyGoneTimes * usualMs;
    return isOver
      ? clear("it takes as long as usual again")
      : { nothing: "it is not told yet whether it is faster again" };
  }
  if (streak.successes >= N.recoverySuccesses) return clear(`${streak.successes} successes in a row`);
  const partMs = bounded(baselineMs * N.recoveringFactor, situation);
  if (streak.successes === 0 || interval.intervalMs <= partMs) return { nothing: "no second success yet" };
  return { rule: "recovery", proposal: hint("recovery", partMs, "the first success") };
}

interface RuleRow {
  readonly rule: RuleName;
  readonly when: string;
  readonly effect: string;
}

/** The rules as people read them, from the same numbers, in the order in which they are asked. */
export function ruleRows(): readonly RuleRow[] {
  const streaks = [...N.streakSteps].reverse().map(({ failures, factor }) => `${failures} (×${factor})`);
  const latency = N.latencySteps.map(({ times, factor }) => `${times} times (×${factor})`).reverse();
  const idle = N.idleSteps.map(({ window, runs, factor }) => `${runs} of ${window} (×${factor})`).reverse();
  const rise = formatDuration(N.latencyRiseMs);
  return [
    {
      rule: "error-burst",
      when: `\`fasterOnErrors\`; in 1h at least ${N.burstErrors} errors, at most ${N.burstSuccessRate * 100} % success and ${N.burstShare * 100} % of a day's errors; fewer than ${N.burstStreak} failures in a row`,
      effect: `baseline × ${N.burstFactor}`,
    },
    { rule: "failure-streak", when: `failures in a row: ${streaks.join(", ")}`, effect: "baseline × the factor" },
    {
      rule: "latency-growth",
      when: `the median of 1h is that of 24h ${latency.join(", ")}, and ${rise} more; at least ${N.latencyRuns} runs in 1h and ${N.latencyDayRuns} in 24h`,
      effect: "baseline × the factor",
    },
    { rule: "idle", when: `all runs answered 204 or 304: ${idle.join(", ")}`, effect: "baseline × the factor" },
    {
      rule: "recovery",
      when: `a hint of these rules is in force, none of them applies, and against it speaks: ${N.recoverySuccesses} successes in a row; a median below ${N.latencyGoneTimes} times that of 24h; a run with something to do`,
      effect: `clear; after the first success of a streak baseline × ${N.recoveringFactor}`,
    },
  ];
}
