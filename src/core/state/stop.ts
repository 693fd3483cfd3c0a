/**
 * S51: a job that stops by itself, because its definition says for what. It is paused like by anybody else, for good and by
 * Kron, in the transition that brings it about: neither a crash nor a run that is due at once comes in between. What counts
 * towards it stands in the document, and begins anew when somebody lets the job go on.
 */
import { KRON } from "../governor/author.js";
import type { StopRule } from "../job/definition.js";
import { FOR_GOOD_AT } from "../period/policy.js";
import { type EpochMs, formatInstant } from "../time/instant.js";
import { pause } from "./definition-transitions.js";
import type { HistoryEntry, StateDocument, TallyState } from "./document.js";
import { ABORTED_LATE, type Ending, isSuccess } from "./ending.js";
import type { LedgerFact } from "./facts.js";
import { isRun } from "./past-runs.js";
import type { Transition } from "./transition.js";

/** What somebody asks for says nothing of how often the job runs by itself. */
const ASKED_SOURCE = "manual";
const FOR_GOOD = formatInstant(FOR_GOOD_AT);
/** Of the endings that a reason names. */
const NAMED_ENDINGS = 3;

/** With the claim of a run. `source` null: a period of the job's schedule. */
export function countClaim(
  claimed: Transition,
  rule: StopRule | undefined,
  source: string | null,
  now: EpochMs,
): Transition {
  const { afterRuns = null } = rule ?? {};
  // Without a bound nothing counts towards one that comes later.
  if (afterRuns === null) return { ...claimed, document: withTally(claimed.document, { Runs: 0 }) };
  if (source === ASKED_SOURCE) return claimed;
  const runs = (claimed.document.Tally?.Runs ?? 0) + 1;
  const counted = { ...claimed, document: withTally(claimed.document, { Runs: runs }) };
  if (runs < afterRuns) return counted;
  return stopped(counted, "runs", runsText(afterRuns), now);
}

/** With the end of a run. */
export function countEnd(ended: Transition, rule: StopRule | undefined, ending: Ending, now: EpochMs): Transition {
  const { afterFailures = null } = rule ?? {};
  // Of a run that is not on record nothing has changed.
  if (ended.facts.length === 0) return ended;
  if (afterFailures === null) return { ...ended, document: withTally(ended.document, { Failures: 0 }) };
  if (saysNothing(ending)) return ended;
  const failures = isSuccess(ending) ? 0 : (ended.document.Tally?.Failures ?? 0) + 1;
  const counted = { ...ended, document: withTally(ended.document, { Failures: failures }) };
  if (failures < afterFailures) return counted;
  return stopped(counted, "failures", failuresText(failures, ended.document.History), now);
}

/** From its last instant on, or when it was given a bound that it has come to already. */
export function stopAtEnd(document: StateDocument, rule: StopRule, now: EpochMs): Transition {
  const { at, afterRuns } = rule;
  const isOver = at !== null && now >= at;
  if (!isOver && afterRuns !== null) return stopped({ document, facts: [] }, "runs", runsText(afterRuns), now);
  return stopped({ document, facts: [] }, "end", `it has ended at ${formatInstant(at ?? now)}`, now);
}

/** Whether its definition lets nothing begin any more, and nobody has said so yet. */
export function isToEnd(document: StateDocument, rule: StopRule | undefined, now: EpochMs): boolean {
  const { Pause, RemovedAt, Tally: { Runs = 0 } = {} } = document;
  const { at = null, afterRuns = null } = rule ?? {};
  const isOver = (at !== null && now >= at) || (afterRuns !== null && Runs >= afterRuns);
  return isOver && Pause?.Until !== FOR_GOOD && RemovedAt === undefined;
}

function runsText(afterRuns: number): string {
  return afterRuns === 1 ? "its one run has begun" : `the last of its ${afterRuns} runs has begun`;
}

function stopped(
  { document, facts }: Transition,
  stoppedFor: Extract<LedgerFact, { kind: "paused" }>["stoppedFor"] & string,
  reason: string,
  now: EpochMs,
): Transition {
  // A pause that somebody wanted is over earlier: this one goes on from it.
  const paused = pause(document, FOR_GOOD_AT, reason, now, false, true, KRON);
  const told = paused.facts.map((fact) => (fact.kind === "paused" ? { ...fact, stoppedFor } : fact));
  return { document: { ...paused.document, ...kept(document.Tally) }, facts: [...facts, ...told] };
}

function kept(tally: TallyState | undefined): Pick<StateDocument, "Tally"> {
  return tally === undefined ? {} : { Tally: tally };
}

/** Nothing has begun, or somebody has ended it: that speaks neither for the job nor against it. */
function saysNothing(ending: Ending): boolean {
  const { reason } = ending;
  return reason === "cancelled" || reason === "replaced" || reason === ABORTED_LATE.reason;
}

/** 0: none. */
function withTally(document: StateDocument, { Failures, Runs }: TallyState): StateDocument {
  const { Tally: before, ...rest } = document;
  if (before === undefined && (Failures ?? 0) + (Runs ?? 0) === 0) return document;
  const tally = { ...before, ...(Failures === undefined ? {} : { Failures }), ...(Runs === undefined ? {} : { Runs }) };
  const there = Object.entries(tally).filter(([, count]) => count !== 0);
  return there.length === 0 ? rest : { ...rest, Tally: Object.fromEntries(there) };
}

/** Which failures they were, as far as the history knows them: the most frequent first. */
function failuresText(failures: number, history: readonly HistoryEntry[]): string {
  const told = history.filter((entry) => isRun(entry) && !isEndedByHand(entry)).slice(-failures);
  const counts = new Map<string, number>();
  for (const entry of told) counts.set(endText(entry), (counts.get(endText(entry)) ?? 0) + 1);
  const named = [...counts].sort(([, one], [, other]) => other - one).slice(0, NAMED_ENDINGS);
  const words = named.map(([text, count]) => (count === 1 ? text : `${count} times ${text}`)).join(", ");
  const head = failures === 1 ? "a run failed" : `${failures} runs in a row failed`;
  return words === "" ? head : `${head}: ${words}`;
}

function isEndedByHand({ Reason }: HistoryEntry): boolean {
  return Reason === "cancelled" || Reason === "replaced" || Reason === ABORTED_LATE.reason;
}

function endText({ Reason, Status, Signal, ExitCode }: HistoryEntry): string {
  if (Reason !== undefined) return Reason;
  if (Status !== undefined) return `HTTP ${Status}`;
  return Signal ?? (ExitCode === null ? "unknown" : `exit ${ExitCode}`);
}
