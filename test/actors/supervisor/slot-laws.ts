/**
 * What has to be true of slots at the end of a drill (S40-S42), from what began and what was asked for alone. Crashes may
 * cost a run that was claimed, never the one after it, and never bring one that nobody asked for.
 */
import { compileRule } from "../../../src/core/decision/compile.js";
import type { Hint } from "../../../src/core/governor/hint.js";
import type { JobDefinition } from "../../../src/core/job/definition.js";
import type { StateDocument } from "../../../src/core/state/document.js";
import { type EpochMs, parseInstant, SECOND_MS } from "../../../src/core/time/instant.js";
import { requireOk } from "../../support/results.js";

export interface HintSpan {
  readonly identity: string;
  readonly hint: Hint;
  readonly askedAt: EpochMs;
  /** null: the daemon did not live to say so. */
  setAt: EpochMs | null;
  /** When that was asked for. */
  clearedAt: EpochMs | null;
  /** Whether the daemon lived to say so. */
  isCleared: boolean;
}

export interface SlotRun {
  /** null: a period of the schedule. */
  readonly source: string | null;
  readonly periodId: string;
  readonly at: EpochMs;
  readonly bootId: string;
}

export interface SlotCase {
  readonly definition: JobDefinition;
  readonly document: StateDocument;
  /** In order. */
  readonly begun: readonly SlotRun[];
  readonly hints: readonly HintSpan[];
  readonly now: EpochMs;
  /** The boot of the machine that it is now. */
  readonly bootId: string;
}

/** A start that was under way when something changed goes on. */
const SLACK_MS = 2 * SECOND_MS;

export function slotViolations(slots: SlotCase): string[] {
  return [
    ...unasked(slots),
    ...inSpite(slots),
    ...pace(slots),
    ...leftOver(slots),
    ...lost(slots),
    ...retries(slots),
    ...boots(slots),
  ];
}

/** S41: nothing runs for a hint that was not there, or that was over. */
function* unasked({ begun, hints, definition }: SlotCase): Iterable<string> {
  for (const { source, periodId, at } of begun) {
    if (source !== "hint-interval" && source !== "hint-oneshot") continue;
    const slotAt = instantOf(periodId);
    const isAsked = hints.some(({ hint, askedAt, clearedAt, isCleared }) => {
      const isKind = source === `hint-${hint.kind}` && (hint.kind === "interval" || hint.nextRunAt === slotAt);
      const isInTime = askedAt <= at && slotAt < hint.expiresAt && at < hint.expiresAt + SLACK_MS;
      return isKind && isInTime && (!isCleared || clearedAt === null || at < clearedAt + SLACK_MS);
    });
    if (!isAsked) yield `${definition.identity}@${periodId} ran by ${source}, and no hint in force asked for it`;
  }
}

/** S41: while a hint is in force for certain the schedule is not asked. */
function* inSpite({ begun, hints, definition }: SlotCase): Iterable<string> {
  for (const { hint, setAt, clearedAt } of hints) {
    if (setAt === null) continue;
    const used = begun.find(({ source, at }) => source === "hint-oneshot" && at >= setAt)?.at;
    // S42: its claim may have been durable, and its run lost in a crash: from its instant on it may have been consumed.
    const usedAt = hint.kind === "oneshot" ? (used ?? hint.nextRunAt) : Number.POSITIVE_INFINITY;
    const untilAt = Math.min(hint.expiresAt, clearedAt ?? hint.expiresAt, usedAt);
    const wrong = begun.filter(({ source, at }) => {
      return (source === null || source === "interval") && setAt + SLACK_MS < at && at < untilAt;
    });
    for (const { periodId } of wrong) yield `${definition.identity}@${periodId} ran although a hint stood in for it`;
  }
}

/** S40: an interval counts from the start of the last run. */
function* pace({ begun, definition }: SlotCase): Iterable<string> {
  const { everyMs } = compileRule(definition);
  if (everyMs === null) return;
  for (const [index, { source, periodId, at }] of begun.entries()) {
    const before = begun[index - 1];
    if (source !== "interval" || before === undefined || at - before.at >= everyMs - SECOND_MS) continue;
    yield `${definition.identity}@${periodId} ran ${at - before.at} ms after the run before it`;
  }
}

/** S41: what is over is not on record any more, a while later. */
function* leftOver({ document, now }: SlotCase): Iterable<string> {
  const { Interval, Oneshot } = document.Hints ?? {};
  for (const hint of [Interval, Oneshot]) {
    if (hint === undefined || instantOf(hint.ExpiresAt) + SLACK_MS >= now) continue;
    yield `${document.Identity}: a hint that ended at ${hint.ExpiresAt} is still on record`;
  }
}

/** S41, S42: what is due and unclaimed stays due. */
function* lost({ definition, document, hints, now }: SlotCase): Iterable<string> {
  const { everyMs } = compileRule(definition);
  const ranAt = document.LastRunAt === undefined ? 0 : instantOf(document.LastRunAt);
  const isFree = document.Hints === undefined && document.ActiveExecution === null;
  if (everyMs !== null && isFree && now - ranAt > everyMs + SLACK_MS) {
    yield `${definition.identity} has an interval, and has not run since ${document.LastRunAt}`;
  }
  for (const { hint, setAt, clearedAt } of hints) {
    const isSure = setAt !== null && clearedAt === null && hint.expiresAt > now;
    if (!isSure || hint.kind !== "oneshot" || hint.nextRunAt + SLACK_MS > now) continue;
    const slot = document.LastSlot?.["hint-oneshot"];
    if (slot !== undefined && instantOf(slot) >= hint.nextRunAt) continue;
    yield `${definition.identity}: the run that a one-shot hint asked for was lost`;
  }
}

/** S43: never without an attempt before it, never more than the job says, never when the next period is due. */
function* retries({ begun, definition }: SlotCase): Iterable<string> {
  const { schedule } = compileRule(definition);
  const { retry } = definition.policy;
  for (const [index, { source, periodId, at }] of begun.entries()) {
    if (source !== "retry") continue;
    const name = `${definition.identity}@${periodId}`;
    const before = begun.slice(0, index).filter((run) => run.periodId === periodId);
    const nextAt = schedule.next(instantOf(periodId));
    if (retry === undefined || before.length > retry.limit) yield `${name} was tried ${before.length + 1} times`;
    // A claim that came to nothing in a crash was not seen to end either.
    const isSeen = retry?.on.includes("unseen") !== true;
    const isTried = before.some((run) => run.source === null || run.source === "reboot");
    if (isSeen && !isTried) yield `${name} was retried before it was tried`;
    if (nextAt !== null && at >= nextAt) yield `${name} was retried at ${at - nextAt} ms after the next period`;
  }
}

/** S44: once for each boot, and the present one is handled. What is suspended or paused stays due. */
function* boots({ begun, definition, document, bootId }: SlotCase): Iterable<string> {
  const ids = begun.filter(({ source }) => source === "reboot").map((run) => run.bootId);
  for (const id of ids.filter((each, index) => ids.indexOf(each) !== index)) {
    yield `${definition.identity} ran more than once in ${id}`;
  }
  if (!compileRule(definition).isReboot || document.RemovedAt !== undefined) return;
  if (document.Boot?.ID !== bootId) yield `${definition.identity} was not told of ${bootId}`;
  const isHeld = definition.policy.suspend || document.Pause !== undefined;
  if (document.Boot?.Due !== undefined && !isHeld) yield `${definition.identity} is still due in ${bootId}`;
}

function instantOf(text: string): EpochMs {
  return requireOk(parseInstant(text));
}
