/**
 * What is told of a job: what happened to it, held against the trouble it is in already. A trouble is told when it begins
 * and when it is over, so that a job that fails all night is two messages and not eighty.
 */
import type { NotifyOccasion, NotifyRule } from "../job/definition.js";
import { notStarted } from "../period/reasons.js";
import {
  type Ending,
  type EndingFields,
  endingFields,
  endingText,
  isSuccess,
  withoutExcerpt,
} from "../state/ending.js";
import type { LedgerFact } from "../state/facts.js";
import { type EpochMs, formatInstant } from "../time/instant.js";

type TroubleKind = "failure" | "missed" | "late";

/** What a job is in until a run of it succeeds. */
export interface Trouble {
  readonly kind: TroubleKind;
  readonly sinceAt: EpochMs;
  /** So many runs in a row have failed, and somebody waits for more of them. Absent: everybody was told. */
  readonly counted?: Counted;
  /** S24: that it cannot be started was told, and no run has begun since. Absent: no. */
  readonly isUnstartable?: true;
}

interface Counted {
  readonly failures: number;
  /** Those waits, by name, of which everybody was told. */
  readonly told: readonly string[];
}

/** For how many failed runs in a row somebody waits who is told of them. */
interface Wait {
  readonly failures: number;
  /** Whoever is told that the job is late knows earlier than others who wait for as many. */
  readonly name: string;
}

interface Occasions {
  readonly occasions: readonly NotifyOccasion[];
  readonly isRepeated: boolean;
  readonly trouble: Trouble | null;
  /** Failed runs with this one, and who was told before it. Absent: everybody was told, or waits for nothing. */
  readonly counted?: Counted;
}

/** What is worth a word, as far as the facts of one step say it. */
export interface Happening {
  readonly kind: "started" | "succeeded" | "failed" | "missed" | "not_started" | "stopped";
  readonly at: EpochMs;
  /** The period or slot; of periods that nobody looked at, the last one. */
  readonly periodId: string;
  readonly attemptId: string | null;
  /** null: a period of the job's own schedule. */
  readonly source: string | null;
  /** In words: `exit 7`, `deadline`. */
  readonly result: string | null;
  readonly ending: EndingFields | null;
  readonly outcome: string | null;
  readonly reason: string | null;
  /** Periods that nobody looked at. */
  readonly count: number | null;
}

const NOTHING = { attemptId: null, source: null, result: null, ending: null, outcome: null, reason: null, count: null };

/** null: nothing that anybody is told of. */
export function happeningOf(fact: LedgerFact): Happening | null {
  const { at } = fact;
  switch (fact.kind) {
    case "run_started": {
      const { attemptId, source, periodId } = fact.run;
      return { ...NOTHING, kind: "started", at, periodId, attemptId, source };
    }
    case "run_ended": {
      const { run, ending } = fact;
      if (isOnPurpose(ending)) return null;
      const { attemptId, source, periodId } = run;
      const kind = isSuccess(ending) ? "succeeded" : "failed";
      const told = { result: resultText(ending), ending: endingFields(withoutExcerpt(ending)) };
      return { ...NOTHING, kind, at, periodId, attemptId, source, ...told };
    }
    case "outcome": {
      const { outcome, reason, periodId } = fact;
      if (outcome !== "missed" && outcome !== "unschedulable" && reason !== "failover_fenced") return null;
      return { ...NOTHING, kind: "missed", at, periodId, outcome, reason, result: reason ?? outcome };
    }
    case "periods_not_evaluated": {
      // What a pause or a hint stood in for was left out on purpose.
      if (fact.reason === "paused" || fact.reason === "hinted") return null;
      const { count, lastAt, reason = "down" } = fact;
      return { ...NOTHING, kind: "missed", at, periodId: formatInstant(lastAt), count, result: reason, reason };
    }
    case "start_failed": {
      const { slotAt, source, code } = fact;
      const reason = notStarted(code);
      return { ...NOTHING, kind: "not_started", at, periodId: formatInstant(slotAt), source, result: reason, reason };
    }
    case "slot_closed": {
      const { outcome, reason, slotAt, source } = fact;
      // C12: whether it has run nobody knows.
      if (outcome !== "missed" && reason !== "failover_fenced") return null;
      return {
        ...NOTHING,
        kind: "missed",
        at,
        periodId: formatInstant(slotAt),
        source,
        outcome,
        reason,
        result: reason,
      };
    }
    case "paused": {
      // S51: an end that was agreed on is no trouble.
      if (fact.stoppedFor !== "failures") return null;
      const { reason } = fact;
      return { ...NOTHING, kind: "stopped", at, periodId: formatInstant(at), reason, result: `paused: ${reason}` };
    }
    case "retry_dropped":
      // S43: the failure was held back for it, see `happeningsOf`.
      return { ...NOTHING, kind: "failed", at, periodId: fact.retry.PeriodID, result: "not tried again" };
    default:
      return null;
  }
}

/** What one step says, in order. S43: a run that is tried again has not failed yet. */
export function happeningsOf(facts: readonly LedgerFact[]): readonly Happening[] {
  const isTriedAgain = facts.some(({ kind }) => kind === "retry_planned");
  const all = facts.flatMap((fact) => happeningOf(fact) ?? []);
  return isTriedAgain ? all.filter(({ kind }) => kind !== "failed") : all;
}

/** Somebody has ended it, or the job's own policy: that is no failure of the run. */
const ON_PURPOSE: ReadonlySet<string> = new Set(["cancelled", "replaced"]);

function isOnPurpose(ending: Ending): boolean {
  return ending.reason !== null && ON_PURPOSE.has(ending.reason);
}

