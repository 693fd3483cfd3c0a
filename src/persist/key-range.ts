/**
 * Stretches of the keys of a store. Keys begin with the digits of a hash, so that a stretch holds about its share of the
 * jobs, and whoever is shown one stretch needs to know nothing of the others.
 */

/** Keys from `from` up to, and without, `to`: hexadecimal digits of SHA-256, an even number of them. */
export interface KeyRange {
  readonly from: string;
  /** null: to the end. */
  readonly to: string | null;
}

const RANGE_DIGITS = 12;
const RANGE_SPACE = 16 ** RANGE_DIGITS;

export const ALL_KEYS: KeyRange = { from: "0".repeat(RANGE_DIGITS), to: null };

function place(digits: string): number {
  return Number.parseInt(digits.padEnd(RANGE_DIGITS, "0"), 16);
}

/** How much of all keys lies in it, from 0 to 1. */
export function shareOf({ from, to }: KeyRange): number {
  return ((to === null ? RANGE_SPACE : place(to)) - place(from)) / RANGE_SPACE;
}

/** Stretches that hold about the same number of jobs each. Together they hold every key of `within` once. */
export function keyRanges(count: number, within: KeyRange = ALL_KEYS): readonly KeyRange[] {
  const [first, share] = [place(within.from), shareOf(within)];
  const startOf = (index: number): string =>
    Math.floor(first + (index / count) * share * RANGE_SPACE)
      .toString(16)
      .padStart(RANGE_DIGITS, "0");
  return Array.from({ length: count }, (_, index) => ({
    from: index === 0 ? within.from : startOf(index),
    to: index + 1 === count ? within.to : startOf(index + 1),
  }));
}

/** Whether a key that begins with these digits lies in it. */
export function isInRange(digits: string, { from, to }: KeyRange): boolean {
  return digits >= from && (to === null || digits < to);
}
