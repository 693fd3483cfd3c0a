/** Settings that stand beside the jobs in a file: their shape, their reading, their defaults. */
import { z } from "zod";
import { type AddressPolicy, PUBLIC_ONLY, parseRange } from "../base/address.js";
import { LIMITS } from "../base/limits.js";
import { type Problem, problemAt } from "../base/problem.js";
import { problemsOfIssues } from "../job/issues.js";
import { durationOf } from "../job/reading.js";
import { durationText } from "../job/shape.js";
import { formatDuration } from "../time/duration.js";
import { HOUR_MS, SECOND_MS } from "../time/instant.js";

export interface Settings {
  /** S35: whether one invalid job refuses the start, or only itself. */
  readonly onInvalid: "refuse" | "quarantine";
  /** Entries kept in a job's state document. */
  readonly history: { readonly keep: number };
  /** S36: how much of the ledger is kept; whichever bound is reached first. */
  readonly ledger: { readonly maxAgeMs: number; readonly maxRecords: number };
  /** S28: between TERM and KILL. */
  readonly killGraceMs: number;
  /** S20: how long after its deadline a start may still be under way. */
  readonly startGraceMs: number;
  /** How many gated processes may wait for their second; null: as many as the host has room for. */
  readonly maxArmed: number | null;
  readonly http: HttpSettings;
  readonly notifications: NotificationSettings;
  readonly limits: { readonly jobs: number };
}

/** How people are told, whatever they are told of. */
export interface NotificationSettings {
  /** To one place; what would be more becomes one message. */
  readonly perMinute: number;
  /** How long somebody who cannot be reached is tried. */
  readonly giveUpMs: number;
  /** What takes a mail on its standard input. */
  readonly sendmail: readonly string[];
  /** null: the daemon's own account. */
  readonly mailFrom: string | null;
}

/** Where requests may go, and how many at a time. */
export interface HttpSettings extends AddressPolicy {
  readonly maxConcurrent: number;
  /** To one scheme, host and port. */
  readonly maxPerOrigin: number;
}

export const SETTINGS_DEFAULTS: Settings = Object.freeze({
  onInvalid: "refuse",
  history: Object.freeze({ keep: 20 }),
  ledger: Object.freeze({ maxAgeMs: 90 * 24 * HOUR_MS, maxRecords: 10_000_000 }),
  killGraceMs: 10 * SECOND_MS,
  startGraceMs: 60 * SECOND_MS,
  maxArmed: null,
  http: Object.freeze({ ...PUBLIC_ONLY, maxConcurrent: 1024, maxPerOrigin: 64 }),
  notifications: Object.freeze({
    perMinute: 20,
    giveUpMs: 24 * HOUR_MS,
    sendmail: Object.freeze(["/usr/sbin/sendmail", "-i", "-t"]),
    mailFrom: null,
  }),
  limits: Object.freeze({ jobs: LIMITS.jobs }),
});

const BOUNDS = {
  historyKeep: { min: 0, max: 10_000 },
  ledgerRecords: { min: 1000, max: 1_000_000_000 },
  ledgerAgeMs: { min: HOUR_MS, max: 100 * 366 * 24 * HOUR_MS },
  graceMs: { min: 0, max: 24 * HOUR_MS },
  armed: { min: 0, max: 10_000 },
  giveUpMs: { min: 0, max: 31 * 24 * HOUR_MS },
  requests: { min: 1, max: 10_000 },
  requestsPerOrigin: { min: 1, max: 1024 },
  notificationsPerMinute: { min: 1, max: 10_000 },
} as const;

function whole(description: string, { min, max }: { readonly min: number; readonly max: number }): z.ZodInt {
  return z.int().min(min).max(max).meta({ description }) as z.ZodInt;
}

