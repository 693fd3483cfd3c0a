/**
 * From a KronJob to the definition that the rest of Kron knows: by its own reader, so that trouble is told in the words
 * of `kron lint`, and a decision is the one that `kron explain` shows. A CronJob's own field names are understood too.
 */

import type { Problem } from "../core/base/problem.js";
import { err, ok, type Result } from "../core/base/result.js";
import { formatPath } from "../core/config/format-problem.js";
import { isOnce } from "../core/cron/at.js";
import { isReboot } from "../core/cron/reboot.js";
import { compileRule } from "../core/decision/compile.js";
import { parameterForms } from "../core/decision/distributions.js";
import type { CompiledRule } from "../core/decision/model.js";
import { sha256Hex } from "../core/decision/seed.js";
import type { JobDefinition, Policy } from "../core/job/definition.js";
import { canonicalRuleText, readJobDefinition } from "../core/job/schema.js";
import { identityOf } from "./identity.js";
import type { KronJob, KronJobSpec } from "./kube/types.js";
import { OPERATOR_LIMITS } from "./limits.js";

export interface KronDefinition {
  readonly compiled: CompiledRule;
  readonly policy: Policy;
  /** Tells a changed scheduling rule from an unchanged one (S14). */
  readonly ruleHash: string;
}

/** A definition needs something to run; here it is the Job, which is none of its business. */
const STAND_IN_COMMAND: readonly string[] = ["kubernetes-job"];

type StandIn = Pick<KronDefinition, "compiled" | "policy">;
let known: StandIn | null = null;

/** Where a spec cannot be read: what was claimed by the one before has to end somehow. Made when it is first asked for. */
export function standIn(): StandIn {
  known ??= madeStandIn();
  return known;
}

function madeStandIn(): StandIn {
  const read = readJobDefinition({ identity: "stand-in", schedule: "0 0 1 1 *", command: STAND_IN_COMMAND });
  if (!read.ok) throw new Error("invariant broken: the stand-in cannot be read");
  return { compiled: compileRule(read.value), policy: read.value.policy };
}

/** S44 is about the machine of a daemon. */
const AT_BOOT: Problem = {
  code: "cron-syntax",
  message: "@reboot means nothing in a cluster: no machine is its own",
  path: ["schedule"],
  hint: "write a cron schedule",
};

/** A KronJob goes on for as long as it is there; what runs once is a Job. */
const ONE_TIME: Problem = {
  code: "cron-syntax",
  message: "@at names one time, and a KronJob is for times that return",
  path: ["schedule"],
  hint: "write a cron schedule, or let krond run it",
};

/** As the rest of Kron knows jobs: what `kron lint`, `next` and `explain` work with. */
export function definitionOf(kronJob: KronJob): Result<JobDefinition, readonly Problem[]> {
  const read = readJobDefinition(rawDefinition(kronJob));
  if (!read.ok) return err(read.error.map(atKronJobField));
  if (isReboot(read.value.schedule)) return err([AT_BOOT].map(atKronJobField));
  return isOnce(read.value.schedule) ? err([ONE_TIME].map(atKronJobField)) : read;
}

export function readKronJob(kronJob: KronJob): Result<KronDefinition, readonly Problem[]> {
  const read = definitionOf(kronJob);
  if (!read.ok) return read;
  return ok({
    compiled: compileRule(read.value),
    policy: boundedPolicy(read.value),
    ruleHash: sha256Hex(canonicalRuleText(read.value)),
  });
}

/** One line a problem, as lint says it. */
export function problemText({ path, message, hint }: Problem): string {
  const place = path.length === 0 ? "" : `${formatPath(path)}: `;
  return `${place}${message}${hint === undefined ? "" : ` (${hint})`}`;
}

/** As a job of a configuration file would be written. */
function rawDefinition(kronJob: KronJob): Record<string, unknown> {
  const { spec } = kronJob;
  const { schedule, window, seed, constraints, dst } = spec;
  return {
    identity: identityOf(kronJob),
    schedule,
    timezone: spec.timeZone ?? spec.timezone ?? "UTC",
    ...(window === undefined ? {} : { window }),
    ...(spec.distribution === undefined ? {} : { distribution: rawDistribution(spec.distribution) }),
    ...(seed === undefined ? {} : { seed }),
    ...(constraints === undefined ? {} : { constraints }),
    ...(dst === undefined ? {} : { dst }),
    policy: rawPolicy(spec),
    command: STAND_IN_COMMAND,
  };
}

function rawDistribution({ name = "uniform", params }: NonNullable<KronJobSpec["distribution"]>): unknown {
  return { name, ...params };
}

/** Unlike krond's: a run that is still going is usually a reason not to start another Job. */
function rawPolicy({ policy = {}, concurrencyPolicy, startingDeadlineSeconds, suspend }: KronJobSpec): unknown {
  const { maxActive } = policy;
  return {
    concurrency: concurrencyPolicy?.toLowerCase() ?? policy.concurrency ?? "forbid",
    deadline: startingDeadlineSeconds === undefined ? (policy.deadline ?? "0s") : `${startingDeadlineSeconds}s`,
    suspend: suspend === true || policy.suspend === true,
    ...(maxActive === undefined ? {} : { max_active: maxActive }),
  };
}

/** All active Jobs are named in the status, which cannot grow without end. */
function boundedPolicy({ policy }: JobDefinition): Policy {
  if (policy.concurrency !== "allow") return policy;
  return { ...policy, maxActive: Math.min(policy.maxActive ?? OPERATOR_LIMITS.active, OPERATOR_LIMITS.active) };
}

const PARAMETERS: ReadonlySet<string | number> = new Set(parameterForms().flatMap(([, forms]) => Object.keys(forms)));

/** The path as it is written in a KronJob. */
function atKronJobField(problem: Problem): Problem {
  const [first, second, ...rest] = problem.path;
  if (first === "identity") return { ...problem, path: ["metadata", "name"] };
  const isParameter = first === "distribution" && second !== undefined && PARAMETERS.has(second);
  if (isParameter) return { ...problem, path: ["spec", "distribution", "params", second, ...rest] };
  if (second === "max_active") return { ...problem, path: ["spec", "policy", "maxActive"] };
  return { ...problem, path: ["spec", ...problem.path] };
}
