/**
 * What a leader remembers of a KronJob between two looks. All of it can be lost at any moment: it only makes a period
 * keep its turn (S13), judges lateness by the tick in which it became due (S20), and paces retries (S24).
 */
import type { ErrorCode } from "../../core/base/errors/registry.js";
import { retryAt } from "../../core/period/lateness.js";
import type { PeriodGap } from "../../core/period/periods.js";
import type { EpochMs } from "../../core/time/instant.js";
import { OPERATOR_TIMES } from "../limits.js";

export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly count: number;
  readonly retryAt: EpochMs;
}

/** What somebody with too few rights cannot do: release a claimed Job, remove one. */
export type Write = "release" | "remove";

/** S25: what is to be gone before anything starts. */
export interface Clearing {
  readonly uids: readonly string[];
  readonly untilAt: EpochMs;
  readonly isOverdue: boolean;
}

export interface Memory {
  /** The first period that is not handled; null: to be looked for (S13: a return). */
  readonly liveAt: EpochMs | null;
  readonly dueAt: EpochMs | null;
  /** The one `now` of the tick in which the live period was due (S2). */
  readonly judgedAt: EpochMs | null;
  /** When the live period was looked at last, since it was due. */
  readonly seenAt: EpochMs | null;
  /** S13: time was lost meanwhile: what follows the live period is a return. */
  readonly mustReturn: boolean;
  /** S11: when the older period was handled that this one had to wait for. */
  readonly heldUntilAt: EpochMs | null;
  readonly failure: Failure | null;
  readonly clearing: Clearing | null;
  readonly clearedAt: EpochMs | null;
  /** S13: what nobody was there for, until it stands in the status. */
  readonly gap: PeriodGap | null;
  /** Claimed Jobs that went away before they could be released. */
  readonly lostGates: readonly string[];
  /** The wish to run now that was refused last. */
  readonly refusedRun: string | null;
  /** Refused by the API server, and tried again: whatever period is live. */
  readonly denied: Readonly<Record<Write, Failure | null>>;
  /** Something that was denied is granted again, or what could not be decided can. */
  readonly hasRecovered: boolean;
}

export const NOTHING_KNOWN: Memory = {
  liveAt: null,
  dueAt: null,
  judgedAt: null,
  seenAt: null,
  mustReturn: false,
  heldUntilAt: null,
  failure: null,
  clearing: null,
  clearedAt: null,
  gap: null,
  lostGates: [],
  refusedRun: null,
  denied: { release: null, remove: null },
  hasRecovered: false,
};

/** S13: time was lost, or the rule has changed: only the period that is current then is evaluated. */
export function returning(memory: Memory): Memory {
  const { lostGates, refusedRun, denied, hasRecovered } = memory;
  return { ...NOTHING_KNOWN, lostGates, refusedRun, denied, hasRecovered };
}

/** The clock came to an instant. A wake that comes long after its time is a return (S13). */
export function ticked(memory: Memory, now: EpochMs): Memory {
  const { dueAt, judgedAt, seenAt } = memory;
  const isLate = dueAt !== null && judgedAt === null && now - dueAt > OPERATOR_TIMES.lateWakeMs;
  if (isLate) return returning(memory);
  if (judgedAt === null) return judgedIfDue(memory, now);
  const isLost = seenAt !== null && now - seenAt > OPERATOR_TIMES.lostTimeMs;
  return { ...memory, seenAt: now, mustReturn: memory.mustReturn || isLost };
}

/** What is due is judged by the tick that found it so, however long it takes until it is its turn. */
export function judgedIfDue(memory: Memory, now: EpochMs): Memory {
  const { dueAt, judgedAt } = memory;
  return dueAt === null || now < dueAt || judgedAt !== null ? memory : { ...memory, judgedAt: now, seenAt: now };
}

/** Another period is live now. */
export function turned(
  memory: Memory,
  liveAt: EpochMs | null,
  dueAt: EpochMs | null,
  heldUntilAt: EpochMs | null,
): Memory {
  if (memory.liveAt === liveAt && memory.dueAt === dueAt) return memory;
  return { ...returning(memory), gap: memory.gap, liveAt, dueAt, heldUntilAt };
}

/** S24: not created, not executed. */
export function failed(memory: Memory, code: ErrorCode, message: string, limitAt: EpochMs, now: EpochMs): Memory {
  return { ...memory, failure: failureAfter(memory.failure, code, message, limitAt, now) };
}

/** Whether one has to wait before trying again. */
export function mustWait(failure: Failure | null, now: EpochMs): failure is Failure {
  return failure !== null && now < failure.retryAt;
}

export function denied(
  memory: Memory,
  write: Write,
  code: ErrorCode,
  message: string,
  limitAt: EpochMs,
  now: EpochMs,
): Memory {
  const failure = failureAfter(memory.denied[write], code, message, limitAt, now);
  return { ...memory, denied: { ...memory.denied, [write]: failure }, hasRecovered: false };
}

export function granted(memory: Memory, write: Write): Memory {
  if (memory.denied[write] === null) return memory;
  return { ...memory, denied: { ...memory.denied, [write]: null }, hasRecovered: true };
}

function failureAfter(
  before: Failure | null,
  code: ErrorCode,
  message: string,
  limitAt: EpochMs,
  now: EpochMs,
): Failure {
  const count = (before?.count ?? 0) + 1;
  return { code, message, count, retryAt: retryAt(count, limitAt, now) };
}
