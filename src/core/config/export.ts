/**
 * Jobs as a YAML file of Kron's own, as somebody would have written it: what all of them share said once, and above each
 * job what it comes from.
 */
import { Document, isMap, isSeq } from "yaml";
import type { JobDefinition } from "../job/definition.js";
import { minimalRaw } from "../job/minimal.js";
import { definitionToRaw, type RawDefaults, type RawJob, readJobDefaults } from "../job/schema.js";

export interface CommentedJob {
  readonly definition: JobDefinition;
  /** Lines that stand above it. */
  readonly comments: readonly string[];
}

const YAML_OPTIONS = { version: "1.2", schema: "core", aliasDuplicateObjects: false } as const;

export function jobsYaml(jobs: readonly CommentedJob[]): string {
  const shared = sharedFields(jobs.map(({ definition }) => definition));
  const defaults = readJobDefaults(shared);
  if (!defaults.ok) throw new Error(`invariant broken: ${JSON.stringify(defaults.error)}`);
  const raw = jobs.map(({ definition }) => minimalRaw(definition, defaults.value));
  const hasDefaults = Object.keys(shared).length > 0;
  const document = new Document({ ...(hasDefaults ? { defaults: shared } : {}), jobs: raw }, YAML_OPTIONS);
  const list = document.get("jobs");
  if (!isSeq(list)) throw new Error("invariant broken: the jobs are no list");
  for (const [index, node] of list.items.entries()) {
    const job = jobs[index];
    if (!isMap(node) || job === undefined) continue;
    node.commentBefore = commentOf(job);
    node.spaceBefore = index > 0;
    const command = node.get("command");
    if (isSeq(command)) command.flow = true;
  }
  return document.toString({ lineWidth: 0, commentString });
}

function commentString(comment: string): string {
  return comment.replace(/^/gm, "#");
}

function commentOf({ comments }: CommentedJob): string {
  // A comment is one line: nothing in it may begin another one.
  return comments.map((line) => ` ${line.replace(/[^\P{C}\t]|[\u2028\u2029]/gu, "\ufffd")}`).join("\n");
}

/** Gives every name once: `backup`, `backup-2`, `backup-3`. */
export class NameBook {
  readonly #taken = new Set<string>();
  readonly #counts = new Map<string, number>();

  unused(name: string): string {
    let count = this.#counts.get(name) ?? 1;
    let candidate = count === 1 ? name : `${name}-${count}`;
    while (this.#taken.has(candidate)) candidate = `${name}-${++count}`;
    this.#counts.set(name, count + 1);
    this.#taken.add(candidate);
    return candidate;
  }
}

/** What every job says alike, where a default can say it: a single job keeps all for itself. */
function sharedFields(definitions: readonly JobDefinition[]): RawDefaults {
  const [first, ...others] = definitions.map((definition) => definitionToRaw(definition));
  if (first === undefined || others.length === 0) return {};
  const isShared = (pick: (raw: RawJob) => unknown): boolean => {
    const wanted = JSON.stringify(pick(first));
    return wanted !== undefined && others.every((raw) => JSON.stringify(pick(raw)) === wanted);
  };
  const env = Object.entries(first.env ?? {}).filter(([name]) => isShared((raw) => raw.env?.[name]));
  return {
    ...(isShared((raw) => raw.timezone) && first.timezone !== "UTC" ? { timezone: first.timezone } : {}),
    ...(isShared((raw) => raw.policy?.deadline) ? { policy: { deadline: first.policy?.deadline } } : {}),
    ...(isShared((raw) => raw.user) ? { user: first.user } : {}),
    ...(env.length === 0 ? {} : { env: Object.fromEntries(env) }),
  } as RawDefaults;
}
