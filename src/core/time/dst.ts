/** What becomes of wall-clock times that a clock change skips or repeats (S3). */
export interface DstRule {
  /** What becomes of a nominal time that a clock change skips: no period, or one at the first instant after the gap. */
  readonly gap: "skip" | "next";
  /** What becomes of a nominal time that a clock change repeats. */
  readonly overlap: "both" | "first" | "last";
}
