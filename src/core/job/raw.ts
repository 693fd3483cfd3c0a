/** From a definition back to what a person would write, in one canonical form: every choice spelled out, keys ordered. */
import { formatClauses } from "../decision/constraints.js";
import { distributionParams } from "../decision/distributions.js";
import type { Clause, Constraints, Pace, SchedulingRule } from "../decision/rule.js";
import { formatDuration } from "../time/duration.js";
import { formatInstant } from "../time/instant.js";
import { bodyRuleToRaw } from "./body-rule.js";
import {
  type DeadlineMs,
  type HttpTarget,
  type JobDefinition,
  type NotifyRule,
  type NotifyTarget,
  type ProcessTarget,
  type RetryRule,
  type SecretRef,
  type StopRule,
  WINDOW_DEADLINE,
} from "./definition.js";
import { envSourcesToRaw } from "./env-sources.js";
import { poolToRaw } from "./pool-reader.js";
import type { RawJob } from "./shape.js";
import { formatSize } from "./size.js";
import { formatStatuses } from "./status-reader.js";

/** `readJobDefinition(definitionToRaw(d))` equals `d`, whatever defaults may become in a later version. */
export function definitionToRaw(definition: JobDefinition): RawJob {
  const { policy, pool, target, notify, description, tags } = definition;
  return {
    ...ruleToRaw(definition),
    policy: {
      concurrency: policy.concurrency,
      deadline: formatDeadline(policy.deadlineMs),
      suspend: policy.suspend,
      ...(policy.maxActive === null ? {} : { max_active: policy.maxActive }),
    },
    // Right behind the policy, where it can be cut out of a text.
    ...poolToRaw(pool),
    ...(policy.retry === undefined ? {} : { retry: retryToRaw(policy.retry) }),
    ...(policy.stop === undefined ? {} : { stop: stopToRaw(policy.stop) }),
    ...(target.kind === "process" ? processToRaw(target) : { http: httpToRaw(target) }),
    ...(notify.length === 0 ? {} : { notify: notify.map(notifyToRaw) }),
    ...(description === "" ? {} : { description }),
    ...(tags.length === 0 ? {} : { tags: [...tags] }),
  };
}

/** As people write it. */
function formatDeadline(deadlineMs: DeadlineMs): string {
  return deadlineMs === WINDOW_DEADLINE ? WINDOW_DEADLINE : formatDuration(deadlineMs);
}

/** The text whose hash tells whether a definition has changed. Keys always come in the same order. */
export function canonicalDefinitionText(definition: JobDefinition): string {
  return JSON.stringify(definitionToRaw(definition));
}

/** As above, but only what decisions depend on: a change of it is a new birth of the definition (S14). */
export function canonicalRuleText(rule: SchedulingRule): string {
  return JSON.stringify(ruleToRaw(rule));
}

function ruleToRaw(rule: SchedulingRule): RawJob {
  const { identity, schedule, timezone, dst, window, seed } = rule;
  return {
    identity,
    schedule,
    timezone,
    dst: { gap: dst.gap, overlap: dst.overlap },
    window: { mode: window.mode, duration: formatDuration(window.durationMs) },
    distribution: { name: rule.distribution.name, ...distributionParams(rule.distribution) } as RawJob["distribution"],
    seed: { strategy: seed.strategy, salt: seed.salt },
    ...constraintsToRaw(rule.constraints),
    ...paceToRaw(rule.pace),
  };
}

function constraintsToRaw({ only, avoid }: Constraints): Pick<RawJob, "constraints"> {
  if (only.length === 0 && avoid.length === 0) return {};
  return { constraints: { ...clausesToRaw("only", only), ...clausesToRaw("avoid", avoid) } };
}

function clausesToRaw(set: "only" | "avoid", clauses: readonly Clause[]): Record<string, string> {
  return clauses.length === 0 ? {} : { [set]: formatClauses(clauses) };
}

/** Texts of definitions without bounds are what they were before there were any. */
function paceToRaw(pace: Pace | undefined): Pick<RawJob, "min_interval" | "max_interval"> {
  const { minMs = null, maxMs = null } = pace ?? {};
  return {
    ...(minMs === null ? {} : { min_interval: formatDuration(minMs) }),
    ...(maxMs === null ? {} : { max_interval: formatDuration(maxMs) }),
  };
}

