/**
 * Runs without anything around them: the steps of many jobs, one step of all of them after the other, so that each step
 * can be told apart. What a version of Kron called otherwise before is said both ways, so that it can be measured too.
 */
import { contributionOf } from "../../src/actors/supervisor/write/contribution.js";
import { compileRule } from "../../src/core/decision/compile.js";
import { sha256Hex } from "../../src/core/decision/seed.js";
import { definitionFromCanonical } from "../../src/core/job/canonical.js";
import type { JobDefinition } from "../../src/core/job/definition.js";
import { canonicalDefinitionText, canonicalRuleText, readJobDefinition } from "../../src/core/job/schema.js";
import { firstSight } from "../../src/core/restart/first-sight.js";
import { newDocument } from "../../src/core/state/document.js";
import { type Activation, activate, type JobScope } from "../../src/machines/activation.js";
import { type ActivationEvent, step } from "../../src/machines/step.js";

const DAY_MS = 86_400_000;
const FIRST_AT = Date.UTC(2026, 0, 1);
const BOOT_ID = "4b0a1c52-91d3-4c0e-8f5b-0d2f6f1f7c11";
const EXIT = { kind: "exited", code: 0, signal: null, reason: null, exitCode: 0 };
const VERSIONS = { tzVersion: "2025c", engineVersion: "bench" };

export type RunKind = "slot" | "process";

interface Job {
  readonly scope: JobScope;
  activation: Activation;
}

function definitionOf(raw: object): JobDefinition {
  const read = readJobDefinition(raw);
  if (!read.ok) throw new Error(`invariant broken: ${read.error[0]?.message}`);
  return read.value;
}

function scopeOf(definition: JobDefinition): JobScope {
  const more = { timeoutMs: null, startGraceMs: 60_000, killGraceMs: 5_000, historyLimit: 20 };
  return { compiled: compileRule(definition), policy: definition.policy, ...more };
}

function jobsOf(count: number): Job[] {
  return Array.from({ length: count }, (_, index) => {
    const identity = `bench/job-${index}`;
    const scope = scopeOf(definitionOf({ identity, schedule: "@daily", command: ["/bin/true"] }));
    return { scope, activation: activate({ ...newDocument(identity), DefinedAt: "2025-12-01T00:00:00Z" }, scope) };
  });
}

/** In the order in which the supervisor tells them, with the instant of each. */
function eventsOf(kind: RunKind, day: number, attemptId: string): readonly (readonly [ActivationEvent, number])[] {
  const dayAt = FIRST_AT + day * DAY_MS;
  const at = kind === "slot" ? dayAt + DAY_MS / 2 : dayAt;
  const holder = { kind: "process", pid: 12_345, startTicks: 6_789_012, bootId: BOOT_ID };
  const before = { pid: 12_345, pidStartTicks: 6_789_012, bootId: BOOT_ID, attemptId };
  const wake = { type: "WAKE", isReturning: false, nominalAt: kind === "slot" ? dayAt + DAY_MS : dayAt };
  const events = [
    [wake, at],
    ...(kind === "slot" ? [[{ type: "RUN", source: "manual", slotAt: at }, at]] : []),
    [{ type: "READY", attemptId, holder, process: before }, at],
    [{ type: "DURABLE", attemptId }, at + 1],
    [{ type: "STARTED", attemptId }, at + 2],
    [{ type: "EXITED", attemptId, ending: EXIT }, at + 1_000],
  ];
  return events as unknown as readonly (readonly [ActivationEvent, number])[];
}

/** Runs of `jobs` jobs on so many days; processor time of each step in microseconds for one of them, by its name. */
export function measureRuns(kind: RunKind, jobs: number, days: number, warmUpDays: number): Record<string, number> {
  const all = jobsOf(jobs);
  const spent = new Map<string, number>();
  for (let day = 0; day < warmUpDays + days; day += 1) {
    const isMeasured = day >= warmUpDays;
    const attemptId = `${day.toString(36)}-0123456789ab`;
    timed("activate", isMeasured ? spent : null, () => {
      for (const job of all) job.activation = activate(job.activation.job.context.document, job.scope);
    });
    for (const [event, now] of eventsOf(kind, day, attemptId)) {
      const moment = { now, gate: null, freshId: () => attemptId };
      timed(event.type, isMeasured ? spent : null, () => {
        for (const job of all) job.activation = step(job.scope, job.activation, event, moment).activation;
      });
    }
  }
  mustHaveRun(all, kind);
  return Object.fromEntries([...spent].map(([name, us]) => [name, us / (jobs * days)]));
}

function mustHaveRun(jobs: readonly Job[], kind: RunKind): void {
  for (const { activation } of jobs) {
    const { History } = activation.job.context.document;
    const source = kind === "slot" ? "manual" : undefined;
    if (History.length !== 20 || !History.every((run) => run.Source === source)) throw new Error("nothing has run");
  }
}

function timed(name: string, into: Map<string, number> | null, act: () => void): void {
  const from = process.cpuUsage();
  act();
  const { user, system } = process.cpuUsage(from);
  into?.set(name, (into.get(name) ?? 0) + user + system);
}

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
  const first = firstSight({ compiled, definitionHash, isSuspended: definition.policy.suspend }, now);
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