/** A bare number would be anything. */
function resultText(ending: Ending): string {
  const text = endingText(ending);
  return /^\d+$/.test(text) ? `exit ${text}` : text;
}

/**
 * Of which occasions a happening is one, for a job that is in this trouble (null: in none), and what it is in after it.
 * `awaited`: what they wait for who are told of failed runs.
 */
export function occasionsOf(
  { kind, at }: Pick<Happening, "kind" | "at">,
  trouble: Trouble | null,
  awaited: readonly Wait[] = FIRST,
): Occasions {
  // What is no failed run is told whoever waits for some, and then they know.
  const counted = trouble?.counted === undefined ? {} : { counted: { ...trouble.counted, failures: ALL } };
  switch (kind) {
    case "started":
      return { occasions: ["start"], isRepeated: false, trouble: startable(trouble) };
    case "succeeded": {
      const recovered = trouble === null ? [] : (["recovered"] as const);
      return { occasions: [...recovered, "success", "output"], isRepeated: false, trouble: null, ...counted };
    }
    case "failed":
      return failed(at, trouble, awaited);
    case "not_started":
      return { ...notStartedAgain(at, trouble), ...counted };
    case "stopped":
      // S51: that it fails was told; that it is not tried any more is news, once.
      return { occasions: ["failure"], isRepeated: false, trouble: into("failure", at, trouble) };
    default: {
      const still = trouble?.isUnstartable === true ? ({ isUnstartable: true } as const) : {};
      const inTrouble = { ...into("missed", at, trouble), ...still };
      return { occasions: ["missed"], isRepeated: trouble?.kind === "missed", trouble: inTrouble };
    }
  }
}

/**
 * S46: nothing has run, so that there is nothing that it could have printed. S24: told once until a run begins, although
 * every period that cannot be started is missed in between.
 */
function notStartedAgain(at: EpochMs, trouble: Trouble | null): Omit<Occasions, "counted"> {
  const occasions = ["failure"] as const;
  if (trouble?.isUnstartable === true) return { occasions, isRepeated: true, trouble };
  const inTrouble = { ...into("failure", at, trouble), isUnstartable: true } as const;
  return { occasions, isRepeated: trouble?.kind === "failure", trouble: inTrouble };
}

/** A run has begun. */
function startable(trouble: Trouble | null): Trouble | null {
  if (trouble?.isUnstartable !== true) return trouble;
  const { isUnstartable: _, ...rest } = trouble;
  return rest;
}

const FIRST: readonly Wait[] = [{ failures: 1, name: "1" }];
const ALL = Number.POSITIVE_INFINITY;
const NONE_YET: Counted = { failures: 0, told: [] };

/** One more in the row, until everybody was told of the trouble. */
function failed(at: EpochMs, trouble: Trouble | null, awaited: readonly Wait[]): Occasions {
  const occasions = ["failure", "output"] as const;
  const inTrouble = into("failure", at, trouble);
  const before = trouble === null ? NONE_YET : trouble.counted;
  if (before === undefined) return { occasions, isRepeated: trouble?.kind === "failure", trouble: inTrouble };
  const counted = { failures: before.failures + 1, told: before.told };
  const reached = awaited.filter(({ failures }) => failures <= counted.failures);
  return { occasions, isRepeated: true, trouble: knownTo({ ...inTrouble, counted }, reached, awaited), counted };
}

/** A trouble of which these, of all who wait, know from now on. */
export function knownTo(trouble: Trouble, knowing: readonly Wait[], awaited: readonly Wait[]): Trouble {
  const { kind, sinceAt, counted } = trouble;
  if (counted === undefined) return trouble;
  const told = [...new Set([...counted.told, ...knowing.map(({ name }) => name)])];
  const isOver = awaited.every(({ name }) => told.includes(name));
  return isOver ? { kind, sinceAt } : { kind, sinceAt, counted: { ...counted, told } };
}

/** Since when: the first of a row of troubles, of whatever kind. */
function into(kind: TroubleKind, at: EpochMs, trouble: Trouble | null): Trouble {
  return { kind, sinceAt: trouble?.sinceAt ?? at };
}

/** Which rules tell which of the occasions. */
export function toldBy(
  rules: readonly NotifyRule[],
  { occasions, isRepeated, counted }: Omit<Occasions, "trouble">,
): readonly { readonly rule: NotifyRule; readonly occasion: NotifyOccasion }[] {
  const isTrouble = (occasion: NotifyOccasion): boolean => occasion === "failure" || occasion === "missed";
  return rules.flatMap((rule) => {
    const { failures, name } = waitOf(rule);
    const wasTold = counted === undefined || counted.told.includes(name);
    const isReached = counted === undefined || failures <= counted.failures;
    const isDue = (occasion: NotifyOccasion): boolean => {
      if (occasion === "recovered") return wasTold;
      if (!isTrouble(occasion)) return true;
      return isReached && (!isRepeated || !wasTold || rule.repeat);
    };
    const told = occasions.filter((occasion) => rule.on.includes(occasion) && isDue(occasion));
    return told.map((occasion) => ({ rule, occasion }));
  });
}

export function awaitedBy(rules: readonly NotifyRule[]): readonly Wait[] {
  return [...new Map(rules.map(waitOf).map((wait) => [wait.name, wait])).values()];
}

function waitOf({ after = 1, lateMs }: NotifyRule): Wait {
  return { failures: after, name: lateMs === null ? `${after}` : `${after}, late ${lateMs}` };
}

/** How long without a success is too long, for each rule that asks; no two of them the same. */
export function lateAfterMs(rules: readonly NotifyRule[]): readonly number[] {
  const asked = rules.flatMap(({ lateMs }) => (lateMs === null ? [] : [lateMs]));
  return [...new Set(asked)].sort((one, other) => one - other);
}
