/**
 * The first sight of jobs: what a new one costs until what is written of it is at hand, with the machines and without.
 */
import { contributionOf } from "../../src/actors/supervisor/write/contribution.js";
import { compileRule } from "../../src/core/decision/compile.js";
import { sha256Hex } from "../../src/core/decision/seed.js";
import { definitionFromCanonical } from "../../src/core/job/canonical.js";
import type { JobDefinition } from "../../src/core/job/definition.js";
import { canonicalDefinitionText, canonicalRuleText } from "../../src/core/job/schema.js";
import { firstSight } from "../../src/core/restart/first-sight.js";
import { newDocument } from "../../src/core/state/document.js";
import { activate, type JobScope } from "../../src/machines/activation.js";
import { step } from "../../src/machines/step.js";
import { definitionOf, scopeOf, timed } from "./common.js";

const VERSIONS = { tzVersion: "2025c", engineVersion: "bench" };

/** A job that was never seen: what its text takes to read, and to say what is written of it, with and without machines. */
export function measureFirstSight(raws: readonly object[], rounds: number): Record<string, number>[] {
  const texts = raws.map((raw) => canonicalDefinitionText(definitionOf(raw)));
  const now = Date.now();
  return Array.from({ length: rounds }, () => {
    const spent = new Map<string, number>();
    const definitions: JobDefinition[] = [];
    timed("read", spent, () => {
      for (const text of texts) definitions.push(definitionFromCanonical(text) as JobDefinition);
    });
    timed("sight", spent, () => {
      for (const definition of definitions) seen(definition, now);
    });
    timed("machines", spent, () => {
      for (const definition of definitions) told(definition, now);
    });
    return Object.fromEntries([...spent].map(([name, us]) => [name, us / raws.length]));
  });
}

function seen(definition: JobDefinition, now: number): void {
  const compiled = compileRule(definition);
  const definitionHash = sha256Hex(canonicalRuleText(definition));
  const first = firstSight({ compiled, definitionHash, isSuspended: definition.policy.suspend, stopAt: null }, now);
  if (first === null) throw new Error(`${definition.identity} is not simple`);
  const { document, facts } = first;
  written([{ type: "persist", params: { document, facts, claimedBy: null } }], compiled, definition.identity);
}

function told(definition: JobDefinition, now: number): void {
  const scope = scopeOf(definition);
  const hash = sha256Hex(canonicalRuleText(definition));
  const activation = activate(newDocument(definition.identity), scope);
  const moment = { now, gate: null, freshId: () => "none" };
  const { effects } = step(scope, activation, { type: "DEFINE", hash, carriedAt: null }, moment);
  written(effects, scope.compiled, definition.identity);
}

type Effects = Parameters<typeof contributionOf>[0]["effects"];

function written(effects: Effects, compiled: JobScope["compiled"], identity: string): void {
  const composed = contributionOf({ effects }, { compiled, versions: VERSIONS, before: newDocument(identity) });
  if (composed === null) throw new Error("nothing is written");
}
