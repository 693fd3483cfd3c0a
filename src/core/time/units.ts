/** An instant as integer milliseconds since 1970-01-01T00:00:00Z, leap seconds not counted (S1). */
export type EpochMs = number;

export const SECOND_MS = 1000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;
