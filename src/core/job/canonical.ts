/**
 * Reading canonical definition texts, which Kron has written itself and checks for damage: what a person may have
 * written wrong needs no looking for. Same results as `readJobDefinition`, at a fraction of its cost.
 */
import type { Problem } from "../base/problem.js";
import { isEvery } from "../cron/every.js";
import type { JobDefinition } from "./definition.js";
import { readDescription, readPolicy, readTags } from "./policy-reader.js";
import { readRetry, withRetry } from "./retry-reader.js";
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
  const rule = readRule(raw, raw, OPTIONS, problems);
  const retry = readRetry(raw, raw, isEvery(rule.schedule), problems);
  const definition: JobDefinition = Object.freeze({
    ...rule,
    policy: withRetry(readPolicy(raw, raw, problems), retry),
    target: readTarget(raw, raw, problems),
    description: readDescription(raw.description, problems),
    tags: readTags(raw.tags, problems),
  });
  return problems.length === 0 ? definition : null;
}

/** Where a canonical text begins. */
const FIRST = '{"identity":"';
const SECOND = '","schedule":"';
/** What follows the scheduling rule. In a text quotation marks have a backslash in front: it is found nowhere else. */
const AFTER_RULE = ',"policy":{';
const SUSPEND = ',"suspend":';

/** A canonical text, taken apart without parsing it. */
export interface CanonicalParts {
  /** The canonical text of the scheduling rule. */
  readonly ruleText: string;
  /** The same from the schedule on, without the identity: what jobs have in common. */
  readonly ruleTail: string;
  readonly isSuspended: boolean;
}

/** null when the text is not of the canonical form, or the identity is one that needs escapes. */
export function canonicalParts(text: string, identity: string): CanonicalParts | null {
  const identityEnd = FIRST.length + identity.length;
  if (!text.startsWith(FIRST) || !text.startsWith(identity, FIRST.length) || !text.startsWith(SECOND, identityEnd)) {
    return null;
  }
  const ruleEnd = text.indexOf(AFTER_RULE, identityEnd);
  const suspendAt = ruleEnd < 0 ? -1 : text.indexOf(SUSPEND, ruleEnd);
  if (suspendAt < 0) return null;
  return {
    ruleText: `${text.slice(0, ruleEnd)}}`,
    ruleTail: text.slice(identityEnd + 2, ruleEnd),
    isSuspended: text.startsWith("true", suspendAt + SUSPEND.length),
  };
}
