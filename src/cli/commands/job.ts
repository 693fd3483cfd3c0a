/** `kron job`: what holds endpoints. */

import type { Fields } from "../../core/base/fields.js";
import { plainLines, plainText } from "../../core/base/plain-text.js";
import type { JobAnswer } from "../../operations/endpoints/shapes.js";
import type { ParsedArgs } from "../args.js";
import { notifyField } from "../endpoints/fields.js";
import { ifMatchOf } from "../endpoints/if-match.js";
import { Names } from "../endpoints/names.js";
import { publishedAs } from "../endpoints/published.js";
import { tellsPairs } from "../endpoints/show.js";
import { type Ask, asked, withTenant } from "../endpoints/tenant.js";
import { EXIT, usageError } from "../exit.js";
import { forEachOf, type GroupWords } from "../group.js";
import type { CliIo } from "../io.js";
import { printPages } from "../list-output.js";
import { printValue } from "../output.js";
import { type Paint, paintFor, renderPairs } from "../style.js";
import { type Cell, type Column, FittedTable } from "../table.js";
import { only, runVerb, type VerbRun } from "../verbs.js";
import { JOB_VERBS } from "./specs/job.js";

const COLUMNS: readonly Column<JobAnswer>[] = [
  { title: "JOB", rank: 5, least: 16, cap: 40, cell: ({ name }) => name },
  { title: "STATUS", rank: 4, least: 6, cell: statusCell },
  { title: "CHANGED (UTC)", shortTitle: "CHANGED", rank: 2, least: 10, cell: ({ updatedAt }) => updatedAt },
  { title: "ID", rank: 1, least: 20, cell: ({ id }) => id },
  { title: "DESCRIPTION", rank: 3, least: 11, cell: ({ description }) => description },
];

function statusCell({ status }: JobAnswer): Cell {
  if (status === "active") return { text: status };
  return { text: status, colour: status === "paused" ? "yellow" : "dim" };
}

const list: VerbRun = async (rest, args, io) => {
  if (rest.length > 0) throw usageError("list takes no arguments", "kron job list");
  const table = new FittedTable(COLUMNS, io.outColumns ?? null, paintFor(args, io));
  return withTenant(args, io, async (ask) => {
    await printPages(new Names(ask).jobs(), table, args, io, published);
    return EXIT.ok;
  });
};

const show: VerbRun = (rest, args, io) =>
  withTenant(args, io, async (ask) => {
    const job = await new Names(ask).job(only(rest, "job show JOB"));
    await printValue(published(job), () => jobText(job, paintFor(args, io)), args, io);
    return EXIT.ok;
  });

const create: VerbRun = async (rest, args, io) => {
  const name = only(rest, "job create NAME");
  const description = args.text("description") ?? "";
  const told = await jobNotifyField(args, io);
  return withTenant(args, io, async (ask) => {
    const request = { op: "jobs.create", name, description, ...told, dryRun: args.has("dry-run") };
    const job = await asked<JobAnswer>(ask, request, refusal);
    const text = (): string =>
      isRehearsal(job) ? wouldBe(job, "made") : `job ${job.name} is made; it has no endpoints yet\n`;
    await printValue(published(job), text, args, io);
    return EXIT.ok;
  });
};

const update: VerbRun = async (rest, args, io) => {
  const written = only(rest, "job update JOB --name NEW");
  const [name, description] = [args.text("name"), args.text("description")];
  const told = await jobNotifyField(args, io);
  const changes = {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...told,
  };
  if (Object.keys(changes).length === 0) {
    throw usageError("there is nothing to change", "say --name, --description or --notify");
  }
  return withTenant(args, io, async (ask) => {
    const { id: jobId } = await new Names(ask).job(written);
    const request = { op: "jobs.update", jobId, ...changes, ...ifMatchOf(args), dryRun: args.has("dry-run") };
    const job = await asked<JobAnswer>(ask, request, refusal);
    const text = (): string =>
      isRehearsal(job) ? wouldBe(job, "changed") : `job ${job.name} is changed, version ${job.version}\n`;
    await printValue(published(job), text, args, io);
    return EXIT.ok;
  });
};

function isRehearsal({ dryRun }: JobAnswer): boolean {
  return dryRun === true;
}

function wouldBe({ name }: JobAnswer, what: string): string {
  return `job ${name} would be ${what}; nothing was done\n`;
}

