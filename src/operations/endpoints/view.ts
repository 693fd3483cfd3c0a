/** Jobs and endpoints as they are told, secrets left out. */
import type { JobStatus } from "../../actors/supervisor/port.js";
import { governedOf, hasPace } from "../../core/endpoint/baseline.js";
import { endedResultOf } from "../../core/endpoint/ended-run.js";
import { toldNotify } from "../../core/endpoint/notify.js";
import { boundsUnder, type QuotaLimits } from "../../core/endpoint/quota.js";
import { nextRun } from "../../core/governor/next-run.js";
import { FOR_GOOD_AT } from "../../core/period/policy.js";
import { type EpochMs, formatInstant, instantOrNull } from "../../core/time/instant.js";
import type { HintsAnswer } from "../records/hints.js";
import type { EndpointRecord, JobRecord } from "./records.js";
import type { EndpointAnswer, JobAnswer } from "./shapes.js";

type Source = NonNullable<EndpointAnswer["nextSource"]>;

export function jobAnswer({ id, name, description, status, notify, ...dates }: JobRecord): JobAnswer {
  return { id, name, description, status, notify: toldNotify(notify), ...dated(dates) };
}

interface KnownOfEndpoint {
  /** null: it is being made or taken out, and there is nothing to tell of it yet or any more. */
  readonly status: JobStatus | null;
  readonly hints: HintsAnswer | null;
  readonly limits: QuotaLimits;
  readonly now: EpochMs;
}

export function endpointAnswer(
  endpoint: EndpointRecord,
  { status, hints, limits, now }: KnownOfEndpoint,
): EndpointAnswer {
  const { id, jobId, spec } = endpoint;
  const { secretHeaders, notify, ...shown } = spec;
  return {
    id,
    jobId,
    ...shown,
    secretHeaders: Object.keys(secretHeaders),
    notify: notify === null ? null : toldNotify(notify),
    ...dated(endpoint),
    ...(status === null ? NOTHING_KNOWN : standing(heldTo(limits, endpoint), status, now)),
    hints: hintsAnswer(hints),
  };
}

/** With the bounds that are in force. */
export function heldTo(limits: QuotaLimits, endpoint: EndpointRecord): EndpointRecord {
  if (!hasPace(endpoint.spec)) return endpoint;
  return { ...endpoint, spec: { ...endpoint.spec, ...boundsUnder(limits, endpoint.spec) } };
}

function dated({ createdAt, updatedAt, version }: Pick<JobRecord, "createdAt" | "updatedAt" | "version">) {
  return { createdAt: formatInstant(createdAt), updatedAt: formatInstant(updatedAt), version };
}

type Standing = Omit<EndpointAnswer, keyof EndpointRecord["spec"] | keyof JobAnswer | "jobId" | "hints"> &
  Pick<EndpointAnswer, "status">;

const NOTHING_KNOWN: Standing = {
  status: "held",
  pausedUntil: null,
  pauseReason: null,
  pausedBy: null,
  nextRunAt: null,
  nextSource: null,
  lastRunAt: null,
  lastStatus: null,
  failureCount: 0,
  running: 0,
  trouble: null,
};

function standing(endpoint: EndpointRecord, status: JobStatus, now: EpochMs): Standing {
  const { lastRun, pausedUntil, pauseReason, pausedBy } = status;
  return {
    status: status.standing === "enabled" ? "active" : status.standing === "paused" ? "paused" : "held",
    pausedUntil,
    pauseReason,
    pausedBy,
    ...nextOf(endpoint, status, now),
    lastRunAt: status.lastRunAt,
    lastStatus: lastRun === null ? null : endedResultOf(lastRun.ending),
    failureCount: status.failures,
    running: status.active.length,
    trouble: status.startFailure?.reason ?? null,
  };
}

function nextOf(
  endpoint: EndpointRecord,
  status: JobStatus,
  now: EpochMs,
): Pick<EndpointAnswer, "nextRunAt" | "nextSource"> {
  const isForGood = status.pausedUntil === formatInstant(FOR_GOOD_AT);
  if (status.standing === "paused") return { nextRunAt: isForGood ? null : status.pausedUntil, nextSource: "paused" };
  const { nextChosenTime: nextRunAt, nextSource } = status;
  // Held, its periods pass by.
  if (status.standing !== "enabled" || nextRunAt === null || nextSource === null)
    return { nextRunAt: null, nextSource: null };
  // S51.
  if (hasEndedBy(endpoint, nextRunAt)) return { nextRunAt: null, nextSource: null };
  return { nextRunAt, nextSource: clampedSource(endpoint, status, now) ?? sourceName(nextSource) };
}

/** Nothing of it begins then any more. */
export function hasEndedBy({ spec: { endAt } }: Pick<EndpointRecord, "spec">, at: string): boolean {
  return endAt !== null && Date.parse(at) >= Date.parse(endAt);
}

/** Which of its bounds has moved the next run; the engine has moved it already. */
function clampedSource({ spec, createdAt }: EndpointRecord, status: JobStatus, now: EpochMs): Source | null {
  if (spec.minIntervalMs === null && spec.maxIntervalMs === null) return null;
  const lastRunAt = status.lastRunAt === null ? null : instantOrNull(status.lastRunAt);
  const about = { lastRunAt, createdAt, pausedUntil: null, now };
  const { source } = nextRun({ endpoint: governedOf(spec), hints: status.hints, ...about });
  return source === "clamped-min" || source === "clamped-max" ? source : null;
}

/** Where a run comes from, in the words of the API. */
export function sourceName(source: string | null): Exclude<Source, "clamped-min" | "clamped-max" | "paused"> {
  switch (source) {
    case null:
    case "cron":
      return "baseline-cron";
    case "interval":
      return "baseline-interval";
    case "hint-interval":
      return "ai-interval";
    case "hint-oneshot":
      return "ai-oneshot";
    case "manual":
    case "retry":
      return source;
    default:
      return "other";
  }
}

export function hintsAnswer(hints: HintsAnswer | null): EndpointAnswer["hints"] {
  const { interval = null, oneshot = null } = hints ?? {};
  return {
    interval:
      interval === null
        ? null
        : {
            intervalMs: interval.interval_ms,
            expiresAt: interval.expires_at,
            setAt: interval.set_at,
            reason: interval.reason,
            by: interval.by,
          },
    oneshot:
      oneshot === null
        ? null
        : {
            nextRunAt: oneshot.next_run_at,
            expiresAt: oneshot.expires_at,
            setAt: oneshot.set_at,
            reason: oneshot.reason,
            by: oneshot.by,
          },
  };
}
