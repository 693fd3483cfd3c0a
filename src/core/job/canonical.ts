/**
 * Reading canonical definition texts, which Kron has written itself and checks for damage: what a person may have
 * written wrong needs no looking for. Same results as `readJobDefinition`, at a fraction of its cost.
 */
import type { Problem } from "../base/problem.js";
import type { JobDefinition } from "./definition.js";
import { readSound } from "./schema.js";
import type { RawJob } from "./shape.js";

const OPTIONS = { mayUseReservedPrefix: true } as const;

/**
 * The definition that `text` is the canonical text of; null when it is not one that this version can use. Only for texts
 * that `canonicalDefinitionText` of this version made: of others, the shape is not checked.
 */
export function definitionFromCanonical(text: string): JobDefinition | null {
  const problems: Problem[] = [];
  const definition = readSound(JSON.parse(text) as RawJob, undefined, OPTIONS, problems);
  return problems.length === 0 ? definition : null;
}
