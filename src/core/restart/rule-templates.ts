/**
 * Compiled rules by the canonical text of what jobs have in common: everything but the identity. At a restart a million
 * rules are needed, each for one decision, and most of them differ in nothing else. What it saves is told with
 * `resting-rule.ts`, which is nothing without it.
 */

import { memoised } from "../base/memo.js";
import { compileRule } from "../decision/compile.js";
import type { CompiledRule } from "../decision/model.js";
import { canonicalRuleText } from "../job/raw.js";
import { readJobDefinition } from "../job/schema.js";

/** About a kilobyte each. */
const BOUNDS = { entries: 10_000, chars: 4096 };
/** Stands in for the identity of a template. */
const NOBODY = "nobody";

const templateOf = memoised((ruleTail): CompiledRule | null => {
  const ruleText = `{"identity":"${NOBODY}",${ruleTail}}`;
  const rule = parsed(ruleText);
  const read = readJobDefinition({ ...rule, command: ["true"] });
  return read.ok && canonicalRuleText(read.value) === ruleText ? compileRule(read.value) : null;
}, BOUNDS);

function parsed(text: string): object {
  try {
    return JSON.parse(text) as object;
  } catch {
    return {};
  }
}

/**
 * The compiled rule of an identity whose canonical rule text ends with `ruleTail`; null when this version would read or
 * write that text differently. What a decision needs is in it; `rule` is the rule and nothing more.
 */
export function compiledFromTail(identity: string, ruleTail: string): CompiledRule | null {
  const template = templateOf(ruleTail);
  if (template === null) return null;
  const { schedule, timezone, dst, window, distribution, seed, constraints, pace } = template.rule;
  return {
    ...template,
    rule: {
      identity,
      schedule,
      timezone,
      dst,
      window,
      distribution,
      seed,
      constraints,
      ...(pace === undefined ? {} : { pace }),
    },
    stated: { ...template.stated, identity },
  };
}
