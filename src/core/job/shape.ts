/**
 * What a person may write, as one zod schema: names, types and choices. From it come the check of every definition, the
 * types of raw input and the JSON Schema for editors. Meaning (zones, schedules, windows, limits) is judged by the
 * readers next to this file, so that nothing here refuses a text.
 */
import { z } from "zod";
import { LIMITS } from "../base/limits.js";
import { assertNever } from "../base/result.js";
import { CLAUSE_WORDS } from "../decision/constraint/table.js";
import type { ParameterForm } from "../decision/distribution/kind.js";
import type { DistributionName } from "../decision/distribution/table.js";
import { DISTRIBUTION_NAMES, parameterForms } from "../decision/distributions.js";
import { HTTP_METHODS, REQUEST_CARRIERS } from "./choices.js";
import { NOTIFY_OCCASIONS, WINDOW_DEADLINE } from "./definition.js";
import { NAME_FORM } from "./pool.js";

const GO_DURATION = "^(0|(([0-9]+(\\.[0-9]*)?|\\.[0-9]+)(h|m|s|ms))+)$";
const SIZE = "^[0-9]+(B|kB|MB|GB|KiB|MiB|GiB)$";

function text(description: string, more: Record<string, unknown> = {}): z.ZodString {
  return z.string().meta({ description, ...more });
}

export function durationText(description: string, examples: readonly string[]): z.ZodString {
  return text(`${description} Go-style, like 1h30m, 90s or 250ms.`, { pattern: GO_DURATION, examples });
}

function clauses(description: string): z.ZodUnion<readonly [z.ZodString, z.ZodArray<z.ZodString>]> {
  return z.union([z.string(), z.array(z.string())]).meta({
    description: `${description} Clauses: ${[...CLAUSE_WORDS.keys()].join(", ")}; several joined by ";" or as a list.`,
    examples: ["dow=MON-FRI;between=00:00-06:00", ["hours=9-17", "months=JAN,JUL"], "calendar=de-holidays"],
  });
}

/** A distribution as it is written: what its parameters may be, the table of distributions says. */
type RawDistribution =
  | DistributionName
  | { readonly name: DistributionName; readonly [parameter: string]: string | number | undefined };

function parameterShape(form: ParameterForm): z.ZodType {
  switch (form.form) {
    case "number": {
      const { description, exclusiveMinimum } = form;
      return z.number().meta({ description, exclusiveMinimum }).optional();
    }
    case "choice":
      return z.enum(form.choices).optional();
    case "text":
      return text(form.description, { examples: form.examples }).optional();
    default:
      return assertNever(form, "form of a parameter");
  }
}

const PARAMETRISED = parameterForms().map(([name, forms]) => {
  const parameters = Object.entries(forms).map(([key, form]) => [key, parameterShape(form)] as const);
  return z.strictObject({ name: z.literal(name), ...Object.fromEntries(parameters) });
});

const DISTRIBUTION_SHAPE: z.ZodType<RawDistribution, RawDistribution> = z
  .union([
    z.enum(DISTRIBUTION_NAMES),
    z.discriminatedUnion("name", PARAMETRISED as [(typeof PARAMETRISED)[number], ...typeof PARAMETRISED]),
  ])
  .meta({ description: "How likely each moment of the window is; uniform by default." });

const OUTPUT_SHAPE = z
  .strictObject({
    file: z.boolean().meta({ description: "true: the same as to: file." }).optional(),
    to: z
      .enum(["file", "log", "inherit", "discard", "syslog"])
      .meta({ description: "file by default; log: to a file, and as lines of the daemon's log." })
      .optional(),
    max: text("Size cap of one run's output; 10MB by default.", { pattern: SIZE }).optional(),
    keep: z.int().min(1).max(LIMITS.outputFiles).meta({ description: "Files kept; 10 by default." }).optional(),
    on_excess: z
      .enum(["drop-middle", "kill"])
      .meta({ description: "What happens at the cap: the middle is left out (default), or the run is ended." })
      .optional(),
  })
  .meta({ description: "Where the output of a run goes." });

