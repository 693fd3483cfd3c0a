/** Bounds of what is said to a model, and of what it may leave open. */
export const MCP_LIMITS = {
  /** Of one answer, as JSON. */
  answerBytes: 32 * 1024,
  /** Of a line of standard input. */
  lineChars: 1024 * 1024,
  /** Requests of one client; more than these are refused until some have been answered. */
  underWay: 32,
  /** What was asked before standard input ended may take so long to be answered. */
  lastAnswersMs: 5_000,
} as const;
