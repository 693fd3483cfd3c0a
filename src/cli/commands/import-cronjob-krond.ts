/**
 * `kron import cronjob --as krond`: CronJobs become jobs of krond's own where that makes sense, which is where one
 * container runs a command that this host has too. What only a cluster gives is named.
 */
import { type Fields, fieldsOf } from "../../core/base/fields.js";
import { LIMITS } from "../../core/base/limits.js";
import { type CommentedJob, jobsYaml, NameBook } from "../../core/config/export.js";
import type { JobDefinition } from "../../core/job/definition.js";
import { readJobDefinition } from "../../core/job/schema.js";
import { EXIT, type ExitCode } from "../exit.js";
import type { CliIo } from "../io.js";

/** A CronJob without the zone that its schedule may have carried. */
export interface PlainCronJob {
  readonly name: string;
  readonly schedule: string;
  readonly timeZone: string | undefined;
  readonly cronJob: Fields;
  readonly notes: readonly string[];
}

/** As long as a KronJob gets: a CronJob without a bound starts whenever it is found to be due. */
const DEFAULT_DEADLINE = "1h";
/** Of a Job that says nothing of it. */
const USUAL_BACKOFF_LIMIT = 6;
const POLICIES: Readonly<Record<string, string>> = { Allow: "allow", Forbid: "forbid", Replace: "replace" };

interface Made {
  readonly name: string;
  readonly definition: JobDefinition | null;
  readonly notes: readonly string[];
  readonly problems: readonly string[];
}

export async function printKrondJobs(cronJobs: readonly PlainCronJob[], io: CliIo): Promise<ExitCode> {
  const names = new NameBook();
  const made = cronJobs.map((cronJob) => krondJobOf(cronJob, names));
  const jobs = made.flatMap(({ definition, name, notes }): CommentedJob[] => {
    const comments = [`CronJob ${name}`, ...notes.map((note) => `note: ${note}`)];
    return definition === null ? [] : [{ definition, comments }];
  });
  if (jobs.length > 0) await io.out(jobsYaml(jobs));
  for (const { name, notes, problems } of made) {
    for (const problem of problems) await io.err(`${name}: error: ${problem}\n`);
    for (const note of notes) await io.err(`${name}: ${note}\n`);
  }
  await io.err(`${jobs.length} of ${made.length} CronJobs taken over as jobs of krond\n`);
  return made.some(({ problems }) => problems.length > 0) ? EXIT.configuration : EXIT.ok;
}

function krondJobOf({ name, schedule, timeZone, cronJob, notes: before }: PlainCronJob, names: NameBook): Made {
  const notes = [...before];
  const problems: string[] = [];
  const spec = fieldsOf(cronJob["spec"]);
  const jobSpec = fieldsOf(fieldsOf(spec["jobTemplate"])["spec"]);
  const pod = fieldsOf(fieldsOf(jobSpec["template"])["spec"]);
  const target = targetOf(pod, notes, problems);
  const namespace = fieldsOf(cronJob["metadata"])["namespace"];
  const raw = {
    identity: names.unused(typeof namespace === "string" ? `${namespace}/${name}` : name),
    schedule,
    ...(timeZone === undefined ? {} : { timezone: timeZone }),
    policy: policyOf(spec, notes),
    ...timeoutOf(jobSpec),
    ...retryOf(jobSpec, notes),
    ...target,
  };
  const isParallel = [jobSpec["parallelism"], jobSpec["completions"]].some(
    (count) => typeof count === "number" && count > 1,
  );
  if (isParallel) problems.push("several pods at a time: a job of krond is one process");
  const read = readJobDefinition(raw);
  if (!read.ok)
    problems.push(...read.error.map(({ path, message }) => [path.join("."), message].filter(Boolean).join(": ")));
  return { name, definition: read.ok && problems.length === 0 ? read.value : null, notes, problems };
}

