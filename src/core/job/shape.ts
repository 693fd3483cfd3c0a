/**
 * What a person may write, as one zod schema: names, types and choices. From it come the check of every definition, the
 * types of raw input and the JSON Schema for editors. Meaning (zones, schedules, windows, limits) is judged by the
 * readers next to this file, so that nothing here refuses a text.
 */
import { z } from "zod";
import { LIMITS } from "../base/limits.js";
import { DISTRIBUTION_NAMES } from "../decision/distributions.js";

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
    description: `${description} Clauses: hours, dow, dom, months, between, date, dates; several joined by ";" or as a list.`,
    examples: ["dow=MON-FRI;between=00:00-06:00", ["hours=9-17", "months=JAN,JUL"]],
  });
}

const shapeParameter = z.number().meta({ description: "Above 0; 2 by default.", exclusiveMinimum: 0 });

export const DISTRIBUTION_SHAPE = z
  .union([
    z.enum(DISTRIBUTION_NAMES),
    z.discriminatedUnion("name", [
      z.strictObject({ name: z.literal("uniform") }),
      z.strictObject({ name: z.literal("skewEarly"), shape: shapeParameter.optional() }),
      z.strictObject({ name: z.literal("skewLate"), shape: shapeParameter.optional() }),
      z.strictObject({
        name: z.literal("normal"),
        mu: z.enum(["nominal", "start", "mid", "end"]).optional(),
        sigma: text("Standard deviation; a sixth of the window by default.", { examples: ["10m"] }).optional(),
      }),
      z.strictObject({
        name: z.literal("exponential"),
        lambda: z.number().meta({ description: "Above 0; 1 by default.", exclusiveMinimum: 0 }).optional(),
        dir: z.enum(["early", "late"]).optional(),
      }),
    ]),
  ])
  .meta({ description: "How likely each moment of the window is; uniform by default." });

export const OUTPUT_SHAPE = z
  .strictObject({
    file: z.boolean().meta({ description: "true: the same as to: file." }).optional(),
    to: z.enum(["file", "inherit", "discard", "syslog"]).meta({ description: "file by default." }).optional(),
    max: text("Size cap of one run's output; 10MB by default.", { pattern: SIZE }).optional(),
    keep: z.int().min(1).max(LIMITS.outputFiles).meta({ description: "Files kept; 10 by default." }).optional(),
    on_excess: z
      .enum(["drop-middle", "kill"])
      .meta({ description: "What happens at the cap: the middle is left out (default), or the run is ended." })
      .optional(),
  })
  .meta({ description: "Where the output of a run goes." });

export const HTTP_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;

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
    signature: z
      .strictObject({ secret_file: z.string().optional(), secret_env: z.string().optional() })
      .meta({ description: "Signs each request as a Standard Webhook, with the secret of a file or a variable." })
      .optional(),
    ca_file: text("Certificates to trust instead of the system's, as PEM.", { pattern: "^/" }).optional(),
    client_cert_file: text("Our own certificate, as PEM.", { pattern: "^/" }).optional(),
    client_key_file: text("The key of our own certificate, as PEM.", { pattern: "^/" }).optional(),
  })
  .meta({ description: "A request to send, instead of a command to run." });

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
  .meta({ description: "What clock changes do to the schedule." });

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

export const POLICY_SHAPE = z
  .strictObject({
    concurrency: z
      .enum(["allow", "forbid", "replace"])
      .meta({ description: "While a run is active: start another (default), skip, or end the active one first." })
      .optional(),
    deadline: durationText("How late a run may still start; 0s by default.", ["30m"]).optional(),
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
  umask: text("In octal, in quotes.", { pattern: "^0?[0-7]{3}$", examples: ["022"] }).optional(),
  timeout: durationText("A run that takes longer is ended.", ["1h"]).optional(),
  output: OUTPUT_SHAPE.optional(),
  max_output: text("Short for output: { max: ... }.", { pattern: SIZE }).optional(),
  tags: z.array(z.string()).meta({ description: "Labels to find jobs by." }).optional(),
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
      "Cron: minute hour day month weekday; a macro such as @hourly; an interval, @every 90s; or @reboot.",
      {
        maxLength: LIMITS.expressionChars,
        examples: ["0 3 * * *", "@hourly", "@every 90s", "@reboot"],
      },
    ).optional(),
    every: durationText("A fixed interval from the start of one run to the next, instead of a schedule.", [
      "90s",
    ]).optional(),
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
      { oneOf: [{ required: ["schedule"] }, { required: ["every"] }] },
      { oneOf: [{ required: ["command"] }, { required: ["http"] }] },
    ],
  });

export type RawJob = z.input<typeof JOB_SHAPE>;
export type RawDefaults = z.input<typeof DEFAULTS_SHAPE>;
export const PARTIAL_JOB_SHAPE = JOB_SHAPE.partial();
/** A job of which only the sound fields are left: what can be judged when something else is wrong. */
export type PartialRawJob = z.input<typeof PARTIAL_JOB_SHAPE>;
