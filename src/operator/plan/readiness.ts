/** The conditions of a KronJob whose spec can be read: will it run, what is in its way, what became of the last period. */
import type { ErrorCode } from "../../core/base/errors/registry.js";
import { type EpochMs, formatSecond } from "../../core/time/instant.js";
import type { KronJobStatus } from "../kube/types.js";
import type { Standing } from "./conditions.js";
import type { TemplateVerdict } from "./effects.js";
import type { Memory } from "./memory.js";
import type { Sketch } from "./sketch.js";

/** As a CronJob's user would look for it. */
const FAILURE_REASONS: Partial<Record<ErrorCode, string>> = {
  "decision-failed": "DecisionFailed",
  "cluster-forbidden": "Forbidden",
  "job-quota": "QuotaExceeded",
  "job-name-taken": "NameTaken",
};

/** Reasons for which nothing runs until somebody does something about it. */
const STOPPING: ReadonlySet<string> = new Set(["Forbidden", "DecisionFailed"]);

function troubleOf({ denied, hindrance }: Memory): { readonly reason: string; readonly message: string } | null {
  const trouble = denied.release ?? hindrance ?? denied.remove;
  if (trouble === null) return null;
  return { reason: FAILURE_REASONS[trouble.code] ?? "CreateFailed", message: trouble.message };
}

export function readiness(
  sketch: Sketch,
  isSuspended: boolean,
  pausedUntilAt: EpochMs | null,
  isBypassed: boolean,
): Standing {
  const { status, now } = sketch;
  if (isBypassed) {
    return not("GateBypassed", "a Job that was created suspended came back released: an admission webhook changes it");
  }
  if (isSuspended) return not("Suspended", "spec.policy.suspend is true");
  if (pausedUntilAt !== null && now < pausedUntilAt) return not("Paused", `until ${formatSecond(pausedUntilAt)}`);
  const trouble = troubleOf(sketch.memory);
  if (trouble?.reason === "DecisionFailed") return not("Deciding", trouble.message);
  if (trouble?.reason === "Forbidden") return not("Forbidden", trouble.message);
  const refused = refusedTemplate(sketch);
  if (refused !== null) return refused;
  if (status.nextPeriodID === undefined) return not("NoMorePeriods", "the schedule has no period left");
  const at = status.nextChosenTime;
  const message = at === undefined ? `period ${status.nextPeriodID} is unschedulable` : `next run at ${at}`;
  return { type: "Ready", isTrue: true, reason: "Scheduled", message };
}

function not(reason: string, message: string): Standing {
  return { type: "Ready", isTrue: false, reason, message };
}

/** It stays known until there is another spec, or a Job could be made after all. */
function refusedTemplate({ observed, before, news, memory }: Sketch): Standing | null {
  const { template } = observed;
  if (template !== null) return template.kind === "refused" ? not(templateReason(template), template.message) : null;
  const ready = before.conditions?.find(({ type }) => type === "Ready");
  const isForbidden = ready?.reason === "Forbidden" && !memory.hasRecovered;
  const isRefused = ready?.reason === "JobTemplateInvalid" || isForbidden;
  return isRefused && !news.some(isClaim) ? not(ready.reason, ready.message) : null;
}

function templateReason({ code }: Extract<TemplateVerdict, { readonly kind: "refused" }>): string {
  return code === "cluster-forbidden" ? "Forbidden" : "JobTemplateInvalid";
}

/** True while it is tried again; afterwards until a Job could be made, or there is another spec. */
export function schedulingError(sketch: Sketch, template: TemplateVerdict | null): Standing {
  if (template?.kind === "refused") return error(templateReason(template), template.message);
  const trouble = troubleOf(sketch.memory);
  if (trouble !== null) return error(trouble.reason, trouble.message);
  const was = sketch.before.conditions?.find(({ type }) => type === "SchedulingError");
  const isOver = was !== undefined && STOPPING.has(was.reason) && sketch.memory.hasRecovered;
  const isKept = was?.status === "True" && template === null && !isOver && !sketch.news.some(isClaim);
  return isKept
    ? error(was.reason, was.message)
    : { type: "SchedulingError", isTrue: false, reason: "Resolved", message: "" };
}

function error(reason: string, message: string): Standing {
  return { type: "SchedulingError", isTrue: true, reason, message };
}

function isClaim(news: { readonly kind: string; readonly outcome?: string }): boolean {
  return news.kind === "outcome" && news.outcome === "executed";
}

export function unschedulable({ lastOutcome, lastPeriodID, lastReason }: KronJobStatus): Standing {
  const isTrue = lastOutcome === "unschedulable";
  return {
    type: "Unschedulable",
    isTrue,
    reason: isTrue ? "NoCandidate" : "Scheduled",
    message: isTrue ? `period ${lastPeriodID}: ${lastReason}` : "",
  };
}