const HTTP_SHAPE = z
  .strictObject({
    url: text("http or https.", { examples: ["https://example.org/hook"] }),
    method: z.enum(HTTP_METHODS).meta({ description: "GET by default." }).optional(),
    headers: z.record(z.string(), z.string()).meta({ description: "Sent as they are written here." }).optional(),
    header_files: z
      .record(z.string(), z.string())
      .meta({ description: "Headers whose values are the contents of files, read for each request." })
      .optional(),
    header_env: z
      .record(z.string(), z.string())
      .meta({ description: "Headers whose values are variables of the daemon's own environment." })
      .optional(),
    body: z.string().meta({ description: "What is sent; not with GET or HEAD." }).optional(),
    timeout: durationText("From connecting to the last byte; 30s by default.", ["10s"]).optional(),
    max_response: text("An answer that is longer fails; 1MB by default.", { pattern: SIZE }).optional(),
    excerpt: text("How much of an answer is kept for kron logs; 512B by default, 0B for nothing.", {
      pattern: SIZE,
    }).optional(),
    success: z
      .union([z.string(), z.int(), z.array(z.union([z.string(), z.int()]))])
      .meta({
        description: "Statuses that count as success; 2xx by default.",
        examples: ["2xx", [200, "202-204", 304]],
      })
      .optional(),
    success_body: z
      .strictObject({
        contains: z.string().meta({ description: "A text that is somewhere in it." }).optional(),
        pointer: text("Where in its JSON; RFC 6901, like /status.").optional(),
        equals: z
          .union([z.string(), z.number(), z.boolean(), z.null()])
          .meta({ description: "What must be there." })
          .optional(),
      })
      .meta({ description: "What the body of such an answer must be: contains, or pointer and equals." })
      .optional(),
    signature: z
      .strictObject({
        secret_file: z.string().optional(),
        secret_env: z.string().optional(),
        secret_sealed: z.string().meta({ description: "As endpoints keep it: sealed by this daemon." }).optional(),
      })
      .meta({ description: "Signs each request as a Standard Webhook, with the secret of a file or a variable." })
      .optional(),
    ca_file: text("Certificates to trust instead of the system's, as PEM.", { pattern: "^/" }).optional(),
    client_cert_file: text("Our own certificate, as PEM.", { pattern: "^/" }).optional(),
    client_key_file: text("The key of our own certificate, as PEM.", { pattern: "^/" }).optional(),
    by: z
      .enum(REQUEST_CARRIERS)
      .meta({ description: "worker: not sent by the daemon; a worker of one's own comes for it. krond by default." })
      .optional(),
  })
  .meta({ description: "A request to send, instead of a command to run." });

const NOTIFY_RULE_SHAPE = z
  .strictObject({
    on: z
      .array(z.enum(NOTIFY_OCCASIONS))
      .meta({ description: "What is told: failure, missed and recovered by default.", examples: [["failure", "late"]] })
      .optional(),
    repeat: z
      .boolean()
      .meta({ description: "true: every failed or missed run is told, not only the first of a row." })
      .optional(),
    late: durationText("Tells when no run has succeeded for this long; never by default.", ["26h"]).optional(),
    after: z
      .int()
      .min(1)
      .max(LIMITS.stopAfterFailures)
      .meta({ description: "So many runs in a row have to fail before that is told; 1 by default." })
      .optional(),
    command: z
      .array(z.string())
      .meta({ description: "Program and arguments; the message is JSON on its standard input." })
      .optional(),
    webhook: HTTP_SHAPE.omit({ body: true, excerpt: true, max_response: true, success_body: true, by: true })
      .meta({ description: "Where the message is sent to, as JSON; POST by default." })
      .optional(),
    format: z
      .enum(["kron", "alertmanager"])
      .meta({ description: "Of what a webhook is sent: Kron's own (default), or as Alertmanager takes it." })
      .optional(),
    mail: z
      .union([z.string(), z.array(z.string())])
      .meta({ description: "Who gets a mail.", examples: ["ops@example.org"] })
      .optional(),
  })
  .meta({ description: "Who is told of what: one of command, webhook, mail." });

const DST_SHAPE = z
  .strictObject({
    gap: z
      .enum(["skip", "next"])
      .meta({
        description: "A wall time that a clock change skips: no period (default), or the first instant after it.",
      })
      .optional(),
    overlap: z
      .enum(["both", "first", "last"])
      .meta({ description: "A wall time that a clock change repeats: two periods (default), or one of them." })
      .optional(),
  })
  .meta({ description: "What clock changes do to the schedule; next and first where it names one time." });

