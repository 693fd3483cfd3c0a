/**
 * Reading canonical definition texts, which Kron has written itself and checks for damage: what a person may have
 * written wrong needs no looking for. Same results as `readJobDefinition`, at a fraction of its cost.
 */
import type { Problem } from "../base/problem.js";
import type { JobDefinition } from "./definition.js";
import { readDescription, readPolicy, readTags } from "./policy-reader.js";
import { readRule } from "./rule-reader.js";
import type { RawJob } from "./shape.js";
import { readTarget } from "./target-reader.js";

const OPTIONS = { mayUseReservedPrefix: true } as const;

/**
 * The definition that `text` is the canonical text of; null when it is not one that this version can use. Only for texts
 * that `canonicalDefinitionText` of this version made: of others, the shape is not checked.
 */
export function definitionFromCanonical(text: string): JobDefinition | null {
  const raw = JSON.parse(text) as RawJob;
  const problems: Problem[] = [];
  const definition: JobDefinition = Object.freeze({
    ...readRule(raw, raw, OPTIONS, problems),
    policy: readPolicy(raw, raw, problems),
    target: readTarget(raw, raw, problems),
    description: readDescription(raw.description, problems),
    tags: readTags(raw.tags, problems),
  });
  return problems.length === 0 ? definition : null;
}
