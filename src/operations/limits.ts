/** Bounds of what may be asked. Every command that asks the daemon loads this file, so it imports nothing. */
export const OPERATION_LIMITS = {
  /** Rows of one answer of a list. */
  listRows: 500,
  historyEntries: 10_000,
  /** Patterns, standings or tags of one list. */
  filterWords: 64,
  /** Who has changed what is known for so long, and so many times, of each tenant. */
  auditMs: 90 * 24 * 3_600_000,
  auditRecords: 10_000,
  /** How many more there may be before the oldest go. */
  auditSpare: 500,
} as const;
