/**
 * Intervals and hints (S40-S42), judged after the fact by a slow and simple reading: who may have asked for each run, how
 * far it is from the one before, and whether a job went on running. It knows nothing of how occasions are planned.
 */

import { compileRule } from "../core/decision/compile.js";
import { longestDeadlineMs } from "../core/period/lateness.js";
import { formatDuration } from "../core/time/duration.js";
import { type EpochMs, formatInstant, MINUTE_MS, SECOND_MS } from "../core/time/instant.js";
import type { Circumstances, HintSpan, JobHistory, SlotStart, Span } from "./job-history.js";

/** A run counts as begun up to a second before it was (S40), and a command begins a little after its claim. */
const ROUNDING_MS = 2 * SECOND_MS;
const SLACK_MS = 2 * MINUTE_MS;

export function* judgeSlots(job: JobHistory, around: Circumstances): Iterable<string> {
  if (job.slotStarts.length === 0 && job.hints.length === 0 && !job.versions.some(isInterval)) return;
  const starts = [...job.starts.values(), ...job.slotStarts.map(({ startedAt }) => startedAt)].sort((a, b) => a - b);
  const spans = spansInForce(job);
  for (const start of job.slotStarts) yield* judgeSlot(job, start, spans, starts, around);
  yield* scheduledInSpite(job, spans, around);
  yield* silent(job, starts, spans, around);
}

function isInterval({ definition }: JobHistory["versions"][number]): boolean {
  return definition !== null && compileRule(definition).everyMs !== null;
}

interface InForce extends HintSpan {
  /** Its last run may begin a little after its end, but for a one-shot that was used. */
  readonly lastStartAt: EpochMs;
}

/** S42: a one-shot is over with the run that it causes. */
function spansInForce(job: JobHistory): readonly InForce[] {
  return job.hints.map((span) => {
    const isUse = ({ source, startedAt }: SlotStart): boolean => source === "hint-oneshot" && isIn(span, startedAt);
    const used = span.hint.kind === "oneshot" ? job.slotStarts.find(isUse) : undefined;
    if (used === undefined) return { ...span, lastStartAt: span.untilAt + SLACK_MS };
    return { ...span, untilAt: used.startedAt + 1, lastStartAt: used.startedAt };
  });
}

function* judgeSlot(
  job: JobHistory,
  start: SlotStart,
  spans: readonly InForce[],
  starts: readonly EpochMs[],
  around: Circumstances,
): Iterable<string> {
  const { source, slotAt, startedAt } = start;
  // Retries and boots are judged by themselves.
  if (source === "manual" || source === "retry" || source === "reboot") return;
  const name = `${job.identity}@${formatInstant(slotAt)} (${source})`;
  const isClockMoved = around.repeats.length > 0 || around.absences.length > 0;
  if (startedAt < slotAt && !isClockMoved) yield `${name} began at ${formatInstant(startedAt)}, before its instant`;
  const leastMs = leastDistance(job, start, spans);
  if (leastMs === null) {
    yield `${name} began at ${formatInstant(startedAt)}, and nothing asked for it`;
    return;
  }
  const before = starts.findLast((at) => at < startedAt);
  if (before === undefined || isClockMoved || startedAt - before >= leastMs - ROUNDING_MS) return;
  yield `${name} began ${formatDuration(startedAt - before)} after the run before, not ${formatDuration(leastMs)}`;
}

/** How far from the run before it has to be at the least; null: nothing asked for it. */
function leastDistance(job: JobHistory, start: SlotStart, spans: readonly InForce[]): number | null {
  const rules = job.versions.flatMap(({ definition }) => (definition === null ? [] : [compileRule(definition)]));
  const least = (intervals: readonly number[]): number | null => {
    const clamped = rules.flatMap(({ minMs, maxMs }) =>
      intervals.map((each) => Math.max(Math.min(each, maxMs ?? each), minMs ?? 0)),
    );
    return clamped.length === 0 ? null : Math.min(...clamped);
  };
  if (start.source === "interval") {
    return least(rules.flatMap(({ everyMs, maxMs }) => [everyMs ?? [], maxMs ?? []].flat()));
  }
  // The slot was promised while the hint held; its run may begin a little later.
  const asking = spans.filter((span) => {
    return start.slotAt < span.untilAt && span.fromAt <= start.startedAt && start.startedAt <= span.lastStartAt;
  });
  if (start.source === "hint-interval") {
    return least(asking.flatMap(({ hint }) => (hint.kind === "interval" ? [hint.intervalMs] : [])));
  }
  const isBounded = rules.some(({ minMs, maxMs }) => minMs !== null || maxMs !== null);
  const isAsked = asking.some(({ hint }) => {
    return hint.kind === "oneshot" && (hint.nextRunAt === start.slotAt || isBounded);
  });
  return isAsked ? least([0]) : null;
}

/** S41: while a hint holds for certain, the schedule is not asked. */
function* scheduledInSpite(job: JobHistory, spans: readonly InForce[], around: Circumstances): Iterable<string> {
  if (around.repeats.length > 0) return;
  const planned = [
    ...[...job.starts].map(([second, startedAt]) => ({ slotAt: second * SECOND_MS, startedAt })),
    ...job.slotStarts.filter(({ source }) => source === "interval"),
  ];
  for (const { slotAt, startedAt } of planned) {
    const inForce = spans.some(({ surelyFromAt, untilAt }) => {
      return surelyFromAt !== null && surelyFromAt + SLACK_MS < startedAt && startedAt < untilAt;
    });
    if (inForce) yield `${job.identity}@${formatInstant(slotAt)} began although a hint stood in for the schedule`;
  }
}

/** A job with an interval that nothing holds back goes on running, and runs again when nothing does any more. */
function* silent(
  job: JobHistory,
  starts: readonly EpochMs[],
  hints: readonly HintSpan[],
  around: Circumstances,
): Iterable<string> {
  const { startGraceMs, killGraceMs } = around.settings;
  for (const [index, { definition, fromAt }] of job.versions.entries()) {
    const compiled = definition === null ? null : compileRule(definition);
    if (definition === null || compiled === null || compiled.everyMs === null) continue;
    const { policy } = definition;
    if (policy.suspend || policy.concurrency !== "allow" || policy.maxActive !== null || job.refused > 0) continue;
    const untilAt = Math.min(job.versions[index + 1]?.fromAt ?? around.endAt, around.endAt);
    const stepMs = Math.max(Math.min(compiled.everyMs, compiled.maxMs ?? compiled.everyMs), compiled.minMs ?? 0);
    const longestMs = stepMs + longestDeadlineMs(policy.deadlineMs, 0) + startGraceMs + killGraceMs + SLACK_MS;
    const held: readonly Span[] = [...around.absences, ...around.repeats, ...job.pauses, ...hints];
    const marks = [fromAt, ...starts.filter((at) => at > fromAt && at < untilAt), untilAt];
    for (const [place, toAt] of marks.entries()) {
      const markAt = marks[place - 1] ?? fromAt;
      const ends = held.filter((span) => span.fromAt < toAt && markAt < span.untilAt).map((span) => span.untilAt);
      const sinceAt = Math.max(markAt, ...ends);
      if (toAt - sinceAt <= longestMs) continue;
      yield `${job.identity} did not run from ${formatInstant(sinceAt)} to ${formatInstant(toAt)}`;
    }
  }
}

function isIn({ fromAt, untilAt }: Span, at: EpochMs): boolean {
  return fromAt <= at && at < untilAt;
}
