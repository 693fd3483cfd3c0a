/** `kron import cronjob`: CronJobs become KronJobs, or jobs of krond. Nearly everything has the same name; what means something else is said. */

import { parseAllDocuments, stringify } from "yaml";
import { type Fields, fieldsOf, without } from "../../core/base/fields.js";
import { LIMITS } from "../../core/base/limits.js";
import { problemText, readKronJob } from "../../operator/definition.js";
import { API_VERSION, KIND } from "../../operator/identity.js";
import type { KronJob } from "../../operator/kube/types.js";
import type { ParsedArgs } from "../args.js";
import { CliError, EXIT, type ExitCode, usageError } from "../exit.js";
import type { CliIo } from "../io.js";
import { readTextFile } from "../text-file.js";
import { type PlainCronJob, printKrondJobs } from "./import-cronjob-krond.js";

interface Taken {
  readonly name: string;
  readonly kronJob: Fields | null;
  readonly notes: readonly string[];
  readonly problems: readonly string[];
}

/** A run that survives a change of leader, and any wait that a CronJob would have had. */
const DEFAULT_DEADLINE = "1h";

export async function importCronJobs(files: readonly string[], args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const target = args.text("as") ?? "kronjob";
  if (target !== "kronjob" && target !== "krond") throw usageError(`--as: "${target}" is neither kronjob nor krond`);
  const found: Fields[] = [];
  for (const file of files) {
    const { text } = await readTextFile(file, LIMITS.yamlFileBytes, io);
    found.push(...cronJobsOf(text, file));
  }
  if (target === "krond") return printKrondJobs(found.map(plainCronJob), io);
  const taken = found.map(kronJobOf);
  const made = taken.flatMap(({ kronJob }) => (kronJob === null ? [] : [stringify(kronJob, { lineWidth: 0 })]));
  if (made.length > 0) await io.out(made.join("---\n"));
  for (const { name, notes, problems } of taken) {
    for (const problem of problems) await io.err(`${name}: error: ${problem}\n`);
    for (const note of notes) await io.err(`${name}: ${note}\n`);
  }
  await io.err(`${made.length} of ${taken.length} CronJobs taken over\n`);
  return taken.some(({ problems }) => problems.length > 0) ? EXIT.configuration : EXIT.ok;
}

/** A file of objects, or a List as `kubectl get -o yaml` prints it. What is no CronJob is left out. */
function cronJobsOf(text: string, file: string): readonly Fields[] {
  const documents = parseAllDocuments(text);
  const broken = documents.flatMap(({ errors }) => errors)[0];
  if (broken !== undefined) throw new CliError(EXIT.configuration, `${file}: ${broken.message.split("\n")[0]}`);
  const values = documents.map((document) => fieldsOf(document.toJSON()));
  const objects = values.flatMap((value) => (Array.isArray(value["items"]) ? value["items"].map(fieldsOf) : [value]));
  const found = objects.filter(({ kind }) => kind === "CronJob");
  if (found.length === 0)
    throw new CliError(
      EXIT.configuration,
      `${file} holds no CronJob`,
      "kubectl get cronjobs -o yaml | kron import cronjob -",
    );
  return found;
}

function plainCronJob(cronJob: Fields): PlainCronJob {
  const notes: string[] = [];
  const { schedule: written, timeZone: given } = fieldsOf(cronJob["spec"]);
  const { schedule, timeZone } = splitZone(String(written ?? ""), given, notes, "timezone");
  if (timeZone === undefined)
    notes.push("no timeZone: the schedule is read in UTC, a CronJob's in the zone of the controller manager");
  return { name: String(fieldsOf(cronJob["metadata"])["name"]), schedule, timeZone, cronJob, notes };
}

