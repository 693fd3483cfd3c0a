/**
 * Constraints at work: canonical texts, and the judgement of candidates. A candidate is judged by its own wall clock in
 * the job's zone, so `between=22:00-06:00` with `dow=FRI` takes Friday's first six and last two hours.
 */

import { LIMITS } from "../base/limits.js";
import type { Problem } from "../base/problem.js";
import { DAY_MS, type EpochMs, MINUTE_MS } from "../time/instant.js";
import type { Zone } from "../time/zone.js";
import { mergedRanges } from "./constraint/kind.js";
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

/** The same for people: of long calendars only what they are called and how much there is of them. */
export function briefClauses(clauses: readonly Clause[]): string {
  return clauses.map((clause) => briefClause(clause, null)).join(";");
}

/** The limits hold for a job, over both of its lists: every record of a decision carries all of it. */
export function checkClauseCount({ only, avoid }: Constraints): Problem | null {
  const clauses = [...only, ...avoid];
  const message = tooMuch(clauses.length, "clauses", LIMITS.clausesPerJob) ?? tooManyDates(clauses);
  return message === null ? null : { code: "limit-exceeded", message, path: [] };
}

function tooManyDates(clauses: readonly Clause[]): string | null {
  const count = clauses.reduce((sum, { kind, ranges }) => sum + (kind === "calendar" ? ranges.length : 0), 0);
  return tooMuch(count, "dates and ranges of dates in calendars", LIMITS.calendarDates);
}

function tooMuch(count: number, what: string, limit: number): string | null {
  return count <= limit ? null : `${count} ${what}, more than the limit of ${limit}`;
}

/** How often at most the mind of constraints changes on a wall clock. */
export function grainMsOf({ only, avoid }: Constraints): number {
  return Math.min(DAY_MS, ...[...only, ...avoid].map(({ kind }) => CONSTRAINT_KINDS[kind].grainMs));
}

/** The predicate of a rule's constraints, or null when everything is accepted. */
export function compileConstraints(constraints: Constraints, zone: Zone): ((candidateAt: EpochMs) => boolean) | null {
  const only = unionByKind(constraints.only).map(matcherOf);
  const avoid = unionByKind(constraints.avoid).map(matcherOf);
  if (only.length === 0 && avoid.length === 0) {
    return null;
  }
  return (candidateAt) => {
    const wallMs = candidateAt + zone.offsetMsAt(candidateAt);
    const days = Math.floor(wallMs / DAY_MS);
    const minute = Math.floor((wallMs - days * DAY_MS) / MINUTE_MS);
    return only.every((matches) => matches(days, minute)) && !avoid.some((matches) => matches(days, minute));
  };
}

/** The same judgement with its reason; null when the candidate is accepted. */
export function rejectionOf(constraints: Constraints, zone: Zone, candidateAt: EpochMs): Rejection | null {
  const wallMs = candidateAt + zone.offsetMsAt(candidateAt);
  const days = Math.floor(wallMs / DAY_MS);
  const minute = Math.floor((wallMs - days * DAY_MS) / MINUTE_MS);
  const unmet = unionByKind(constraints.only).find((clause) => !matches(clause, days, minute));
  if (unmet !== undefined) {
    return { set: "only", clauses: briefClauses(constraints.only.filter(({ kind }) => kind === unmet.kind)) };
  }
  const hit = constraints.avoid.find((clause) => matches(clause, days, minute));
  if (hit === undefined) return null;
  return { set: "avoid", clauses: briefClause(hit, CONSTRAINT_KINDS[hit.kind].judged(days, minute)) };
}

type Union = Pick<Clause, "kind" | "ranges">;

/** Several clauses of a kind are a union, in both lists; across kinds, `only` is an "and" and `avoid` an "or". */
function unionByKind(clauses: readonly Clause[]): readonly Union[] {
  const byKind = new Map<ClauseKind, readonly IntRange[]>();
  for (const { kind, ranges } of clauses) {
    const before = byKind.get(kind);
    byKind.set(kind, before === undefined ? ranges : [...before, ...ranges]);
  }
  return [...byKind].map(([kind, ranges]) => ({ kind, ranges }));
}

/** With more ranges than that it pays to search them: a calendar may have thousands. */
const FEW_RANGES = 16;

/** Of ranges that many jobs share, as those of a calendar are. */
const sortedRanges = new WeakMap<readonly IntRange[], readonly IntRange[]>();

/** null: one of them wraps. */
function sortedOf(ranges: readonly IntRange[]): readonly IntRange[] | null {
  const known = sortedRanges.get(ranges);
  if (known !== undefined) return known;
  if (ranges.some(({ from, to }) => from > to)) return null;
  const sorted = mergedRanges(ranges);
  sortedRanges.set(ranges, sorted);
  return sorted;
}

/** As `matches`, prepared for many candidates. */
function matcherOf(union: Union): (days: number, minute: number) => boolean {
  const { kind, ranges } = union;
  const sorted = ranges.length <= FEW_RANGES ? null : sortedOf(ranges);
  if (sorted === null) return (days, minute) => matches(union, days, minute);
  const { judged } = CONSTRAINT_KINDS[kind];
  return (days, minute) => {
    const value = judged(days, minute);
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sorted[middle] as IntRange).to < value) low = middle + 1;
      else high = middle;
    }
    return (sorted[low]?.from ?? Number.POSITIVE_INFINITY) <= value;
  };
}

function matches({ kind, ranges }: Union, days: number, minute: number): boolean {
  const value = CONSTRAINT_KINDS[kind].judged(days, minute);
  return ranges.some((range) => contains(range, value));
}

function contains({ from, to }: IntRange, value: number): boolean {
  return from <= to ? value >= from && value <= to : value >= from || value <= to;
}

function formatClause(clause: Clause): string {
  return CONSTRAINT_KINDS[clause.kind].format(clause);
}

function briefClause(clause: Clause, value: number | null): string {
  const { brief, format } = CONSTRAINT_KINDS[clause.kind];
  return brief === undefined ? format(clause) : brief(clause, value);
}