/** The fields of a file beside `defaults` and `jobs`. */
export const SETTINGS_FIELDS = {
  on_invalid: z
    .enum(["refuse", "quarantine"])
    .meta({ description: "Whether one invalid job refuses the start (default), or only itself." })
    .optional(),
  history: z
    .strictObject({ keep: whole("Past periods kept in a job's state; 20 by default.", BOUNDS.historyKeep).optional() })
    .meta({ description: "How much of its past a job carries with it." })
    .optional(),
  ledger: z
    .strictObject({
      max_age: durationText("How long what happened is remembered; 2160h (90 days) by default.", ["8760h"]).optional(),
      max_records: whole("How many periods are remembered; 10,000,000 by default.", BOUNDS.ledgerRecords).optional(),
    })
    .meta({ description: "How much of what happened is remembered; whichever bound is reached first." })
    .optional(),
  kill_grace: durationText("Between asking a run to end and ending it; 10s by default.", ["30s"]).optional(),
  start_grace: durationText("How long a start may take beyond the deadline; 60s by default.", ["2m"]).optional(),
  max_armed: whole(
    "How many processes may be prepared ahead of their second; by default 1000 to 5000, by the memory that is free.",
    BOUNDS.armed,
  ).optional(),
  http: z
    .strictObject({
      allow_private: z
        .boolean()
        .meta({ description: "true: requests may go to this machine and to private networks too." })
        .optional(),
      allow: z
        .array(z.string())
        .meta({
          description: "Addresses and networks that requests may go to besides public ones.",
          examples: [["10.20.0.0/16", "127.0.0.1"]],
        })
        .optional(),
      max_concurrent: whole("Requests under way at a time; 1024 by default.", BOUNDS.requests).optional(),
      max_per_origin: whole(
        "Requests under way at a time to one scheme, host and port; 64 by default.",
        BOUNDS.requestsPerOrigin,
      ).optional(),
    })
    .meta({ description: "Where requests may go, and how many at a time." })
    .optional(),
  notifications: z
    .strictObject({
      per_minute: whole(
        "Messages to one place in a minute; 20 by default. What would be more becomes one message.",
        BOUNDS.notificationsPerMinute,
      ).optional(),
      give_up_after: durationText("How long somebody who cannot be reached is tried; 24h by default.", [
        "1h",
      ]).optional(),
      sendmail: z
        .array(z.string())
        .min(1)
        .meta({ description: "What takes a mail on its standard input; /usr/sbin/sendmail -i -t by default." })
        .optional(),
      mail_from: z
        .string()
        .regex(/^[^\p{Cc}]+$/u)
        .meta({ description: "Whom mails are from; the daemon's own account by default." })
        .optional(),
    })
    .meta({ description: "How people are told, see notify." })
    .optional(),
  limits: z
    .strictObject({ jobs: whole("Most jobs that are accepted.", { min: 1, max: LIMITS.jobs }).optional() })
    .meta({ description: "Bounds of the configuration as a whole." })
    .optional(),
};

const SETTINGS_SHAPE = z.strictObject(SETTINGS_FIELDS);
type RawSettings = z.input<typeof SETTINGS_SHAPE>;

export const SETTING_NAMES = Object.keys(SETTINGS_FIELDS) as readonly (keyof RawSettings)[];

/** What a file sets, with the top-level field that sets it. */
export interface SettingChange {
  readonly name: keyof RawSettings;
  readonly change: Partial<Settings>;
}

/** Reads the settings of one file; `raw` holds no other fields. */
export function readSettings(raw: Readonly<Record<string, unknown>>): {
  readonly changes: readonly SettingChange[];
  readonly problems: readonly Problem[];
} {
  const changes: SettingChange[] = [];
  const problems: Problem[] = [];
  for (const [name, value] of Object.entries(raw)) {
    const shaped = SETTINGS_SHAPE.safeParse({ [name]: value });
    if (!shaped.success) {
      problems.push(...problemsOfIssues(shaped.error.issues, { [name]: value }, SETTINGS_SHAPE));
      continue;
    }
    const before = problems.length;
    const change = changeOf(shaped.data, problems);
    if (problems.length === before) changes.push({ name: name as keyof RawSettings, change });
  }
  return { changes, problems };
}

