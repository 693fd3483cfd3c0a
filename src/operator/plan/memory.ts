/**
 * What a leader remembers of a KronJob between two looks. All of it can be lost at any moment: while something is being
 * started, ended or decided that is an activation of the machines, and at rest no more than the row that a daemon keeps of a
 * resting job. Beside it stands what the API server has refused.
 */
import type { ErrorCode } from "../../core/base/errors/registry.js";
import { retryAt } from "../../core/period/lateness.js";
import type { EpochMs } from "../../core/time/instant.js";
import type { Activation } from "../../machines/activation.js";
import { OPERATOR_TIMES } from "../limits.js";

/** What stood in the way, for the conditions. */
export interface Trouble {
  readonly code: ErrorCode;
  readonly message: string;
}

/** S24: of the period that is live. */
interface Hindrance extends Trouble {
  /** Ahead of its second it costs nothing: in it there may be room. */
  readonly isAhead: boolean;
}

/** A Job that could not be made: to be told to the machines. */
interface Refusal extends Trouble {
  readonly name: string;
}

interface Failure extends Trouble {
  readonly count: number;
  readonly retryAt: EpochMs;
}

/** What somebody with too few rights cannot do: release a claimed Job, remove one. */
export type Write = "release" | "remove";

export interface Memory {
  /** Of the spec that all of this rests upon. */
  readonly generation: number | null;
  /** null: it rests. It is of use only as long as its document is what is on record. */
  readonly activation: Activation | null;
  /** The period that a KronJob at rest waits for; null: to be looked for. */
  readonly liveAt: EpochMs | null;
  readonly dueAt: EpochMs | null;
  /** The one `now` of the tick in which that period was found due (S2). */
  readonly judgedAt: EpochMs | null;
  /** When it was to be looked at again; null: when something happens. */
  readonly wakeAt: EpochMs | null;
  /** S13: nobody was there, or time was lost since the last look. */
  readonly mustReturn: boolean;
  /** Somebody was there all along, so that what is found written has been written since the last look. */
  readonly isAttended: boolean;
  /** S25: by name, until when the Jobs that make way are to be gone. */
  readonly clearing: Readonly<Record<string, EpochMs>>;
  readonly refusal: Refusal | null;
  readonly hindrance: Hindrance | null;
  /** Claimed Jobs that went away before anybody could release them. */
  readonly lostGates: readonly string[];
  /** The wish to run now that was refused last. */
  readonly refusedRun: string | null;
  /** Refused by the API server, and tried again: whatever period is live. */
  readonly denied: Readonly<Record<Write, Failure | null>>;
  /** Something that was denied is granted again, or what could not be decided can. */
  readonly hasRecovered: boolean;
}

export const NOTHING_KNOWN: Memory = {
  generation: null,
  activation: null,
  liveAt: null,
  dueAt: null,
  judgedAt: null,
  wakeAt: null,
  mustReturn: true,
  isAttended: false,
  clearing: {},
  refusal: null,
  hindrance: null,
  lostGates: [],
  refusedRun: null,
  denied: { release: null, remove: null },
  hasRecovered: false,
};

/** S14, S16: what was planned by another spec is forgotten, whoever has told the machines of this one. */
export function remembered(memory: Memory, generation: number): Memory {
  if (memory.generation === generation) return memory;
  const { lostGates, refusedRun, denied: refusals, hasRecovered, isAttended } = memory;
  return { ...NOTHING_KNOWN, generation, lostGates, refusedRun, denied: refusals, hasRecovered, isAttended };
}

/** S13: what is known is kept, and looked at anew. */
export function afterLostTime(memory: Memory): Memory {
  return memory.mustReturn && !memory.isAttended ? memory : { ...memory, mustReturn: true, isAttended: false };
}

/** The clock came to an instant. A look that comes long after its time is a return (S13). */
export function ticked(memory: Memory, now: EpochMs): Memory {
  const { wakeAt } = memory;
  const isLate = wakeAt !== null && now - wakeAt > OPERATOR_TIMES.lateWakeMs;
  if (isLate) return afterLostTime(memory);
  return judgedIfDue(memory, now);
}

/** What is due is judged by the tick that found it so, however long it takes until it is its turn (S2, S20). */
export function judgedIfDue(memory: Memory, now: EpochMs): Memory {
  const { dueAt, judgedAt } = memory;
  const isFound = dueAt !== null && now >= dueAt && judgedAt === null;
  return isFound ? { ...memory, judgedAt: now } : memory;
}

/** Whether one has to wait before trying again. */
export function mustWait(failure: Failure | null, now: EpochMs): failure is Failure {
  return failure !== null && now < failure.retryAt;
}

export function denied(memory: Memory, write: Write, trouble: Trouble, limitAt: EpochMs, now: EpochMs): Memory {
  const { code, message } = trouble;
  const count = (memory.denied[write]?.count ?? 0) + 1;
  const failure = { code, message, count, retryAt: retryAt(count, limitAt, now) };
  return { ...memory, denied: { ...memory.denied, [write]: failure }, hasRecovered: false };
}

export function granted(memory: Memory, write: Write): Memory {
  if (memory.denied[write] === null) return memory;
  return { ...memory, denied: { ...memory.denied, [write]: null }, hasRecovered: true };
}
