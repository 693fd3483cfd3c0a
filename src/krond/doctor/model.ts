/** What a check of the machine says: figures, a verdict a person can act on, and what it means for jobs. */

export type Verdict = "ok" | "warn" | "bad" | "unknown";

export interface Finding {
  /** Short and stable: `fsync`, `spawn`, `timer`. */
  readonly check: string;
  readonly verdict: Verdict;
  /** One line: what was seen, and what it means. */
  readonly message: string;
  /** What to do about it; null where nothing is to be done. */
  readonly advice: string | null;
  readonly figures: Readonly<Record<string, number | string>>;
}

export interface Sample {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export function sampleOf(values: readonly number[]): Sample {
  const sorted = [...values].sort((one, other) => one - other);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { p50: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? 0 };
}

/** Three figures are more than any of these measurements is worth. */
export function rounded(value: number): number {
  return Number(value.toPrecision(3));
}
