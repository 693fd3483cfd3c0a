/** What the benchmarks of steps and of first sights share. */
import { compileRule } from "../../src/core/decision/compile.js";
import type { JobDefinition } from "../../src/core/job/definition.js";
import { readJobDefinition } from "../../src/core/job/schema.js";
import type { JobScope } from "../../src/machines/activation.js";

export function definitionOf(raw: object): JobDefinition {
  const read = readJobDefinition(raw);
  if (!read.ok) throw new Error(`invariant broken: ${read.error[0]?.message}`);
  return read.value;
}

export function scopeOf(definition: JobDefinition): JobScope {
  const more = { timeoutMs: null, startGraceMs: 60_000, killGraceMs: 5_000, historyLimit: 20 };
  return { compiled: compileRule(definition), policy: definition.policy, ...more };
}

/** Adds the processor time of `act`, in microseconds. */
export function timed(name: string, into: Map<string, number> | null, act: () => void): void {
  const from = process.cpuUsage();
  act();
  const { user, system } = process.cpuUsage(from);
  into?.set(name, (into.get(name) ?? 0) + user + system);
}
