/** What is asked of a list of jobs: which of them, and in which order. The daemon and whoever reads a store ask the same. */
import type { Outcome } from "../../../core/state/document.js";
import type { EpochMs } from "../../../core/time/instant.js";

export const STANDINGS = ["enabled", "suspended", "paused", "removed"] as const;
export type StandingName = (typeof STANDINGS)[number];

/** An empty list lets everything through; of several words in one any will do, and each list must agree. */
export interface ListFilter {
  /** Patterns (see `matchesGlob`). */
  readonly identities: readonly string[];
  readonly standings: readonly StandingName[];
  readonly tags: readonly string[];
  /** Only jobs with this text in their identity. */
  readonly search?: string | undefined;
  /** Jobs that people know by another name with this text in it, beside those with it in their identity. */
  readonly called?: readonly string[] | undefined;
  /** Only jobs whose last run did not succeed, or whose last period was missed or found no second. */
  readonly isFailing?: boolean | undefined;
  /** Only jobs of which something runs. */
  readonly isRunning?: boolean | undefined;
  /** Only jobs whose last period came to one of these. */
  readonly outcomes?: readonly Outcome[] | undefined;
  /** Only jobs whose next run is due at or before this instant. */
  readonly dueBy?: EpochMs | undefined;
}

const calledSets = new WeakMap<readonly string[], ReadonlySet<string>>();

export function calledIn({ called = [] }: ListFilter): ReadonlySet<string> {
  const known = calledSets.get(called) ?? new Set(called);
  calledSets.set(called, known);
  return known;
}

export const ALL_JOBS: ListFilter = { identities: [], standings: [], tags: [] };

/** Orders that a daemon knows without reading a job; of jobs that are equal in one, the name decides. */
export const INDEX_SORTS = ["name", "next", "failures", "duration", "lateness"] as const;
export type IndexSort = (typeof INDEX_SORTS)[number];

export interface ListOrder {
  readonly sort: IndexSort;
  /** The other way round; what has no next run, or has never run, is last all the same. */
  readonly isReversed: boolean;
}

export const BY_NAME: ListOrder = { sort: "name", isReversed: false };
