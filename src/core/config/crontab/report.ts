/** What the reading of a crontab says about each of its lines. */
import type { Against, ConfigReading } from "../located.js";

/** `user`: what `crontab -e` edits. `system`: /etc/crontab and /etc/cron.d, where a user comes before the command. */
export type CrontabForm = "user" | "system";

export interface CrontabRules {
  readonly form: CrontabForm;
  /** The zone in which the cron of this host reads its tables; CRON_TZ overrules it. */
  readonly timezone: string;
  /** Whose crontab it is, for the user form; null: the user who runs the daemon. */
  readonly owner: string | null;
  /** Told with the places in question, beside the jobs. */
  readonly against?: Against;
}

/**
 * - `same`: means here what it means to cron.
 * - `noted`: does so but for what the notes say.
 * - `unsupported`: has no effect here, for the reason in the notes. A job with this verdict is also a problem.
 */
export type CrontabVerdict = "same" | "noted" | "unsupported";

export interface CrontabLine {
  readonly kind: "variable" | "job";
  /** One-based. */
  readonly line: number;
  readonly text: string;
  readonly verdict: CrontabVerdict;
  readonly notes: readonly string[];
  /** Of the job that came of the line. */
  readonly identity: string | null;
  /** The comment lines right above it. */
  readonly comments: readonly string[];
}

export interface CrontabReading extends ConfigReading {
  readonly file: string;
  /** Every line that is neither blank nor a comment. */
  readonly lines: readonly CrontabLine[];
}

const MAILTO_LINE = /^\s*(["']?)MAILTO\1\s*=/;

/** Whether some job stands above every MAILTO line: cron mails its owner what it prints, and here nobody is mailed. */
export function hasUnmailedJobs({ jobs, lines }: Pick<CrontabReading, "jobs" | "lines">): boolean {
  const first = lines.find(({ kind, text }) => kind === "variable" && MAILTO_LINE.test(text));
  return jobs.some(({ line }) => first === undefined || line < first.line);
}

const SPOOL = /^\/var\/(?:spool\/cron\/crontabs|spool\/cron|cron\/tabs)\/([^/]+)$/;
const SYSTEM = /^\/etc\/(?:crontab|cron\.d\/[^/]+)$/;

/** The form that a file of this absolute path has; null when the path does not tell. */
export function crontabFormOf(path: string): CrontabForm | null {
  if (SYSTEM.test(path)) return "system";
  return SPOOL.test(path) ? "user" : null;
}

/** Whose crontab a file of cron's spool directory is. */
export function crontabOwnerOf(path: string): string | null {
  return SPOOL.exec(path)?.[1] ?? null;
}