/** A job has nobody else's to take over. */
async function jobNotifyField(args: ParsedArgs, io: CliIo): Promise<Fields> {
  const { notify } = await notifyField(args, io);
  if (notify === null) throw usageError("--notify job is for an endpoint of the job");
  return notify === undefined ? {} : { notify };
}

/** Fields of a job are options of the same name. */
async function refusal([first]: Parameters<Parameters<typeof asked>[2]>[0]): Promise<Error> {
  const field = String(first?.path[0] ?? "");
  return usageError(`${field === "name" ? "the name" : `--${field}`}: ${first?.message ?? ""}`, first?.hint);
}

/** What is done to several of them, one after the other. */
function toEach(
  verb: "pause" | "resume" | "archive" | "delete",
  words: Pick<GroupWords, "done" | "verb">,
  act: (ask: Ask, job: JobAnswer, args: ParsedArgs) => Promise<unknown>,
): VerbRun {
  return async (rest, args, io) => {
    if (rest.length === 0) throw usageError(`${verb} takes a job`, `kron job ${verb} JOB`);
    if (rest.length > 1 && args.text("if-match") !== undefined) throw usageError("--if-match is about one job");
    return withTenant(args, io, async (ask) => {
      const names = new Names(ask);
      const jobs = new Map<string, JobAnswer>();
      for (const written of rest) {
        const job = await names.job(written);
        jobs.set(job.name, job);
      }
      // Judged by whoever would do it; what is told of it is the same for all commands about several.
      if (args.has("dry-run")) for (const job of jobs.values()) await act(ask, job, args);
      const actOn = (name: string): Promise<unknown> => act(ask, jobs.get(name) as JobAnswer, args);
      const group = { identities: [...jobs.keys()], isGroup: jobs.size > 1 };
      const all = { ...words, published: (name: string, value: unknown) => publishedOf(name, value) };
      return forEachOf(group, actOn, all, args, io);
    });
  };
}

function rehearsalOf(args: ParsedArgs): { readonly dryRun: boolean } {
  return { dryRun: args.has("dry-run") };
}

function publishedOf(name: string, value: unknown): unknown {
  return value === null ? { job: name, deleted: true } : published(value as JobAnswer);
}

const pause = toEach(
  "pause",
  {
    verb: "paused",
    done: (name) => `job ${name} is paused: nothing of its endpoints is started until it is resumed\n`,
  },
  (ask, { id: jobId }, args) => ask({ op: "jobs.pause", jobId, ...rehearsalOf(args) }),
);

const resume = toEach(
  "resume",
  { verb: "resumed", done: (name) => `job ${name} goes on\n` },
  (ask, { id: jobId }, args) => ask({ op: "jobs.resume", jobId, ...rehearsalOf(args) }),
);

const archive = toEach(
  "archive",
  { verb: "archived", done: (name) => `job ${name} is archived: 'kron job resume' takes it back\n` },
  (ask, { id: jobId }, args) => ask({ op: "jobs.archive", jobId, ...rehearsalOf(args) }),
);

const remove = toEach(
  "delete",
  { verb: "deleted", done: (name) => `job ${name} is deleted; its runs stay on record\n` },
  (ask, { id: jobId }, args) =>
    ask({ op: "jobs.delete", jobId, force: args.has("force"), ...ifMatchOf(args), ...rehearsalOf(args) }),
);

export function run(args: ParsedArgs, io: CliIo): Promise<number> {
  return runVerb(JOB_VERBS, { list, show, create, update, pause, resume, archive, delete: remove }, args, io);
}

function published(job: JobAnswer): object {
  return publishedAs({ job: job.name }, job);
}

function jobText(job: JobAnswer, paint: Paint): string {
  const { name, description, id, status, notify, createdAt, updatedAt, version } = job;
  const about = description === "" ? "" : `: ${plainLines(description)}`;
  const pairs = [
    ["id", id],
    ["status", status],
    ...(notify.length === 0 ? [] : tellsPairs(notify)),
    ["made", createdAt],
    ["version", `${version}, of ${updatedAt}`],
    ["endpoints", `kron endpoint list --job ${/^[\w.-]+$/.test(name) ? name : id}`],
  ] satisfies (readonly [string, string])[];
  return `${paint.bold(plainText(name))}${about}\n${renderPairs(pairs, paint)}`;
}
