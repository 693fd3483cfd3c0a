/**
 * Times as small whole numbers, for columns of a million of them. A length is 16 bits, like a small floating number, so that
 * what is longer is never less: up to two seconds it is exact, beyond that to one part in two thousand. An instant is its
 * second, in 32 bits.
 */

/** Of nothing: it is not known. */
export const UNKNOWN_LENGTH = 0;
export const MOST_LENGTH = 0xff_ff;

/** Milliseconds that fit without a loss; from there on each doubling has as many steps. */
const STEPS = 2_048;
const STEP_BITS = 11;

/** null: not known. */
export function coarseLength(ms: number | null): number {
  if (ms === null) return UNKNOWN_LENGTH;
  const whole = Math.max(0, Math.round(ms));
  if (whole < STEPS) return whole + 1;
  const doublings = Math.floor(Math.log2(whole)) - STEP_BITS;
  const step = Math.floor(whole / 2 ** doublings) - STEPS;
  return Math.min(MOST_LENGTH, (doublings + 1) * STEPS + step + 1);
}

/** That second, or a later one. */
export const FAR = 0xff_ff_ff_fe;
const SECOND_MS = 1_000;

/** Never 0, which is left for none. */
export function secondAt(at: number): number {
  return Math.min(FAR, Math.max(1, Math.floor(at / SECOND_MS)));
}
