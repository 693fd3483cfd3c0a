/**
 * Constraints at work: canonical texts, and the judgement of candidates. A candidate is judged by its own wall clock in
 * the job's zone, so `between=22:00-06:00` with `dow=FRI` takes Friday's first six and last two hours.
 */

import { LIMITS } from "../base/limits.js";
import type { Problem } from "../base/problem.js";
import { DAY_MS, type EpochMs, MINUTE_MS } from "../time/instant.js";
import type { Zone } from "../time/zone.js";
import { type ClauseKind, CONSTRAINT_KINDS } from "./constraint/table.js";
import type { Clause, Constraints, IntRange } from "./rule.js";

export { parseConstraintText } from "./constraint-text.js";

/** Why a candidate was rejected: the clauses of one kind that did not match (`only`), or the one that did (`avoid`). */
export interface Rejection {
  readonly set: "only" | "avoid";
  readonly clauses: string;
}

/** The canonical text; `parseConstraintText` reads it back to the same clauses. */
export function formatClauses(clauses: readonly Clause[]): string {
  return clauses.map(formatClause).join(";");
}

/** The limit holds for a job, over both of its lists. */
export function checkClauseCount({ only, avoid }: Constraints): Problem | null {
  const count = only.length + avoid.length;
  if (count <= LIMITS.clausesPerJob) {
    return null;
  }
  const message = `${count} clauses, more than the limit of ${LIMITS.clausesPerJob}`;
  return { code: "limit-exceeded", message, path: [] };
}

/** How often at most the mind of constraints changes on a wall clock. */
export function grainMsOf({ only, avoid }: Constraints): number {
  return Math.min(DAY_MS, ...[...only, ...avoid].map(({ kind }) => CONSTRAINT_KINDS[kind].grainMs));
}

/** The predicate of a rule's constraints, or null when everything is accepted. */
export function compileConstraints(constraints: Constraints, zone: Zone): ((candidateAt: EpochMs) => boolean) | null {
  const only = unionByKind(constraints.only);
  const avoid = unionByKind(constraints.avoid);
  if (only.length === 0 && avoid.length === 0) {
    return null;
  }
  return (candidateAt) => {
    const wallMs = candidateAt + zone.offsetMsAt(candidateAt);
    const days = Math.floor(wallMs / DAY_MS);
    const minute = Math.floor((wallMs - days * DAY_MS) / MINUTE_MS);
    return (
      only.every((clause) => matches(clause, days, minute)) && !avoid.some((clause) => matches(clause, days, minute))
    );
  };
}

/** The same judgement with its reason; null when the candidate is accepted. */
export function rejectionOf(constraints: Constraints, zone: Zone, candidateAt: EpochMs): Rejection | null {
  const wallMs = candidateAt + zone.offsetMsAt(candidateAt);
  const days = Math.floor(wallMs / DAY_MS);
  const minute = Math.floor((wallMs - days * DAY_MS) / MINUTE_MS);
  const unmet = unionByKind(constraints.only).find((clause) => !matches(clause, days, minute));
  if (unmet !== undefined) {
    return { set: "only", clauses: formatClauses(constraints.only.filter(({ kind }) => kind === unmet.kind)) };
  }
  const hit = constraints.avoid.find((clause) => matches(clause, days, minute));
  return hit === undefined ? null : { set: "avoid", clauses: formatClause(hit) };
}

/** Several clauses of a kind are a union, in both lists; across kinds, `only` is an "and" and `avoid` an "or". */
function unionByKind(clauses: readonly Clause[]): readonly Clause[] {
  const byKind = new Map<ClauseKind, IntRange[]>();
  for (const { kind, ranges } of clauses) {
    byKind.set(kind, [...(byKind.get(kind) ?? []), ...ranges]);
  }
  return [...byKind].map(([kind, ranges]) => ({ kind, ranges }));
}

function matches({ kind, ranges }: Clause, days: number, minute: number): boolean {
  const value = CONSTRAINT_KINDS[kind].judged(days, minute);
  return ranges.some((range) => contains(range, value));
}

function contains({ from, to }: IntRange, value: number): boolean {
  return from <= to ? value >= from && value <= to : value >= from || value <= to;
}

function formatClause({ kind, ranges }: Clause): string {
  return CONSTRAINT_KINDS[kind].format(ranges);
}
