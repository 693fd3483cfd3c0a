/** Ranges are inclusive. A range with `from > to` wraps, where its kind lets it. */
export interface IntRange {
  readonly from: number;
  readonly to: number;
}
