/** A run of an endpoint as it is told, and the id by which it is found: the name of its record, spelled so that it can be asked for. */

import { endedResultOf } from "../../core/endpoint/ended-run.js";
import { endpointIdentity } from "../../core/endpoint/endpoint-name.js";
import type { RunPlace } from "../../core/endpoint/run-index.js";
import type { Ending } from "../../core/state/ending.js";
import { type EpochMs, formatInstant } from "../../core/time/instant.js";
import type { RunEntry } from "../../core/why/records.js";
import type { RunAnswer } from "./shapes.js";
import { sourceName } from "./view.js";

interface RunName {
  readonly jobId: string;
  readonly endpointId: string;
  readonly at: EpochMs;
  /** null: the endpoint's own periods. */
  readonly source: string | null;
}

const RUN_ID = /^run_([0-9a-z]{16})_([0-9a-z]{16})_(-?[0-9a-z]{1,12})_([a-z-]{1,20})$/;
const RADIX = 36;
const CRON = "cron";

export function runIdOf({ jobId, endpointId, at, source }: RunName): string {
  return `run_${jobId.slice("job_".length)}_${endpointId.slice("ep_".length)}_${at.toString(RADIX)}_${source ?? CRON}`;
}

/** null: it is none. */
export function readRunId(id: string): RunName | null {
  const [, job, endpoint, at, source] = RUN_ID.exec(id) ?? [];
  if (job === undefined || endpoint === undefined || at === undefined || source === undefined) return null;
  const instant = Number.parseInt(at, RADIX);
  if (!Number.isSafeInteger(instant) || instant.toString(RADIX) !== at) return null;
  return { jobId: `job_${job}`, endpointId: `ep_${endpoint}`, at: instant, source: source === CRON ? null : source };
}

/** Where the record of a run lies. */
export function placeOf(tenant: string, { jobId, endpointId, at, source }: RunName): RunPlace {
  const kind = source === null ? "run" : `run:${source}`;
  return { identity: endpointIdentity({ tenant, jobId, endpointId }), at, kind };
}

export function runAnswer(
  { jobId, endpointId }: { readonly jobId: string; readonly endpointId: string },
  entry: RunEntry,
): RunAnswer {
  const { ending, startedAt, endedAt, source, clamped } = entry;
  return {
    id: runIdOf({ jobId, endpointId, at: entry.at, source }),
    jobId,
    endpointId,
    status: ending === null ? "running" : endedResultOf(ending),
    source: clamped === null ? sourceName(source) : `clamped-${clamped.by}`,
    scheduledFor: formatInstant(entry.at),
    startedAt,
    finishedAt: endedAt,
    attempt: entry.attempt,
    ...exchanged(ending),
    error: ending === null ? null : errorOf(ending),
  };
}

type Exchanged = Pick<
  RunAnswer,
  "waitedMs" | "durationMs" | "httpStatus" | "responseBytes" | "responseExcerpt" | "wasSent"
>;

const NOT_EXCHANGED: Exchanged = {
  waitedMs: null,
  durationMs: null,
  httpStatus: null,
  responseBytes: null,
  responseExcerpt: null,
  wasSent: null,
};

function exchanged(ending: Ending | null): Exchanged {
  if (ending === null) return NOT_EXCHANGED;
  if (ending.kind === "not-run") return { ...NOT_EXCHANGED, wasSent: false };
  if (ending.kind !== "answered" && ending.kind !== "failed") return NOT_EXCHANGED;
  const { durationMs, waitedMs = 0, bytes, excerpt, status } = ending;
  const wasSent = ending.kind === "answered" || ending.isSent;
  return { waitedMs, durationMs, httpStatus: status, responseBytes: bytes, responseExcerpt: excerpt, wasSent };
}

function errorOf(ending: Ending): RunAnswer["error"] {
  switch (ending.kind) {
    case "answered":
      if (ending.isExpected && ending.reason === null) return null;
      return {
        code: ending.reason ?? `status-${ending.status}`,
        message: ending.detail ?? `the answer had the status ${ending.status}`,
      };
    case "failed":
      return { code: ending.reason, message: ending.detail };
    case "unseen":
      return { code: ending.reason, message: "nobody saw how it ended" };
    case "not-run":
      return { code: ending.reason, message: "it was claimed, and nothing shows that it began" };
    default:
      return ending.reason === null ? null : { code: ending.reason, message: ending.reason };
  }
}
