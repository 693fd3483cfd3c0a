/** What became of a period of a KronJob, as far as its status says: the answer of `kubectl kron why`. */
import { gapText } from "../core/period/reasons.js";
import type { HistoryItem, KronJob, KronJobStatus } from "./kube/types.js";

export interface PeriodStory {
  readonly identity: string;
  /** null: nothing has happened yet. */
  readonly period_id: string | null;
  readonly outcome: string | null;
  readonly reason: string | null;
  readonly text: string;
  /** Why nothing will run, or why it was hindered. */
  readonly conditions: readonly string[];
}

/** Of the period that is named; else of the last one. */
export function storyOf({ metadata, status = {} }: KronJob, periodId: string | null): PeriodStory {
  const id = periodId ?? status.lastPeriodID ?? null;
  const { outcome, reason, text } = id === null ? untouched(status) : about(status, id);
  const identity = `${metadata.namespace}/${metadata.name}/${metadata.uid}`;
  return { identity, period_id: id, outcome, reason, text, conditions: hindrances(status) };
}

interface Answer {
  readonly outcome: string | null;
  readonly reason: string | null;
  readonly text: string;
}

function about(status: KronJobStatus, id: string): Answer {
  const run = status.active?.find(({ periodID }) => periodID === id);
  if (run !== undefined) {
    return { outcome: "executed", reason: null, text: `executed: Job ${run.name} since ${run.startedAt}` };
  }
  const item = [...(status.history ?? [])].reverse().find(({ periodID }) => periodID === id);
  if (item !== undefined) return told(item);
  const gap = status.notEvaluated;
  if (gap !== undefined && gap.firstPeriodID <= id && id <= gap.lastPeriodID) {
    const why = gapCauseText(gap.reason ?? "down");
    return { outcome: null, reason: "not_evaluated", text: `not evaluated: ${why}` };
  }
  if (status.nextPeriodID === id) return untouched(status);
  const isPast = status.lastPeriodID !== undefined && id <= status.lastPeriodID;
  const text = isPast
    ? "it is older than what the status keeps, or no period of the schedule"
    : "it lies ahead, or is no period of the schedule";
  return { outcome: null, reason: null, text };
}

/** As of a daemon, but for who was not there. */
export function gapCauseText(reason: string): string {
  return reason === "down" ? "no operator was there in its time" : gapText(reason);
}

function told({ outcome, reason, result, job, completedAt }: HistoryItem): Answer {
  const why = reason === undefined ? "" : ` (${reason})`;
  const text =
    job === undefined ? `${outcome}${why}` : `${outcome}: Job ${job} ${result ?? ""}${why} at ${completedAt}`;
  return { outcome, reason: reason ?? null, text };
}

function untouched({ nextPeriodID, nextChosenTime }: KronJobStatus): Answer {
  if (nextPeriodID === undefined) return { outcome: null, reason: null, text: "no period lies ahead" };
  const when = nextChosenTime === undefined ? "unschedulable" : `chosen second ${nextChosenTime}`;
  return { outcome: null, reason: null, text: `next is period ${nextPeriodID}, ${when}` };
}

function hindrances({ conditions = [] }: KronJobStatus): readonly string[] {
  return conditions
    .filter(({ type, status }) => (type === "Ready" ? status === "False" : status === "True"))
    .map(({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`);
}
