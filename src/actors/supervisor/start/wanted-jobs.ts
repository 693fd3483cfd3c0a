/** What the configuration asks for, however it is held: a million definitions are bytes until one of them is needed. */
import { type ContentHash, contentHashOf } from "../../../core/job/content-hash.js";
import type { JobDefinition } from "../../../core/job/definition.js";
import { canonicalDefinitionText } from "../../../core/job/schema.js";

export interface WantedJobs {
  readonly size: number;
  /** -1: there is no such job. */
  indexOf(identity: string): number;
  identityAt(index: number): string;
  contentHashAt(index: number): ContentHash;
  /** The canonical text. */
  textAt(index: number): string;
  definitionAt(index: number): JobDefinition;
}

/** Both, where no job is in each of them. */
export function joined(one: WantedJobs, other: WantedJobs): WantedJobs {
  const at = <T>(index: number, of: (jobs: WantedJobs, index: number) => T): T =>
    index < one.size ? of(one, index) : of(other, index - one.size);
  return {
    size: one.size + other.size,
    indexOf: (identity) => {
      const first = one.indexOf(identity);
      const second = first >= 0 ? -1 : other.indexOf(identity);
      return second < 0 ? first : one.size + second;
    },
    identityAt: (index) => at(index, (jobs, i) => jobs.identityAt(i)),
    contentHashAt: (index) => at(index, (jobs, i) => jobs.contentHashAt(i)),
    textAt: (index) => at(index, (jobs, i) => jobs.textAt(i)),
    definitionAt: (index) => at(index, (jobs, i) => jobs.definitionAt(i)),
  };
}

export function wantedFrom(definitions: readonly JobDefinition[]): WantedJobs {
  const indexes = new Map(definitions.map(({ identity }, index) => [identity, index]));
  const at = (index: number): JobDefinition => {
    const definition = definitions[index];
    if (definition === undefined) throw new Error(`invariant broken: no definition at ${index}`);
    return definition;
  };
  const textAt = (index: number): string => canonicalDefinitionText(at(index));
  return {
    size: definitions.length,
    indexOf: (identity) => indexes.get(identity) ?? -1,
    identityAt: (index) => at(index).identity,
    contentHashAt: (index) => contentHashOf(textAt(index)),
    textAt,
    definitionAt: at,
  };
}
