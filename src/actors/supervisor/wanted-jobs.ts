/** What the configuration asks for, however it is held: a million definitions are bytes until one of them is needed. */
import { type ContentHash, contentHashOf } from "../../core/job/content-hash.js";
import type { JobDefinition } from "../../core/job/definition.js";
import { canonicalDefinitionText } from "../../core/job/schema.js";

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
