/**
 * Who is told of what becomes of an endpoint, as people and programs write it, and the rules of a job that it means: webhooks
 * and nothing else, for what a tenant says may neither run a command nor send mail on a host.
 */

import { z } from "zod";
import { LIMITS } from "../base/limits.js";
import type { NotifyOccasion } from "../job/definition.js";
import { formatDuration } from "../time/duration.js";
import { KEY_FORM, signingKeyOf } from "./signing-secret.js";

const OCCASIONS = ["failure", "missed", "recovered", "late"] as const satisfies readonly NotifyOccasion[];

const SHARED = {
  url: z.string().max(LIMITS.urlChars).meta({ description: "Where the message is sent to, as JSON, by POST." }),
  on: z
    .array(z.enum(OCCASIONS))
    .min(1)
    .max(OCCASIONS.length)
    .default(["failure", "missed", "recovered"])
    .meta({ description: "What is told: that runs fail, that one was missed, that it is over, that it is late." }),
  afterFailures: z
    .int()
    .min(1)
    .max(LIMITS.stopAfterFailures)
    .default(1)
    .meta({ description: "So many runs in a row have to fail before that is told." }),
  lateMs: z
    .int()
    .min(LIMITS.notifyLateMs)
    .max(LIMITS.timeoutMs)
    .nullable()
    .default(null)
    .meta({ description: "Tells when no run has succeeded for so long." }),
  headers: z.record(z.string(), z.string()).default({}),
} as const;

const secret = z.string().min(1).max(LIMITS.secretBytes);
const secretHeaders = z.record(z.string(), z.string());

/** As it is kept: secrets are sealed. */
const KEPT_RULE = z.strictObject({
  ...SHARED,
  secretHeaders: secretHeaders.default({}),
  signingSecret: z.string().optional(),
});
/** As it is asked for. null: the value that there is for this address stays. */
const WISHED_RULE = z
  .strictObject({
    ...SHARED,
    secretHeaders: z
      .record(z.string(), z.string().nullable())
      .default({})
      .meta({ description: "Kept sealed and never shown again; null: the value that there is." }),
    signingSecret: secret
      .refine((text) => signingKeyOf(text) !== null, { error: `not a key: ${KEY_FORM}` })
      .nullable()
      .optional()
      .meta({ description: "Signs each message as a Standard Webhook; null: the one that there is." }),
  })
  .refine(({ on, lateMs }) => lateMs !== null || !on.includes("late"), {
    path: ["lateMs"],
    error: "missing: how long there may be no success before that is told as late",
  });
/** As it is told. null: there is a value. */
const TOLD_RULE = z.strictObject({
  ...SHARED,
  secretHeaders: z.record(z.string(), z.null()),
  signingSecret: z.null().optional(),
});

export type NotifyWish = z.output<typeof WISHED_RULE>;
export type KeptNotify = z.output<typeof KEPT_RULE>;
type ToldNotify = z.output<typeof TOLD_RULE>;

export const NOTIFY_KEPT = z.array(KEPT_RULE).max(LIMITS.endpointNotifyRules);
export const NOTIFY_WISHED = z.array(WISHED_RULE).max(LIMITS.endpointNotifyRules);
export const NOTIFY_TOLD = z.array(TOLD_RULE);

/** Can be sent back as it is: what is secret stays what it is. */
export function toldNotify(rules: readonly KeptNotify[]): ToldNotify[] {
  return rules.map(({ secretHeaders: secrets, signingSecret, ...rule }) => ({
    ...rule,
    secretHeaders: Object.fromEntries(Object.keys(secrets).map((header) => [header, null])),
    ...(signingSecret === undefined ? {} : { signingSecret: null }),
  }));
}

/** As a job of a configuration would have it. */
export function rawNotify(rules: readonly KeptNotify[]): object[] {
  return rules.map(({ url, on, afterFailures, lateMs, headers, secretHeaders: secrets, signingSecret }) => ({
    on,
    after: afterFailures,
    ...(lateMs === null ? {} : { late: formatDuration(lateMs) }),
    webhook: {
      url,
      headers: { ...headers, ...secrets },
      ...(signingSecret === undefined ? {} : { signature: { secret_sealed: signingSecret } }),
    },
  }));
}

const FIELDS: Readonly<Record<string, string>> = { late: "lateMs", after: "afterFailures", signature: "signingSecret" };

type Path = readonly (string | number)[];

/** Where in `rules` a problem of the raw ones lies; `path` begins behind `notify`. */
export function notifyPath([index = 0, ...path]: Path, rules: readonly KeptNotify[]): Path {
  const [field = "url", ...rest] = path[0] === "webhook" ? path.slice(1) : path;
  const secrets = rules[Number(index)]?.secretHeaders ?? {};
  if (field === "headers" && rest[0] !== undefined && Object.hasOwn(secrets, rest[0])) {
    return [index, "secretHeaders", ...rest];
  }
  const named = FIELDS[field];
  return named === undefined ? [index, field, ...rest] : [index, named];
}
