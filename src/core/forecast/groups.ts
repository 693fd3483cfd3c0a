/** By what the load is divided: which groups a job belongs to, and what is known of each group. */

import { splitWords } from "../base/words.js";
import type { JobDefinition, Target } from "../job/definition.js";

export const GROUPINGS = ["identity", "tag", "user", "target"] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** A job with several tags is in several groups. */
export function groupNamesOf(definition: JobDefinition, by: Grouping): readonly string[] {
  switch (by) {
    case "identity":
      return [definition.identity];
    case "tag":
      return definition.tags.length === 0 ? ["(no tag)"] : [...new Set(definition.tags)];
    case "user":
      return [userOf(definition.target)];
    case "target":
      return [targetOf(definition.target)];
  }
}

function userOf(target: Target): string {
  return target.kind === "http" ? "(http)" : (target.user ?? "(no user)");
}

/** What carries the load: the program, or the server that is called. */
function targetOf(target: Target): string {
  if (target.kind === "http") return /^[a-z]+:\/\/[^/?#]*/i.exec(target.url)?.[0] ?? target.url;
  const [first = ""] = target.argv;
  if (!target.shell) return first;
  const words = splitWords(first);
  return (words.ok ? words.value[0]?.text : undefined) ?? first;
}

/** Numbers of a group, one entry in each list; a job's own place is its group when the load is divided by identity. */
export class GroupBook {
  readonly names: string[] = [];
  readonly jobs: number[] = [];
  readonly #indexOf = new Map<string, number>();

  /** For names that may come again. */
  find(name: string): number {
    const known = this.#indexOf.get(name);
    const index = known ?? this.add(name);
    if (known === undefined) this.#indexOf.set(name, index);
    else this.jobs[index] = (this.jobs[index] ?? 0) + 1;
    return index;
  }

  /** For names that are known to be new. */
  add(name: string): number {
    this.jobs.push(1);
    return this.names.push(name) - 1;
  }
}