function policyOf(spec: Fields, notes: string[]): Fields {
  const seconds = spec["startingDeadlineSeconds"];
  if (seconds === undefined)
    notes.push(`policy.deadline: ${DEFAULT_DEADLINE}: a CronJob without a bound has no counterpart`);
  return {
    concurrency: POLICIES[String(spec["concurrencyPolicy"] ?? "Allow")] ?? String(spec["concurrencyPolicy"]),
    deadline: seconds === undefined ? DEFAULT_DEADLINE : `${String(seconds)}s`,
    ...(spec["suspend"] === true ? { suspend: true } : {}),
  };
}

/** As a Job does it: after ten seconds, then twice as long each time, up to six minutes; never when its time was over. */
function retryOf(jobSpec: Fields, notes: string[]): Fields {
  const limit = jobSpec["backoffLimit"] ?? USUAL_BACKOFF_LIMIT;
  if (typeof limit !== "number" || limit < 1) return {};
  const most = Math.min(limit, LIMITS.retries);
  const fewer = most < limit ? `${most} times instead of ${limit}, ` : "";
  notes.push(`backoffLimit: becomes retry, ${fewer}never into the next period`);
  return { retry: { limit: most, backoff: "10s", max_backoff: "6m", on: ["exit"] } };
}

function timeoutOf(jobSpec: Fields): Fields {
  const seconds = jobSpec["activeDeadlineSeconds"];
  return seconds === undefined ? {} : { timeout: `${String(seconds)}s` };
}

/** What the only container runs; an image's own command is known to the image alone. */
function targetOf(pod: Fields, notes: string[], problems: string[]): Fields {
  const containers = listOf(pod["containers"]).map(fieldsOf);
  const [container = {}] = containers;
  if (containers.length !== 1) problems.push(`${containers.length} containers: a job of krond is one process`);
  if (listOf(pod["initContainers"]).length > 0) problems.push("initContainers: nothing runs before the command");
  const command = [...listOf(container["command"]), ...listOf(container["args"])].map(String);
  if (listOf(container["command"]).length === 0) {
    problems.push(`the command is the image's own (${String(container["image"])}): write it into the CronJob first`);
  }
  notes.push(`runs on this host, not in ${String(container["image"])}: the command has to be there`);
  const lost = ["volumeMounts", "resources", "envFrom", "livenessProbe"].filter(
    (field) => container[field] !== undefined,
  );
  const lostOfPod = ["volumes", "serviceAccountName", "nodeSelector", "affinity", "tolerations"].filter(
    (field) => pod[field] !== undefined,
  );
  for (const field of [...lost, ...lostOfPod]) notes.push(`${field}: left out, a cluster gives it`);
  const user = fieldsOf(container["securityContext"])["runAsUser"] ?? fieldsOf(pod["securityContext"])["runAsUser"];
  const cwd = container["workingDir"];
  const env = environmentOf(container, problems);
  return {
    // That there is none has been said.
    command: command.length === 0 ? ["true"] : command.map((word) => filled(word, env)),
    ...(user === undefined ? {} : { user: String(user) }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(Object.keys(env).length === 0 ? {} : { env }),
  };
}

/** `$(NAME)` is a variable of the container where it has one, `$$(NAME)` never is. */
function filled(word: string, env: Readonly<Record<string, string>>): string {
  return word.replace(/(\$?)\$\((\w+)\)/g, (written, escaped: string, name: string) => {
    return escaped === "" ? (env[name] ?? written) : `$(${name})`;
  });
}

function environmentOf(container: Fields, problems: string[]): Readonly<Record<string, string>> {
  const env: Record<string, string> = {};
  for (const entry of listOf(container["env"]).map(fieldsOf)) {
    const [name, value] = [String(entry["name"]), entry["value"]];
    if (entry["valueFrom"] === undefined) env[name] = String(value ?? "");
    else problems.push(`env ${name}: its value comes from the cluster`);
  }
  if (listOf(container["envFrom"]).length > 0) problems.push("envFrom: its values come from the cluster");
  return env;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
