/** Exit codes of every command, stable within a major version. */
export const EXIT = {
  ok: 0,
  /** Wrong usage, nothing found, nothing running. */
  usage: 1,
  /** Configuration or validation. */
  configuration: 2,
  /** State incompatible, corrupt or unreadable. */
  state: 3,
  lockHeld: 4,
  /** Fatal persistence or internal failure. */
  fatal: 5,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Of what a daemon, or whoever stands in for it, says instead of doing what it was asked. */
export const EXIT_OF_KIND = {
  "not-found": EXIT.usage,
  refused: EXIT.usage,
  "bad-request": EXIT.usage,
  conflict: EXIT.usage,
  stale: EXIT.usage,
  exhausted: EXIT.usage,
  forbidden: EXIT.usage,
  "no-answer": EXIT.fatal,
  failed: EXIT.fatal,
} as const satisfies Readonly<Record<string, ExitCode>>;

/** Ends a command with one line for the person and the exit code for the script. */
export class CliError extends Error {
  readonly exitCode: number;
  readonly hint: string | undefined;

  constructor(exitCode: number, message: string, hint?: string) {
    super(message);
    this.name = "CliError";
    this.exitCode = exitCode;
    this.hint = hint;
  }
}

export function usageError(message: string, hint?: string): CliError {
  return new CliError(EXIT.usage, message, hint);
}
