/** Where a job stands in a list: of those whose keys are equal the name decides, and whoever lists jobs does it so. */
import { coarseLength, FAR, MOST_LENGTH, secondAt, UNKNOWN_LENGTH } from "../../../core/base/coarse.js";
import { compareNames } from "../../../core/base/identity.js";
import { instantOrNull } from "../../../core/time/instant.js";
import type { JobStatus } from "../port.js";
import type { ListOrder } from "./job-query.js";

/** Keys are whole numbers of 32 bits: nothing is behind this one. */
const NOWHERE = 0xff_ff_ff_ff;
const MOST_FAILURES = 0xff_ff;

export type Compare = (one: JobStatus, other: JobStatus) => number;

export function comparisonOf(order: ListOrder): Compare {
  const { sort, isReversed } = order;
  if (sort === "name") {
    const turned = isReversed ? -1 : 1;
    return (one, other) => compareNames(one.identity, other.identity) * turned;
  }
  return (one, other) => rowKey(one, order) - rowKey(other, order) || compareNames(one.identity, other.identity);
}

/** Where a job stands in an order that is not that of names. */
export function rowKey({ failures, lastRun, nextChosenTime }: JobStatus, { sort, isReversed }: ListOrder): number {
  if (sort === "failures") return failuresKey(Math.min(failures, MOST_FAILURES), isReversed);
  // A node of an earlier version tells no times.
  if (sort === "duration") return lengthKey(coarseLength(lastRun?.durationMs ?? null), isReversed);
  if (sort === "lateness") return lengthKey(coarseLength(lastRun?.lateMs ?? null), isReversed);
  const next = instantOrNull(nextChosenTime);
  return nextKey(next === null ? 0 : secondAt(next), isReversed);
}

/** What has failed most often is first. */
export function failuresKey(failures: number, isReversed: boolean): number {
  return isReversed ? failures : MOST_FAILURES - failures;
}

/** The longest is first. */
export function lengthKey(length: number, isReversed: boolean): number {
  if (length === UNKNOWN_LENGTH) return NOWHERE;
  return isReversed ? length : MOST_LENGTH - length;
}

/** By the second: that is what lists show. */
export function nextKey(second: number, isReversed: boolean): number {
  if (second === 0) return NOWHERE;
  return isReversed ? FAR - second : second;
}
