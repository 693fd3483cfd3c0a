/**
 * Which constraints of its endpoint a run has met. What its end says is on record; that a bound of the pace has moved it is
 * worked out again by the governor, from what was on record when it began.
 */
import { governedOf } from "../../core/endpoint/baseline.js";
import type { Hint } from "../../core/governor/hint.js";
import { nextRun } from "../../core/governor/next-run.js";
import { type EpochMs, formatInstant, instantOrNull } from "../../core/time/instant.js";
import type { LedgerEntry, RunEntry } from "../../core/why/records.js";
import type { EndpointRecord } from "./records.js";
import type { RunDetailAnswer } from "./shapes.js";
import { sourceName } from "./view.js";

type Violation = RunDetailAnswer["violations"][number];

export interface BeforeRun {
  /** null: it was deleted since, and what bounds it had is not known. */
  readonly endpoint: EndpointRecord | null;
  /** What is on record of it up to the run, newest first. */
  readonly entries: readonly LedgerEntry[];
  readonly hints: readonly Hint[];
  readonly begunAt: EpochMs;
}

export function violationsOf(run: RunEntry, before: BeforeRun): Violation[] {
  const moved = movedBy(run, before);
  return [...(moved === null ? [] : [moved]), ...brokenOff(run, before)];
}

function brokenOff({ ending }: RunEntry, { endpoint }: BeforeRun): Violation[] {
  if (ending?.kind !== "failed") return [];
  if (ending.reason === "timeout") return [{ constraint: shorterOf(endpoint), message: ending.detail }];
  return ending.reason === "response-too-large" ? [{ constraint: "maxResponseSizeKb", message: ending.detail }] : [];
}

function shorterOf(endpoint: EndpointRecord | null): "timeoutMs" | "maxExecutionTimeMs" {
  const { maxExecutionTimeMs = null, timeoutMs = 0 } = endpoint?.spec ?? {};
  return maxExecutionTimeMs !== null && maxExecutionTimeMs < timeoutMs ? "maxExecutionTimeMs" : "timeoutMs";
}

/** Of an endpoint that was changed since, it is not told: its bounds may have been others. */
function movedBy(run: RunEntry, { endpoint, entries, hints, begunAt }: BeforeRun): Violation | null {
  if (endpoint === null || endpoint.updatedAt > begunAt || !isPaced(run)) return null;
  const { spec, createdAt } = endpoint;
  const lastRunAt = lastStart(entries, run);
  if (spec.minIntervalMs === null && spec.maxIntervalMs === null) return null;
  const next = nextRun({
    endpoint: governedOf(spec),
    hints: {
      interval: hints.find((hint) => hint.kind === "interval") ?? null,
      oneshot: hints.find((hint) => hint.kind === "oneshot") ?? null,
    },
    lastRunAt,
    createdAt,
    pausedUntil: null,
    now: begunAt,
  });
  if (next.at === null || next.clampedFrom === undefined) return null;
  const constraint = next.source === "clamped-min" ? "minIntervalMs" : "maxIntervalMs";
  const slotAt = (lastRunAt ?? createdAt) + (spec[constraint] ?? 0);
  // What comes of it is another run than this one: more has happened than is on record.
  if (run.at !== slotAt && run.at !== next.clampedFrom) return null;
  return { constraint, message: `it was to begin at ${formatInstant(next.clampedFrom)}` };
}

/** A run by hand, or a further attempt, keeps to no bounds. */
function isPaced({ source }: RunEntry): boolean {
  const name = sourceName(source);
  return name !== "manual" && name !== "retry" && name !== "other";
}

function lastStart(entries: readonly LedgerEntry[], run: RunEntry): EpochMs | null {
  const earlier = entries.find((entry) => entry.kind === "run" && entry.at < run.at);
  return earlier?.kind === "run" && earlier.startedAt !== null ? instantOrNull(earlier.startedAt) : null;
}
