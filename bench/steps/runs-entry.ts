/**
 * Runs without anything around them: the steps of many jobs, one step of all of them after the other, so that each step
 * can be told apart. What a version of Kron called otherwise before is said both ways, so that it can be measured too.
 */
import { newDocument } from "../../src/core/state/document.js";
import { type Activation, activate, type JobScope } from "../../src/machines/activation.js";
import { type ActivationEvent, step } from "../../src/machines/step.js";
import { definitionOf, scopeOf, timed } from "./common.js";

const DAY_MS = 86_400_000;
const FIRST_AT = Date.UTC(2026, 0, 1);
const BOOT_ID = "4b0a1c52-91d3-4c0e-8f5b-0d2f6f1f7c11";
const EXIT = { kind: "exited", code: 0, signal: null, reason: null, exitCode: 0 };

export type RunKind = "slot" | "process";

interface Job {
  readonly scope: JobScope;
  activation: Activation;
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