function kronJobOf(cronJob: Fields): Taken {
  const { name, namespace, labels, annotations } = fieldsOf(cronJob["metadata"]);
  const { schedule: written, ...rest } = fieldsOf(cronJob["spec"]);
  const notes: string[] = [];
  const { schedule, timeZone } = splitZone(String(written ?? ""), rest["timeZone"], notes);
  if (rest["concurrencyPolicy"] === undefined)
    notes.push("concurrencyPolicy: Allow, written out: a KronJob's own default is forbid");
  const hasDeadline = rest["startingDeadlineSeconds"] !== undefined;
  if (!hasDeadline)
    notes.push(
      `policy.deadline: ${DEFAULT_DEADLINE}, written out: a CronJob has none, and a KronJob's own default is 0s`,
    );
  if (timeZone === undefined)
    notes.push("no timeZone: a KronJob reads its schedule in UTC, a CronJob in the zone of the controller manager");
  const spec = {
    schedule,
    ...(timeZone === undefined ? {} : { timezone: timeZone }),
    ...(hasDeadline ? {} : { policy: { deadline: DEFAULT_DEADLINE } }),
    concurrencyPolicy: "Allow",
    ...without(rest, "timeZone"),
    ...(rest["jobTemplate"] === undefined ? {} : { jobTemplate: writtenTemplate(fieldsOf(rest["jobTemplate"])) }),
  };
  const metadata = { name, ...defined({ namespace, labels, annotations: keptAnnotations(annotations) }) };
  const kronJob = { apiVersion: API_VERSION, kind: KIND, metadata, spec };
  const problems = problemsOf(kronJob);
  return { name: String(name), kronJob: problems.length === 0 ? kronJob : null, notes, problems };
}

/** Without what kubectl fills in, and a name that has no effect. */
function writtenTemplate({ metadata, spec, ...more }: Fields): Fields {
  const { template, ...job } = fieldsOf(spec);
  const { metadata: ofPod, ...pod } = fieldsOf(template);
  const written = (given: unknown): Fields => {
    const { creationTimestamp: _at, name: _name, ...kept } = fieldsOf(given);
    return Object.keys(kept).length === 0 ? {} : { metadata: kept };
  };
  const podTemplate = template === undefined ? {} : { template: { ...written(ofPod), ...pod } };
  return { ...written(metadata), ...more, spec: { ...job, ...podTemplate } };
}

/** The words of lint; the identity is a stand-in, because the uid is not there yet. */
function problemsOf(kronJob: { readonly metadata: Fields; readonly spec: Fields }): readonly string[] {
  const { name, namespace } = kronJob.metadata;
  const problems: string[] = [];
  if (typeof name !== "string") problems.push("metadata.name is missing");
  else if (name.length > 52) problems.push("metadata.name: at most 52 characters, as for a CronJob");
  if (kronJob.spec["jobTemplate"] === undefined) problems.push("spec.jobTemplate is missing");
  const metadata = { ...kronJob.metadata, name: String(name), namespace: String(namespace ?? "default"), uid: "new" };
  const read = readKronJob({ ...kronJob, metadata } as unknown as KronJob);
  return read.ok ? problems : [...problems, ...read.error.map(problemText)];
}

/** Old CronJobs carry their zone in the schedule. */
function splitZone(
  written: string,
  given: unknown,
  notes: string[],
  field = "spec.timezone",
): { readonly schedule: string; readonly timeZone: string | undefined } {
  const known = typeof given === "string" ? given : undefined;
  const match = /^(?:CRON_)?TZ=(?<zone>\S+)\s+(?<schedule>.+)$/.exec(written.trim());
  if (match?.groups === undefined) return { schedule: written, timeZone: known };
  notes.push(`the zone in the schedule became ${field}`);
  return { schedule: match.groups["schedule"] ?? "", timeZone: known ?? match.groups["zone"] };
}

function keptAnnotations(annotations: unknown): Fields | undefined {
  const kept = without(fieldsOf(annotations), "kubectl.kubernetes.io/last-applied-configuration");
  return Object.keys(kept).length === 0 ? undefined : kept;
}

function defined(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));
}
