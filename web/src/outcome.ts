/** What became of a run or a period, as it is shown. */
import type { JobRow, Now } from "./shapes.js";
import { instantOf, localText, momentText, nowMs } from "./time.js";

export const OUTCOMES = [
  "executed",
  "failed",
  "running",
  "skipped",
  "missed",
  "unschedulable",
  "not_evaluated",
  "unknown",
] as const;
export type Outcome = (typeof OUTCOMES)[number];

export function outcomeText(outcome: Outcome): string {
  return outcome.replace("_", " ");
}

export function outcomeOf(outcome: string | null): Outcome {
  // Nobody was there to look yet, or the job was not.
  if (outcome === "before_definition") return "not_evaluated";
  return OUTCOMES.find((known) => known === outcome) ?? "unknown";
}

/** What a job is marked with: what runs, then what went wrong, then what was last. */
export function outcomeOfJob({ active, lastOutcome, lastRun, lastPeriodRun, failures }: JobRow): Outcome | null {
  if (active.length > 0) return "running";
  if (lastOutcome === null && lastRun === null) return null;
  const run = lastPeriodRun ?? lastRun;
  const isRun = lastOutcome === null || lastOutcome === "executed";
  if (isRun && (failures > 0 || (run !== null && run.result !== "success"))) return "failed";
  return outcomeOf(lastOutcome ?? "executed");
}

/** Of a period in a history. */
export function outcomeOfRow(row: {
  readonly outcome: string;
  readonly exitCode?: number | null;
  readonly signal?: string | null;
  readonly success?: boolean | undefined;
  readonly condition?: string | undefined;
  readonly endedAt: string | null;
  readonly startedAt: string | null;
  readonly reason?: string | null;
}): Outcome {
  if (row.outcome !== "executed") return outcomeOf(row.reason === "before_definition" ? row.reason : row.outcome);
  if (row.endedAt === null) return "running";
  // An answer says it itself; a process has its code, and a job of Kubernetes its condition.
  const isSound = row.success ?? (row.exitCode === 0 || row.condition === "Complete");
  return isSound ? "executed" : "failed";
}

/** Of every reason that goes on record; what stood in the way of a start follows it. */
export const REASONS: ReadonlyMap<string, string> = new Map([
  ["down", "krond was down"],
  ["paused", "it was paused"],
  ["deadline", "its deadline had passed"],
  ["late_start", "it took too long to start"],
  ["superseded", "the next one came before it could start"],
  ["stalled", "krond was there and stood still"],
  ["clock_jump", "the clock was set forward over it"],
  ["concurrency_forbid", "an earlier run was still going"],
  ["too_many_active", "too many runs were going already"],
  ["before_definition", "it was due before the job was defined"],
  ["not_started", "it could not be started"],
  ["hinted", "a hint stood in for the schedule"],
  ["state_recovered", "its state had been lost"],
  ["failover_fenced", "another database server had taken over"],
  ["rewound", "its state was moved back"],
]);

/** Its second has come a while ago, and it has not been started. */
export function isOverdue({ standing, nextChosenTime }: JobRow): boolean {
  return standing === "enabled" && nextChosenTime !== null && instantOf(nextChosenTime) < nowMs.value - 1_000;
}

export function overdueText({ startFailure }: JobRow): string {
  return startFailure === null ? "due now" : "tried again";
}

export function unstartableText({ reason, since }: NonNullable<JobRow["startFailure"]>): string {
  return `cannot be started: ${reason.replace(/^not_started:/, "")}, since ${momentText(since)}`;
}

/** Whether everything that was due was started, as far as the jobs tell it that need a look. */
export function startedText(problems: readonly JobRow[]): string {
  const stuck = problems.filter(({ startFailure }) => startFailure !== null);
  const missed = problems.filter(({ startFailure, lastOutcome }) => startFailure === null && lastOutcome === "missed");
  const parts = [
    ...(stuck.length === 0 ? [] : [`${jobsText(stuck.length)} cannot be started.`]),
    ...(missed.length === 0 ? [] : [`${jobsText(missed.length)} missed the last start.`]),
  ];
  return parts.length === 0 ? "Everything due was started." : parts.join(" ");
}

function jobsText(count: number): string {
  return count === 1 ? "1 job" : `${count} jobs`;
}

/** A job that needs a look. */
type Troubled = Now["problems"][number];

/** Why a job needs a look, in one sentence. */
export function troubleText({ startFailure, lastOutcome, lastReason, lastRun, failures, lost }: Troubled): string {
  if (startFailure !== null) return unstartableText(startFailure);
  const times = failures > 1 ? `, ${failures} times in a row` : "";
  if (lastOutcome === "unschedulable") return "its constraints leave no second of the window";
  if (lastOutcome === "missed" && lastReason !== null) return `missed: ${reasonText(lastReason)}${fromToText(lost)}`;
  if (lastRun !== null && lastRun.result !== "success") return `${endingText(lastRun.ending)}${times}`;
  return `${lastOutcome ?? "failed"}${lastReason === null ? "" : `: ${reasonText(lastReason)}`}`;
}

function fromToText(span: Troubled["lost"]): string {
  return span === undefined ? "" : ` from ${momentText(span.from)} to ${momentText(span.to)}`;
}

/** Of periods that were passed over: how many, up to which one, and why: where no cause is on record, nobody was there. */
const GAP = /^((?:at least )?\d+) periods? up to (\S+Z)(?:: (\w+)(?: from (\S+Z) to (\S+Z))?(.*))?$/;

function gapText([, count = "", last = "", cause = "down", from, to, more = ""]: readonly (
  | string
  | undefined
)[]): string {
  const span = from === undefined || to === undefined ? "" : fromToText({ from, to });
  const periods = count === "1" ? "1 period" : `${count} periods`;
  return `${periods} up to ${momentText(last)}: ${reasonText(cause)}${span}${more}`;
}

export function reasonText(reason: string): string {
  const gap = GAP.exec(reason);
  if (gap !== null) return gapText(gap);
  const [name = ""] = /^\w*/.exec(reason) ?? [];
  const text = REASONS.get(name);
  if (text === undefined) return localText(reason.replaceAll("_", " "));
  return text + reason.slice(name.length).replace(/^:(?=\S)/, ": ");
}

function endingText(ending: NonNullable<JobRow["lastRun"]>["ending"]): string {
  switch (ending.kind) {
    case "exited":
      if (ending.reason !== null) return ending.reason.replaceAll("_", " ");
      return ending.signal === null ? `exit code ${ending.code}` : `ended by ${ending.signal}`;
    case "answered":
      return `status ${ending.status}`;
    case "failed":
      return ending.detail;
    case "job":
      return ending.condition;
    default:
      return ending.reason.replaceAll("_", " ");
  }
}