const WINDOW_SHAPE = z
  .strictObject({
    mode: z
      .enum(["after", "around", "before", "center"])
      .meta({
        description: "Where the window lies: after the nominal time (default), around it (also: center), before it.",
      })
      .optional(),
    duration: durationText("Its length in whole seconds; 0s by default.", ["3h", "45s"]).optional(),
  })
  .meta({ description: "How far from its nominal time a run may start." });

const SEED_SHAPE = z
  .strictObject({
    strategy: z
      .enum(["stable", "daily", "weekly"])
      .meta({ description: "Whether the place in the window differs by period (default), by day or by week." })
      .optional(),
    salt: text("Any text: another salt, other times. Jobs are told apart by their identity anyway.", {
      maxLength: LIMITS.saltBytes,
    }).optional(),
  })
  .meta({ description: "What the choice of the exact second depends on." });

const CONSTRAINTS_SHAPE = z
  .strictObject({
    only: clauses("The chosen time must match.").optional(),
    avoid: clauses("The chosen time must not match.").optional(),
  })
  .meta({ description: "Which moments of the window are allowed, by the wall clock of the job's zone." });

const maxActive = z
  .int()
  .min(1)
  .max(LIMITS.maxActive)
  .meta({ description: "With concurrency allow: how many runs may be active at once; unbounded by default." });

const POLICY_SHAPE = z
  .strictObject({
    concurrency: z
      .enum(["allow", "forbid", "replace"])
      .meta({ description: "While a run is active: start another (default), skip, or end the active one first." })
      .optional(),
    deadline: text(
      `How late a run may still start, after its chosen second; 0s by default. Go-style, like 30m, or ${WINDOW_DEADLINE}: until its window ends, and 1m at least.`,
      { pattern: `^(?:${WINDOW_DEADLINE}|${GO_DURATION.slice(1, -1)})$`, examples: [WINDOW_DEADLINE, "30m"] },
    ).optional(),
    suspend: z.boolean().meta({ description: "true: nothing is started and nothing is handled." }).optional(),
    max_active: maxActive.optional(),
  })
  .meta({ description: "What happens when a run is due." });

const RETRY_SHAPE = z
  .strictObject({
    limit: z.int().min(1).max(LIMITS.retries).meta({ description: "Further attempts after the first." }).optional(),
    backoff: durationText("From the end of the first attempt to the next, doubled each time; 30s by default.", [
      "30s",
    ]).optional(),
    max_backoff: durationText("The longest time between two attempts; 10m by default.", ["10m"]).optional(),
    on: z
      .union([z.string(), z.array(z.union([z.string(), z.int()]))])
      .meta({
        description:
          "After which endings: exit codes, exit, timeout, answered, failed, unseen; all but unseen by default.",
        examples: [[1, 75, "timeout"], ["exit"]],
      })
      .optional(),
  })
  .meta({
    description: "Failed runs that are tried again, at the latest until the next period is due; none by default.",
  });

function placeName(description: string, examples: readonly string[]): z.ZodString {
  return text(description, { pattern: NAME_FORM.source, examples });
}

const STOP_SHAPE = z
  .strictObject({
    after_failures: z
      .int()
      .min(1)
      .max(LIMITS.stopAfterFailures)
      .meta({ description: "So many runs in a row that failed; until somebody resumes it." })
      .optional(),
    after_runs: z
      .int()
      .min(1)
      .max(LIMITS.stopAfterRuns)
      .meta({ description: "So many runs that it has begun by itself, further attempts included." })
      .optional(),
    at: text("From then on nothing begins. RFC 3339, in whole seconds.", {
      examples: ["2026-12-31T23:00:00Z"],
    }).optional(),
  })
  .meta({ description: "What the job pauses itself for; nothing by default." });

