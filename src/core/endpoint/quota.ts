/**
 * How much a tenant may ask for: runs a minute and a month, calls and tokens of the planner a day. Each question is asked
 * before what it is about is begun, costs the same however much was used, and a refusal changes nothing.
 */
import { LIMITS } from "../base/limits.js";
import { RUN_AHEAD_MS } from "../period/policy.js";
import { DAY_MS, type EpochMs, MINUTE_MS } from "../time/units.js";

/** null: without bound. */
export interface QuotaLimits {
  /** As a pace: so many a minute, evenly, of which `executionBurst` may come at once. At least 1 each. */
  readonly executionsPerMinute: number | null;
  readonly executionBurst: number;
  /** Of the calendar, in UTC. */
  readonly executionsPerMonth: number | null;
  /** Of the calendar, in UTC. */
  readonly plannerCallsPerDay: number | null;
  readonly plannerTokensPerDay: number | null;
  readonly endpoints: number | null;
  /** No endpoint runs more often, whatever its schedule or a hint says. */
  readonly minIntervalMs: number | null;
}

export interface QuotaState {
  /** GCRA: when the next run would be due if they came evenly, in microseconds since 1970. */
  readonly dueUs: number;
  /** Months since the year 0, and runs in that month. */
  readonly month: number;
  readonly executions: number;
  /** Days since 1970, and what the planner used on that day, what is reserved included. */
  readonly day: number;
  readonly plannerCalls: number;
  readonly plannerTokens: number;
}

export const NO_USE: QuotaState = Object.freeze({
  dueUs: 0,
  month: 0,
  executions: 0,
  day: 0,
  plannerCalls: 0,
  plannerTokens: 0,
});

type RefusedQuota = "rate" | "month" | "planner_calls" | "planner_tokens";

export interface QuotaRefusal {
  readonly ok: false;
  readonly refused: RefusedQuota;
  /** Not before this instant: it may be refused again, for what others of the tenant have used by then. */
  readonly retryAt: EpochMs;
}

type Taken = { readonly ok: true; readonly state: QuotaState } | QuotaRefusal;

const US_PER_MS = 1_000;
const US_PER_MINUTE = MINUTE_MS * US_PER_MS;
const MONTHS_PER_YEAR = 12;

/** One run, to be begun now. */
export function takeRun(state: QuotaState, limits: QuotaLimits, now: EpochMs): Taken {
  const month = periodOf(monthOf(now), state.month);
  const executions = month === state.month ? state.executions : 0;
  if (limits.executionsPerMonth !== null && executions >= limits.executionsPerMonth) {
    return { ok: false, refused: "month", retryAt: startOfMonth(month + 1) };
  }
  const paced = pace(state.dueUs, limits, now);
  if (!paced.ok) return { ok: false, refused: "rate", retryAt: paced.retryAt };
  return { ok: true, state: { ...state, dueUs: paced.dueUs, month, executions: executions + 1 } };
}

type Paced = { readonly ok: true; readonly dueUs: number } | { readonly ok: false; readonly retryAt: EpochMs };

/**
 * GCRA, S14: ahead of an even pace by no more than the burst. No honest clock is further ahead: then it was set back, and what
 * it has dated is taken for a burst that is all but used up. It has to be more than clocks are put right by, or each time
 * would give a run away.
 */
function pace(storedDueUs: number, { executionsPerMinute, executionBurst }: QuotaLimits, now: EpochMs): Paced {
  if (executionsPerMinute === null) return { ok: true, dueUs: storedDueUs };
  const nowUs = now * US_PER_MS;
  const apartUs = Math.ceil(US_PER_MINUTE / executionsPerMinute);
  const aheadUs = (executionBurst - 1) * apartUs;
  const wasSetBack = storedDueUs > nowUs + aheadUs + apartUs + RUN_AHEAD_MS * US_PER_MS;
  const dueUs = wasSetBack ? nowUs + aheadUs : Math.max(storedDueUs, nowUs);
  if (dueUs - nowUs <= aheadUs) return { ok: true, dueUs: dueUs + apartUs };
  return { ok: false, retryAt: Math.ceil((dueUs - aheadUs) / US_PER_MS) };
}

/** What one session of the planner has been promised; it is owed until it is settled. */
export interface PlannerReservation {
  readonly day: number;
  readonly tokens: number;
}

type Reserved =
  | { readonly ok: true; readonly state: QuotaState; readonly reservation: PlannerReservation }
  | QuotaRefusal;

/** One call of a planner that may use so many tokens. What was never settled stays used: rather too much than too little. */
export function reservePlanner(state: QuotaState, limits: QuotaLimits, tokens: number, now: EpochMs): Reserved {
  const day = periodOf(Math.floor(now / DAY_MS), state.day);
  const isSame = day === state.day;
  const plannerCalls = (isSame ? state.plannerCalls : 0) + 1;
  const plannerTokens = (isSame ? state.plannerTokens : 0) + tokens;
  const retryAt = (day + 1) * DAY_MS;
  if (limits.plannerCallsPerDay !== null && plannerCalls > limits.plannerCallsPerDay) {
    return { ok: false, refused: "planner_calls", retryAt };
  }
  if (limits.plannerTokensPerDay !== null && plannerTokens > limits.plannerTokensPerDay) {
    return { ok: false, refused: "planner_tokens", retryAt };
  }
  return { ok: true, state: { ...state, day, plannerCalls, plannerTokens }, reservation: { day, tokens } };
}

/** What it used in truth, more than was reserved included. A day that is over is not looked at again. */
export function settlePlanner(state: QuotaState, { day, tokens }: PlannerReservation, usedTokens: number): QuotaState {
  if (day !== state.day) return state;
  return { ...state, plannerTokens: Math.max(0, state.plannerTokens - tokens + usedTokens) };
}

export function hasRoomForEndpoint({ endpoints }: QuotaLimits, present: number): boolean {
  return endpoints === null || present < endpoints;
}

/** The shortest interval that holds for an endpoint: its own bound, and its tenant's. */
export function shortestIntervalMs(
  { minIntervalMs }: Pick<QuotaLimits, "minIntervalMs">,
  ownMs: number | null,
): number | null {
  if (minIntervalMs === null || ownMs === null) return minIntervalMs ?? ownMs;
  return Math.max(minIntervalMs, ownMs);
}

interface PaceBounds {
  readonly minIntervalMs: number | null;
  readonly maxIntervalMs: number | null;
}

/** What holds for the pace of an endpoint: its tenant's bound also where its own say otherwise. */
export function boundsUnder(
  { minIntervalMs: tenantsMs }: Pick<QuotaLimits, "minIntervalMs">,
  own: PaceBounds,
): PaceBounds {
  // Nothing runs more often than that anyway.
  if (tenantsMs === null || tenantsMs < LIMITS.intervalMs.min) return own;
  return {
    minIntervalMs: shortestIntervalMs({ minIntervalMs: tenantsMs }, own.minIntervalMs),
    maxIntervalMs: own.maxIntervalMs === null ? null : Math.max(own.maxIntervalMs, tenantsMs),
  };
}

/** A clock that is set back across midnight does not open the old period anew; one that was years ahead is not believed. */
function periodOf(present: number, stored: number): number {
  return stored === present + 1 ? stored : present;
}

function monthOf(now: EpochMs): number {
  const date = new Date(now);
  return date.getUTCFullYear() * MONTHS_PER_YEAR + date.getUTCMonth();
}

function startOfMonth(month: number): EpochMs {
  return Date.UTC(Math.floor(month / MONTHS_PER_YEAR), month % MONTHS_PER_YEAR, 1);
}