function retryToRaw({ limit, backoffMs, maxBackoffMs, on }: RetryRule): NonNullable<RawJob["retry"]> {
  return { limit, backoff: formatDuration(backoffMs), max_backoff: formatDuration(maxBackoffMs), on: [...on] };
}

function stopToRaw({ afterFailures, afterRuns, at }: StopRule): NonNullable<RawJob["stop"]> {
  return {
    ...(afterFailures === null ? {} : { after_failures: afterFailures }),
    ...(afterRuns === null ? {} : { after_runs: afterRuns }),
    ...(at === null ? {} : { at: formatInstant(at) }),
  };
}

function processToRaw(target: ProcessTarget): Partial<RawJob> {
  const { argv, shell, user, group, cwd, env, stdin, umask, timeoutMs, output } = target;
  return {
    command: shell ? (argv[0] ?? "") : [...argv],
    shell,
    ...(user === null ? {} : { user }),
    ...(group === null ? {} : { group }),
    ...(cwd === null ? {} : { cwd }),
    ...(Object.keys(env).length === 0 ? {} : { env: { ...env } }),
    ...envSourcesToRaw(target.envSources),
    ...(stdin === null ? {} : { stdin }),
    ...(umask === null ? {} : { umask: umask.toString(8).padStart(3, "0") }),
    ...(timeoutMs === null ? {} : { timeout: formatDuration(timeoutMs) }),
    output: { to: output.to, max: formatSize(output.maxBytes), keep: output.keep, on_excess: output.onExcess },
  };
}

function httpToRaw(target: HttpTarget): NonNullable<RawJob["http"]> {
  const { url, method, headers, secretHeaders, body, signature, tls } = target;
  return {
    url,
    method: method as NonNullable<RawJob["http"]>["method"],
    ...unlessEmpty("headers", headers),
    ...unlessEmpty("header_files", secretsFrom(secretHeaders, "file")),
    ...unlessEmpty("header_env", secretsFrom(secretHeaders, "env")),
    ...(body === null ? {} : { body }),
    timeout: formatDuration(target.timeoutMs),
    max_response: formatSize(target.maxResponseBytes),
    excerpt: formatSize(target.excerptBytes),
    success: target.success.map(formatStatuses),
    ...bodyRuleToRaw(target),
    ...(signature === null ? {} : { signature: { [`secret_${signature.from}`]: signature.name } }),
    ...(tls.caFile === null ? {} : { ca_file: tls.caFile }),
    ...(tls.certFile === null ? {} : { client_cert_file: tls.certFile }),
    ...(tls.keyFile === null ? {} : { client_key_file: tls.keyFile }),
    ...(target.by === "krond" ? {} : { by: target.by }),
  };
}

type RawNotify = NonNullable<RawJob["notify"]>[number];

function notifyToRaw({ on, repeat, lateMs, after, target }: NotifyRule): RawNotify {
  return {
    on: [...on],
    ...(repeat ? { repeat } : {}),
    ...(lateMs === null ? {} : { late: formatDuration(lateMs) }),
    ...(after === undefined ? {} : { after }),
    ...notifyTargetToRaw(target),
  };
}

function notifyTargetToRaw(target: NotifyTarget): RawNotify {
  switch (target.kind) {
    case "command":
      return { command: [...target.argv] };
    case "mail":
      return { mail: [...target.to] };
    default: {
      const { body, excerpt, max_response, success_body, by, ...webhook } = httpToRaw(target.http);
      return { webhook, ...(target.format === "kron" ? {} : { format: target.format }) };
    }
  }
}

function unlessEmpty(name: string, record: Readonly<Record<string, string>>): Record<string, Record<string, string>> {
  return Object.keys(record).length === 0 ? {} : { [name]: { ...record } };
}

function secretsFrom(secrets: HttpTarget["secretHeaders"], from: SecretRef["from"]): Record<string, string> {
  const named = Object.entries(secrets).filter(([, secret]) => secret.from === from);
  return Object.fromEntries(named.map(([header, { name }]) => [header, name]));
}
