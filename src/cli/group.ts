/** Commands for several jobs at once: which jobs patterns and tags mean, and what came of each of them. */

import { matchesGlob } from "../core/job/identity-glob.js";
import { nearest } from "../core/job/suggest.js";
import type { ControlClient } from "../krond/control/client.js";
import { ControlError } from "../krond/control/client.js";
import type { ListPage } from "../operations/jobs/list.js";
import { OPERATION_LIMITS } from "../operations/limits.js";
import type { ParsedArgs } from "./args.js";
import { EXIT, usageError } from "./exit.js";
import { plural } from "./format.js";
import type { CliIo } from "./io.js";
import { printValue } from "./output.js";

/** Jobs that are named one by one in a text; of more there is the number. */
const NAMED = 20;
/** Jobs among which a pattern that matches nothing is compared. */
const COMPARED = 2_000;

export interface Group {
  readonly identities: readonly string[];
  /** False for a single job that was written out: then the answer is about it alone. */
  readonly isGroup: boolean;
}

export async function groupOf(client: ControlClient, args: ParsedArgs, verb: string): Promise<Group> {
  const { positionals } = args;
  const tags = (args.text("tag") ?? "").split(",").filter((tag) => tag !== "");
  if (positionals.length === 0 && tags.length === 0) {
    throw usageError(`${verb} takes a job`, `kron ${verb} JOB, kron ${verb} 'prod/*', or kron ${verb} --tag nightly`);
  }
  const most = OPERATION_LIMITS.filterWords;
  if (positionals.length > most || tags.length > most) throw usageError(`more than ${most} jobs or tags at once`);
  const [only] = positionals;
  const isOne = only !== undefined && positionals.length === 1 && tags.length === 0 && !isPattern(only);
  if (isOne && !args.has("dry-run")) return { identities: [only], isGroup: false };
  const identities = await matching(client, positionals, tags, Number.POSITIVE_INFINITY);
  const idle = positionals.find((pattern) => !identities.some((identity) => matchesGlob(pattern, identity)));
  if (idle !== undefined) throw usageError(nothing(idle, tags), await suggestion(client, idle));
  if (identities.length === 0) throw usageError(`no job has the tag ${tags.join(" or ")}`, "kron list shows all jobs");
  return { identities, isGroup: true };
}

function isPattern(text: string): boolean {
  return /[*?]/.test(text);
}

function nothing(pattern: string, tags: readonly string[]): string {
  const tagged = tags.length === 0 ? "" : ` with the tag ${tags.join(" or ")}`;
  return isPattern(pattern) ? `"${pattern}" matches no job${tagged}` : `no job "${pattern}"${tagged}`;
}

async function matching(
  client: ControlClient,
  identities: readonly string[],
  tags: readonly string[],
  most: number,
): Promise<readonly string[]> {
  const found: string[] = [];
  let after: string | null = null;
  const filter = { identities, standings: ["enabled", "suspended", "paused"] as const, tags };
  do {
    const page: ListPage = (await client.ask({
      op: "list",
      after,
      limit: OPERATION_LIMITS.listRows,
      filter,
    })) as ListPage;
    found.push(...page.rows.map(({ identity }) => identity));
    after = page.next;
  } while (after !== null && found.length < most);
  return found;
}

/** A job, or a folder of jobs, that is nearly called so. */
async function suggestion(client: ControlClient, pattern: string): Promise<string> {
  const identities = await matching(client, [], [], COMPARED);
  const [, folder = "", rest = ""] = /^([^*?]*\/)?(.*)$/s.exec(pattern) ?? [];
  const folders = [
    ...new Set(identities.flatMap((it) => (it.includes("/") ? [it.slice(0, it.lastIndexOf("/") + 1)] : []))),
  ];
  const near = folder !== "" && isPattern(pattern) ? nearest(folder, folders) : undefined;
  if (near !== undefined && near !== folder) return `did you mean '${near}${rest}'?`;
  const job = isPattern(pattern) ? undefined : nearest(pattern, identities);
  if (job !== undefined) return `did you mean "${job}"?`;
  return "in a pattern * is any text, slashes too, and ? any character; 'kron list' shows all jobs";
}

/** How a command tells of what it did. */
export interface GroupWords {
  /** Of one job, as its own line. */
  readonly done: (identity: string, value: unknown) => string;
  /** For JSON. */
  readonly published: (identity: string, value: unknown) => unknown;
  /** `paused`: what stands before the number of jobs. */
  readonly verb: string;
  /** Instead of verb and number. */
  readonly summary?: (values: readonly unknown[]) => string;
  /** Nothing is told of what was done: somebody else does. */
  readonly isSilent?: true;
  /** What there are several of; absent: jobs. */
  readonly noun?: string;
  /** Behind the number, such as ` until 2026-03-01T00:00:00Z`. */
  readonly tail?: string;
}

/**
 * Job after job. What fails for one is told and does not keep the others from their turn; the exit code then says so.
 * With `--dry-run` nothing is asked of anybody.
 */
export async function forEachOf(
  { identities, isGroup }: Group,
  ask: (identity: string) => Promise<unknown>,
  words: GroupWords,
  args: ParsedArgs,
  io: CliIo,
): Promise<number> {
  if (args.has("dry-run")) return wouldDo(identities, words, args, io);
  if (!isGroup) {
    const [identity = ""] = identities;
    const value = await ask(identity);
    const text = () => words.done(identity, value);
    if (words.isSilent !== true) await printValue(words.published(identity, value), text, args, io);
    return EXIT.ok;
  }
  const done: Done[] = [];
  for (const identity of identities) {
    try {
      done.push({ identity, value: await ask(identity) });
    } catch (error) {
      if (!(error instanceof ControlError) || error.kind === "no-answer") throw error;
      await io.err(`kron: ${identity}: ${error.message}\n`);
    }
  }
  const published = done.map(({ identity, value }) => words.published(identity, value));
  if (words.isSilent !== true) await printValue(published, () => groupText(done, identities.length, words), args, io);
  return done.length === identities.length ? EXIT.ok : EXIT.usage;
}

interface Done {
  readonly identity: string;
  readonly value: unknown;
}

function groupText(done: readonly Done[], asked: number, words: GroupWords): string {
  const lines = done.length > NAMED ? [] : done.map(({ identity, value }) => words.done(identity, value));
  const of = done.length === asked ? "" : `${done.length} of `;
  const usual = `${words.verb} ${of}${plural(asked, words.noun ?? "job")}${words.tail ?? ""}`;
  const summary = words.summary?.(done.map(({ value }) => value)) ?? usual;
  return `${lines.join("")}${summary === "" ? "" : `${summary}\n`}`;
}

async function wouldDo(
  identities: readonly string[],
  { verb, tail = "", noun = "job" }: GroupWords,
  args: ParsedArgs,
  io: CliIo,
): Promise<number> {
  const lines = identities.map((identity) => `  ${identity}\n`).join("");
  const text = `${plural(identities.length, noun)} would be ${verb}${tail}; nothing was done:\n`;
  await printValue({ dry_run: true, identities }, () => `${text}${lines}`, args, io);
  return EXIT.ok;
}
