/**
 * What is told of a job: what happened to it, held against the trouble it is in already. A trouble is told when it begins
 * and when it is over, so that a job that fails all night is two messages and not eighty.
 */
import type { NotifyOccasion, NotifyRule } from "../job/definition.js";
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

export type TroubleKind = "failure" | "missed" | "late";

/** What a job is in until a run of it succeeds. */
export interface Trouble {
  readonly kind: TroubleKind;
  readonly sinceAt: EpochMs;
}

/** What is worth a word, as far as the facts of one step say it. */
export interface Happening {
  readonly kind: "started" | "succeeded" | "failed" | "missed";
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
      if (outcome !== "missed" && outcome !== "unschedulable") return null;
      return { ...NOTHING, kind: "missed", at, periodId, outcome, reason, result: reason ?? outcome };
    }
    case "periods_not_evaluated": {
      // What a pause or a hint stood in for was left out on purpose.
      if (fact.reason === "paused" || fact.reason === "hinted") return null;
      const { count, lastAt, reason = "down" } = fact;
      return { ...NOTHING, kind: "missed", at, periodId: formatInstant(lastAt), count, result: reason, reason };
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

/** Of which occasions a happening is one, for a job that is in this trouble (null: in none), and what it is in after it. */
export function occasionsOf(
  { kind, at }: Pick<Happening, "kind" | "at">,
  trouble: Trouble | null,
): { readonly occasions: readonly NotifyOccasion[]; readonly isRepeated: boolean; readonly trouble: Trouble | null } {
  switch (kind) {
    case "started":
      return { occasions: ["start"], isRepeated: false, trouble };
    case "succeeded": {
      const recovered = trouble === null ? [] : (["recovered"] as const);
      return { occasions: [...recovered, "success", "output"], isRepeated: false, trouble: null };
    }
    case "failed":
      return {
        occasions: ["failure", "output"],
        isRepeated: trouble?.kind === "failure",
        trouble: into("failure", at, trouble),
      };
    default:
      return { occasions: ["missed"], isRepeated: trouble?.kind === "missed", trouble: into("missed", at, trouble) };
  }
}

/** Since when: the first of a row of troubles, of whatever kind. */
function into(kind: TroubleKind, at: EpochMs, trouble: Trouble | null): Trouble {
  return { kind, sinceAt: trouble?.sinceAt ?? at };
}

/** Which rules tell which of the occasions. */
export function toldBy(
  rules: readonly NotifyRule[],
  { occasions, isRepeated }: { readonly occasions: readonly NotifyOccasion[]; readonly isRepeated: boolean },
): readonly { readonly rule: NotifyRule; readonly occasion: NotifyOccasion }[] {
  const isTrouble = (occasion: NotifyOccasion): boolean => occasion === "failure" || occasion === "missed";
  return rules.flatMap((rule) => {
    const told = occasions.filter((occasion) => rule.on.includes(occasion));
    const fresh = told.filter((occasion) => !isTrouble(occasion) || !isRepeated || rule.repeat);
    return fresh.map((occasion) => ({ rule, occasion }));
  });
}

/** How long without a success is too long, for each rule that asks; no two of them the same. */
export function lateAfterMs(rules: readonly NotifyRule[]): readonly number[] {
  const asked = rules.flatMap(({ lateMs }) => (lateMs === null ? [] : [lateMs]));
  return [...new Set(asked)].sort((one, other) => one - other);
}