/** Later changes win field by field; whether two files may set the same thing is for the caller to judge. */
export function applySettings(changes: readonly Partial<Settings>[]): Settings {
  return Object.freeze(Object.assign({ ...SETTINGS_DEFAULTS }, ...changes) as Settings);
}

function changeOf(raw: RawSettings, problems: Problem[]): Partial<Settings> {
  const { ledgerAgeMs, graceMs } = BOUNDS;
  const { ledger: usual, history, limits } = SETTINGS_DEFAULTS;
  if (raw.on_invalid !== undefined) return { onInvalid: raw.on_invalid };
  if (raw.history !== undefined) return { history: { keep: raw.history.keep ?? history.keep } };
  if (raw.limits !== undefined) return { limits: { jobs: raw.limits.jobs ?? limits.jobs } };
  if (raw.max_armed !== undefined) return { maxArmed: raw.max_armed };
  if (raw.http !== undefined) return { http: readHttpSettings(raw.http, problems) };
  if (raw.notifications !== undefined) return { notifications: readNotifications(raw.notifications, problems) };
  if (raw.kill_grace !== undefined) {
    return { killGraceMs: bounded(raw.kill_grace, ["kill_grace"], graceMs, problems) };
  }
  if (raw.start_grace !== undefined) {
    return { startGraceMs: bounded(raw.start_grace, ["start_grace"], graceMs, problems) };
  }
  const { max_age, max_records = usual.maxRecords } = raw.ledger ?? {};
  const maxAgeMs =
    max_age === undefined ? usual.maxAgeMs : bounded(max_age, ["ledger", "max_age"], ledgerAgeMs, problems);
  return { ledger: { maxAgeMs, maxRecords: max_records } };
}

function readNotifications(raw: NonNullable<RawSettings["notifications"]>, problems: Problem[]): NotificationSettings {
  const usual = SETTINGS_DEFAULTS.notifications;
  const { per_minute: perMinute = usual.perMinute, give_up_after, sendmail, mail_from: mailFrom = null } = raw;
  const path = ["notifications", "give_up_after"];
  const giveUpMs =
    give_up_after === undefined ? usual.giveUpMs : bounded(give_up_after, path, BOUNDS.giveUpMs, problems);
  return Object.freeze({ perMinute, giveUpMs, sendmail: Object.freeze([...(sendmail ?? usual.sendmail)]), mailFrom });
}

function readHttpSettings(raw: NonNullable<RawSettings["http"]>, problems: Problem[]): HttpSettings {
  const { allowPrivate, maxConcurrent, maxPerOrigin } = SETTINGS_DEFAULTS.http;
  const written = raw.allow ?? [];
  if (written.length > LIMITS.allowedRanges) {
    const message = `${written.length} addresses, more than the limit of ${LIMITS.allowedRanges}`;
    problems.push({ code: "limit-exceeded", message, path: ["http", "allow"] });
  }
  return Object.freeze({
    allowPrivate: raw.allow_private ?? allowPrivate,
    allow: Object.freeze(
      written.slice(0, LIMITS.allowedRanges).flatMap((text, index) => {
        const range = parseRange(text);
        if (range === null) {
          const hint = "write an address or a network, like 127.0.0.1 or 10.20.0.0/16";
          problems.push({ code: "field-range", message: "not an address", path: ["http", "allow", index], hint });
        }
        return range === null ? [] : [range];
      }),
    ),
    maxConcurrent: raw.max_concurrent ?? maxConcurrent,
    maxPerOrigin: raw.max_per_origin ?? maxPerOrigin,
  });
}

function bounded(
  text: string,
  path: readonly string[],
  { min, max }: { readonly min: number; readonly max: number },
  problems: Problem[],
): number {
  const value = durationOf(text);
  if (!value.ok) problems.push(problemAt(value.error, ...path));
  else if (value.value < min || value.value > max) {
    const span = { start: 0, end: text.length };
    const message = `must be between ${formatDuration(min)} and ${formatDuration(max)}`;
    problems.push({ code: "duration-range", message, path, span });
  }
  return value.ok ? value.value : min;
}
