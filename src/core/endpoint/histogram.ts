/**
 * Durations counted by size, eight sizes an octave from a millisecond to two and a half hours: whatever is asked of them
 * afterwards is right to within five per cent, and two counts are put together by adding them. A value: counting makes a
 * new one.
 */

/** Sizes in ascending order, each followed by how many durations have it: `[size, count, size, count, …]`. */
export type Histogram = readonly number[];

export const EMPTY_HISTOGRAM: Histogram = Object.freeze([]);

const SIZES_PER_OCTAVE = 8;
const LONGEST_MS = 2.5 * 3_600_000;
/** Whatever is longer counts as the longest; whatever is shorter than a millisecond, as one. */
export const LARGEST_SIZE = sizeOf(LONGEST_MS);

function sizeOf(durationMs: number): number {
  const withinMs = Math.min(Math.max(durationMs, 1), LONGEST_MS);
  return Math.floor(SIZES_PER_OCTAVE * Math.log2(withinMs));
}

/** The middle of a size: no duration in it is further than 4.5 % away. */
function durationOf(size: number): number {
  const middleMs = 2 ** ((size + 0.5) / SIZES_PER_OCTAVE);
  return middleMs >= 100 ? Math.round(middleMs) : Math.round(middleMs * 100) / 100;
}

export function withDuration(histogram: Histogram, durationMs: number): Histogram {
  const size = sizeOf(durationMs);
  let at = 0;
  while (at < histogram.length && (histogram[at] ?? 0) < size) at += 2;
  const counted = histogram.slice();
  if (histogram[at] === size) counted[at + 1] = (histogram[at + 1] ?? 0) + 1;
  else counted.splice(at, 0, size, 1);
  return counted;
}

/**
 * Of all these together, the duration that a share of them does not exceed (the nearest rank, so that it is one that
 * happened); null when there are none.
 */
export function percentilesOf(histograms: readonly Histogram[], shares: readonly number[]): readonly (number | null)[] {
  const counts: number[] = [];
  let total = 0;
  for (const histogram of histograms) {
    for (let at = 0; at < histogram.length; at += 2) {
      const [size, count] = [histogram[at] ?? 0, histogram[at + 1] ?? 0];
      counts[size] = (counts[size] ?? 0) + count;
      total += count;
    }
  }
  return shares.map((share) => (total === 0 ? null : durationOf(sizeAtRank(counts, Math.ceil(share * total)))));
}

function sizeAtRank(counts: readonly number[], rank: number): number {
  let seen = 0;
  for (let size = 0; size < counts.length; size++) {
    seen += counts[size] ?? 0;
    if (seen >= Math.max(rank, 1)) return size;
  }
  throw new Error(`invariant broken: there is no rank ${rank}`);
}
