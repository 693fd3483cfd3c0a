/**
 * The variables of a crontab, as they stand at one of its lines: each holds for the lines below it. A few of them speak to
 * cron itself; all others, and some of those too, are the environment of the commands.
 */

import type { Problem } from "../../base/problem.js";
import { readJobDefinition } from "../../job/schema.js";
import { MINUTE_MS } from "../../time/instant.js";
import { zoneOf } from "../../time/zone.js";
import type { CrontabVerdict } from "./report.js";

/** What cron gives to a command for which the crontab says nothing else. */
const USUAL_ENVIRONMENT: Readonly<Record<string, string>> = { SHELL: "/bin/sh", PATH: "/usr/bin:/bin" };
/** Cronie's own bound. */
const LONGEST_DELAY_MINUTES = 24 * 60;

interface VariableOutcome {
  readonly verdict: CrontabVerdict;
  readonly notes: readonly string[];
  /** Set when the value cannot be used: then neither can the lines that depend on it. */
  readonly problem: Problem | null;
}

/** What a job of the present line gets. */
export interface Surroundings {
  readonly timezone: string;
  readonly shell: string;
  readonly env: Readonly<Record<string, string>>;
  /** From HOME; null: the home directory of the account. */
  readonly cwd: string | null;
  /** From RANDOM_DELAY. */
  readonly delayMs: number;
  /** From MAILTO, as `notify` takes it; null: nobody is mailed what a run prints. */
  readonly mailTo: string | null;
}

const SAME: VariableOutcome = { verdict: "same", notes: [], problem: null };
const MAIL_VARIABLES: ReadonlySet<string> = new Set([
  "MAILTO",
  "MAILFROM",
  "CONTENT_TYPE",
  "CONTENT_TRANSFER_ENCODING",
]);
/** Not for the commands. */
const OWN_VARIABLES: ReadonlySet<string> = new Set(["CRON_TZ", "RANDOM_DELAY"]);

export class CrontabVariables {
  readonly #hostTimezone: string;
  readonly #env = new Map<string, string>(Object.entries(USUAL_ENVIRONMENT));
  /** Variables with a value that cannot be used, and the line that says so. */
  readonly #unusable = new Map<string, number>();
  #timezone: string;
  #delayMinutes = 0;
  #mailTo: string | null = null;

  constructor(hostTimezone: string) {
    this.#hostTimezone = hostTimezone;
    this.#timezone = hostTimezone;
  }

  set(name: string, value: string, line: number): VariableOutcome {
    const outcome = this.#judge(name, value);
    if (outcome.problem !== null) {
      this.#unusable.set(name, line);
      return outcome;
    }
    this.#unusable.delete(name);
    if (name === "CRON_TZ") this.#timezone = value === "" ? this.#hostTimezone : value;
    else if (name === "RANDOM_DELAY") this.#delayMinutes = Number(value);
    else if (!isAccountName(name)) this.#env.set(name, value);
    if (name === "MAILTO") this.#mailTo = value.trim() === "" || mailProblem(value) !== null ? null : value.trim();
    return outcome;
  }

  /** A variable on which every job depends and that has no value which can be used. */
  get unusable(): { readonly name: string; readonly line: number } | null {
    const [first] = this.#unusable;
    return first === undefined ? null : { name: first[0], line: first[1] };
  }

  get surroundings(): Surroundings {
    const env = Object.fromEntries(this.#env);
    // CRON_TZ moves the schedule only: the commands go on living in the zone of the host.
    if (this.#timezone !== this.#hostTimezone && env["TZ"] === undefined) env["TZ"] = this.#hostTimezone;
    return {
      timezone: this.#timezone,
      shell: this.#env.get("SHELL") ?? "/bin/sh",
      env,
      cwd: this.#env.get("HOME") ?? null,
      delayMs: this.#delayMinutes * MINUTE_MS,
      mailTo: this.#mailTo,
    };
  }

  #judge(name: string, value: string): VariableOutcome {
    if (isAccountName(name)) return noted(`cron sets ${name} itself, and so does Kron: this line changes nothing`);
    if (OWN_VARIABLES.has(name)) return name === "CRON_TZ" ? this.#judgeZone(value) : judgeDelay(value);
    const problem = checkVariable(name, value);
    if (problem !== null) return refused(problem);
    if (MAIL_VARIABLES.has(name)) return judgeMail(name, value);
    if ((name === "SHELL" || name === "HOME") && !value.startsWith("/")) {
      return refused({ code: "field-range", message: `${name} must be an absolute path`, path: [] });
    }
    if (name === "TZ" && value !== this.#timezone) {
      return noted(`TZ is for the commands only, as with cron: the schedules are read in ${this.#timezone}`);
    }
    return SAME;
  }

  #judgeZone(value: string): VariableOutcome {
    const zone = zoneOf(value === "" ? this.#hostTimezone : value);
    if (!zone.ok) return refused(zone.error);
    if (zone.value.id === this.#hostTimezone) return SAME;
    return noted(
      `the schedules below are read in ${zone.value.id}, as cronie does; Debian's cron ignores it, and reads them in ${this.#hostTimezone}`,
    );
  }
}

function isAccountName(name: string): boolean {
  return name === "LOGNAME" || name === "USER";
}

/** The lines below keep their jobs whatever it says: a mail that cannot be sent is no reason not to run. */
function judgeMail(name: string, value: string): VariableOutcome {
  if (name === "MAILFROM") return noted("mails come from notifications: { mail_from: ... } in krond's own files");
  if (name !== "MAILTO") return noted("mails are plain text in UTF-8");
  const kept = "what a run prints is kept in a file, see: kron logs";
  if (value.trim() === "") return noted(`no mail is sent, as asked; unlike with cron ${kept}`);
  const problem = mailProblem(value);
  if (problem !== null)
    return { verdict: "unsupported", notes: [`no mail is sent: ${problem}; ${kept}`], problem: null };
  return noted("what a run prints is mailed by sendmail, as with cron, and kept in a file as well, see: kron logs");
}

/** By the rules of `notify`. */
function mailProblem(value: string): string | null {
  const notify = [{ on: ["output"], mail: value.trim() }];
  const read = readJobDefinition({ identity: "x", schedule: "@daily", command: ["x"], notify });
  return read.ok ? null : (read.error[0]?.message ?? "");
}

function judgeDelay(value: string): VariableOutcome {
  const minutes = /^\d{1,4}$/.test(value) ? Number(value) : Number.NaN;
  if (minutes === 0) return SAME;
  if (minutes <= LONGEST_DELAY_MINUTES) return noted(`becomes a window of ${minutes} minutes`);
  const message = `RANDOM_DELAY is a whole number of minutes, 0 to ${LONGEST_DELAY_MINUTES}`;
  return refused({ code: "duration-range", message, path: [] });
}

/** By the same rules as the environment of any job. */
function checkVariable(name: string, value: string): Problem | null {
  const probe = { identity: "x", schedule: "@daily", command: ["x"], env: { [name]: value } };
  const read = name === "__proto__" ? null : readJobDefinition(probe);
  if (read === null) return { code: "environment-name", message: "not a name for a variable", path: [] };
  return read.ok ? null : { ...(read.error[0] as Problem), path: [] };
}

function noted(note: string): VariableOutcome {
  return { verdict: "noted", notes: [note], problem: null };
}

function refused(problem: Problem): VariableOutcome {
  return { verdict: "unsupported", notes: [problem.message], problem };
}