/** Fields that may stand in a job and, for all jobs of a file, in `defaults`. */
const SHARED_FIELDS = {
  timezone: text("IANA zone in which schedule and constraints are read; UTC by default.", {
    examples: ["Europe/Berlin", "UTC"],
  }).optional(),
  dst: DST_SHAPE.optional(),
  window: WINDOW_SHAPE.optional(),
  distribution: DISTRIBUTION_SHAPE.optional(),
  seed: SEED_SHAPE.optional(),
  constraints: CONSTRAINTS_SHAPE.optional(),
  min_interval: durationText("The least time from the start of one run to the next; none by default.", [
    "1m",
  ]).optional(),
  max_interval: durationText("The most time from the start of one run to the next; none by default.", [
    "1h",
  ]).optional(),
  policy: POLICY_SHAPE.optional(),
  retry: RETRY_SHAPE.optional(),
  node: placeName("The node that runs it, where several share a store; any by default.", ["db1"]).optional(),
  pool: placeName("The pool whose nodes may run it, where several share a store; any by default.", ["gpu"]).optional(),
  stop: STOP_SHAPE.optional(),
  max_active: maxActive.optional(),
  shell: z
    .boolean()
    .meta({ description: "true: the command is one text, run by /bin/sh -c. Nothing is ever expanded without it." })
    .optional(),
  user: text("User name or id to run as.").optional(),
  group: text("Group name or id to run as; the user's own by default.").optional(),
  cwd: text("Working directory, absolute.", { pattern: "^/" }).optional(),
  env: z
    .record(z.string(), z.string())
    .meta({ description: "Environment variables. A job's environment starts empty but for a few standard names." })
    .optional(),
  env_file: z
    .union([z.string(), z.array(z.string())])
    .meta({ description: "Files of NAME=value lines, absolute; read at each start, and on no record." })
    .optional(),
  pass_env: z
    .array(z.string())
    .meta({ description: "Variables that are taken from the daemon's own environment, where it has them." })
    .optional(),
  env_credentials: z
    .record(z.string(), z.string())
    .meta({ description: "Variables whose values are credentials of systemd (LoadCredential=), by name." })
    .optional(),
  umask: text("In octal, in quotes.", { pattern: "^0?[0-7]{3}$", examples: ["022"] }).optional(),
  timeout: durationText("A run that takes longer is ended.", ["1h"]).optional(),
  output: OUTPUT_SHAPE.optional(),
  max_output: text("Short for output: { max: ... }.", { pattern: SIZE }).optional(),
  tags: z.array(z.string()).meta({ description: "Labels to find jobs by." }).optional(),
  notify: z
    .array(NOTIFY_RULE_SHAPE)
    .meta({ description: "Who is told when a run fails, is missed or late; nobody by default." })
    .optional(),
};

export const DEFAULTS_SHAPE = z
  .strictObject(SHARED_FIELDS)
  .meta({ id: "Defaults", description: "For every job of the file that does not say otherwise." });

export const JOB_SHAPE = z
  .strictObject({
    identity: text("The name under which everything about the job is kept. Changing it makes another job.", {
      minLength: 1,
      maxLength: LIMITS.identityBytes,
      examples: ["prod/db-backup"],
    }),
    schedule: text(
      "Cron: minute hour day month weekday; a macro such as @hourly; an interval, @every 90s; one time, @at 2026-12-01T03:00; or @reboot.",
      {
        maxLength: LIMITS.expressionChars,
        examples: ["0 3 * * *", "@hourly", "@every 90s", "@at 2026-12-01T03:00", "@reboot"],
      },
    ).optional(),
    every: durationText("A fixed interval from the start of one run to the next, instead of a schedule.", [
      "90s",
    ]).optional(),
    at: text(
      "One time instead of a schedule: a date and a time of day in the job's zone, or with an offset or Z; it runs once.",
      { examples: ["2026-12-01T03:00", "2026-12-01T02:00:30Z"] },
    ).optional(),
    ...SHARED_FIELDS,
    command: z
      .union([z.string(), z.array(z.string())])
      .meta({ description: "Program and arguments as a list; one text with shell: true." })
      .optional(),
    stdin: text("What the command reads from its standard input; nothing by default.").optional(),
    http: HTTP_SHAPE.optional(),
    description: text("For people.", { maxLength: LIMITS.descriptionChars }).optional(),
  })
  .meta({
    id: "Job",
    description: "One job: around when, how exactly, and what.",
    allOf: [
      { oneOf: [{ required: ["schedule"] }, { required: ["every"] }, { required: ["at"] }] },
      { oneOf: [{ required: ["command"] }, { required: ["http"] }] },
    ],
  });

export type RawJob = z.input<typeof JOB_SHAPE>;
export type RawDefaults = z.input<typeof DEFAULTS_SHAPE>;
export const PARTIAL_JOB_SHAPE = JOB_SHAPE.partial();
/** A job of which only the sound fields are left: what can be judged when something else is wrong. */
export type PartialRawJob = z.input<typeof PARTIAL_JOB_SHAPE>;
