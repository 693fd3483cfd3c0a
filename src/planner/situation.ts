/** Situations as text: read from JSON, strictly and with places, and written as a planner or a person gets to see them. */
import { z } from "zod";
import type { Problem } from "../core/base/problem.js";
import { err, ok, type Result } from "../core/base/result.js";
import {
  type EndedRun,
  ERROR_CODE_CHARS,
  ERROR_MESSAGE_CHARS,
  keptError,
  oneLine,
  RUN_RESULTS,
} from "../core/endpoint/ended-run.js";
import { type HealthView, healthAt, LAST_ERRORS, NO_HEALTH, noteRun } from "../core/endpoint/health.js";
import { problemsOfIssues } from "../core/job/issues.js";
import { formatInstant } from "../core/time/instant.js";
import { PLANNER_LIMITS } from "./limits.js";
import type { EndpointSituation, Situation } from "./model.js";
import { instantText } from "./proposal.js";

const BASELINE_CHARS = 512;
const count = z.int().min(0);
const positive = z.int().min(1);
const measured = z.number().min(0).nullable();
const rate = z.number().min(0).max(1).nullable();
const name = z.string().max(PLANNER_LIMITS.nameChars);
const author = {
  by: z.enum(["person", "planner"]),
  reason: z.string().max(PLANNER_LIMITS.shownReasonChars).default(""),
};
const bound = positive.nullable().default(null);

const WINDOW = z.strictObject({
  fromAt: instantText,
  runs: count,
  successes: count,
  errors: count,
  idle: count.default(0),
  successRate: rate,
  p50Ms: measured,
  p95Ms: measured,
});
const STREAK = z.strictObject({ failures: count, successes: count, sinceAt: instantText.nullable() });
const ERROR = {
  code: z.string().max(ERROR_CODE_CHARS),
  status: z.int().nullable().default(null),
  message: z.string().max(ERROR_MESSAGE_CHARS).default(""),
};

const HEALTH = z.strictObject({
  windows: z.strictObject({ "1h": WINDOW, "4h": WINDOW, "24h": WINDOW, "30d": WINDOW }),
  streak: STREAK,
  lastErrors: z
    .array(z.strictObject({ at: instantText, ...ERROR }))
    .max(LAST_ERRORS)
    .default([]),
});

const RUN = z.strictObject({
  endedAt: instantText,
  result: z.enum(RUN_RESULTS),
  durationMs: measured.default(null),
  isIdle: z.boolean().default(false),
  error: z.strictObject(ERROR).optional(),
});

const ENDPOINT = z.strictObject({
  id: name.min(1),
  name: name.min(1),
  baseline: z.strictObject({ text: z.string().max(BASELINE_CHARS), intervalMs: bound }),
  minIntervalMs: bound,
  maxIntervalMs: bound,
  hints: z
    .strictObject({
      interval: z
        .strictObject({ intervalMs: positive, expiresAt: instantText, ...author })
        .nullable()
        .default(null),
      oneshot: z
        .strictObject({ nextRunAt: instantText, expiresAt: instantText, ...author })
        .nullable()
        .default(null),
    })
    .default({ interval: null, oneshot: null }),
  pausedUntil: z
    .strictObject({ until: instantText, ...author })
    .nullable()
    .default(null),
  fasterOnErrors: z.boolean().default(false),
});

const SITUATION = z.strictObject({
  now: instantText.optional(),
  endpoint: ENDPOINT,
  /** One of these two: counted already, or to be counted. */
  health: HEALTH.optional(),
  runs: z.array(RUN).max(PLANNER_LIMITS.runsOfSituation).optional(),
  siblings: z
    .array(z.strictObject({ name, successRate: rate, failures: count, intervalMs: bound }))
    .max(PLANNER_LIMITS.siblings)
    .default([]),
});

/** What a file says; without a `now` of its own it is about the present. */
export function readSituation(value: unknown, now: number): Result<Situation, readonly Problem[]> {
  const read = SITUATION.safeParse(value);
  if (!read.success) return err(problemsOfIssues(read.error.issues, value, SITUATION));
  const { health, runs, endpoint, siblings } = read.data;
  const at = read.data.now ?? now;
  if (health !== undefined && runs !== undefined) {
    const message = "health says what runs would be counted for: give one of them";
    return err([{ code: "field-conflict", message, path: ["runs"] }]);
  }
  const { minIntervalMs: minMs, maxIntervalMs: maxMs } = endpoint;
  if (minMs !== null && maxMs !== null && minMs > maxMs) {
    const message = `${minMs} is more than maxIntervalMs, ${maxMs}`;
    return err([{ code: "field-range", message, path: ["endpoint", "minIntervalMs"] }]);
  }
  const view = health === undefined ? counted(runs ?? [], at) : kept(health);
  return ok({ now: at, endpoint: inForceAt(endpoint, at), health: view, siblings });
}

function counted(runs: readonly z.infer<typeof RUN>[], now: number): HealthView {
  const sorted = [...runs].sort((a, b) => a.endedAt - b.endedAt).filter(({ endedAt }) => endedAt <= now);
  const noted = sorted.map(({ error, ...run }): EndedRun => (error === undefined ? run : { ...run, error }));
  return healthAt(noted.reduce(noteRun, NO_HEALTH), now);
}

function kept({ lastErrors, ...health }: z.infer<typeof HEALTH>): HealthView {
  return { ...health, lastErrors: lastErrors.map(({ at, ...error }) => keptError(at, error)) };
}

/** Hints and pauses end strictly at their instant (S41). */
function inForceAt(endpoint: EndpointSituation, now: number): EndpointSituation {
  const { interval, oneshot } = endpoint.hints;
  const { pausedUntil } = endpoint;
  return {
    ...endpoint,
    name: oneLine(endpoint.name, PLANNER_LIMITS.nameChars),
    baseline: { ...endpoint.baseline, text: oneLine(endpoint.baseline.text, BASELINE_CHARS) },
    hints: {
      interval: interval !== null && interval.expiresAt > now ? interval : null,
      oneshot: oneshot !== null && oneshot.expiresAt > now ? oneshot : null,
    },
    pausedUntil: pausedUntil !== null && pausedUntil.until > now ? pausedUntil : null,
  };
}

const INSTANTS: ReadonlySet<string> = new Set(["now", "at", "fromAt", "sinceAt", "expiresAt", "nextRunAt", "until"]);

/** The same with every instant as RFC 3339: what `readSituation` reads, what is hashed, and what a model is told. */
export function situationText(situation: unknown): string {
  return JSON.stringify(situation, (key, value: unknown) => {
    return INSTANTS.has(key) && typeof value === "number" ? formatInstant(value) : value;
  });
}
