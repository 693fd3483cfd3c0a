/**
 * What an inspector is told of a scheduler: its own life, its polling, and every task, each as the chart that it follows.
 * It looks on: without an inspector nothing is made, and what an inspector does wrong changes nothing.
 */
import type { EpochMs } from "../core/time/instant.js";
import {
  chartText,
  type Frame,
  type FrameEvent,
  FrameMaker,
  type PublicSnapshot,
  snapshotOf,
} from "../machines/inspection-frames.js";
import { type PollingEvent, pollingMachine } from "../machines/polling.machine.js";
import { type SchedulerLifecycleEvent, schedulerMachine } from "../machines/scheduler.machine.js";
import { type TaskEffect, taskMachine } from "../machines/task.machine.js";
import type { Claim } from "./claims.js";
import type { Ports } from "./ports.js";
import type { RegisteredTask } from "./registrations.js";
import type { Reporter } from "./reporter.js";
import { applyEffects, restingState } from "./task-rules.js";
import type { TaskRecord } from "./types.js";

const ROOT = "scheduler";
const POLLING = "polling";
const FRAMES = new FrameMaker(ROOT);
const MACHINES = { scheduler: schedulerMachine, polling: pollingMachine, task: taskMachine } as const;
type Kind = keyof typeof MACHINES;

/** A run that has ended, as its chart takes it; its record is what is about to be written. */
export interface EndedRun {
  readonly claim: Claim;
  readonly outcome: { readonly type: "SUCCEEDED" } | { readonly type: "FAILED"; readonly error: unknown };
  readonly state: string;
  readonly effects: readonly TaskEffect[];
  readonly endedAt: EpochMs;
}

export class Inspector {
  readonly #ports: Ports;
  readonly #reporter: Reporter;
  /** Kinds whose chart was sent: one is enough. */
  readonly #charted = new Set<Kind>();
  readonly #born = new Set<string>();

  constructor(ports: Ports, reporter: Reporter) {
    this.#ports = ports;
    this.#reporter = reporter;
  }

  lived(event: SchedulerLifecycleEvent, before: string, state: string): void {
    if (!this.#isWatched) return;
    const shown =
      event.type === "INITIALIZATION_FAILED" ? { type: event.type, error: nameOf(event.error) } : { ...event };
    this.#stepped("scheduler", ROOT, null, shown, before, state);
  }

  polled(event: PollingEvent, before: string, state: string): void {
    if (this.#isWatched) this.#stepped("polling", POLLING, ROOT, { ...event }, before, state);
  }

  /** The list was accepted, and the store brought in line with it. */
  registered(tasks: readonly RegisteredTask[], records: readonly TaskRecord[]): void {
    if (!this.#isWatched) return;
    const now = this.#ports.lenientNow();
    for (const [slot, record] of records.entries()) {
      const task = tasks[slot];
      if (task !== undefined)
        this.#bear("task", sessionOf(task.name), ROOT, taskSnapshot(restingState(record), record), now);
    }
  }

  /** The claim is durable, and the callback is about to be called. */
  started({ task, before, after, effects, cause, dueAt }: Claim, now: EpochMs): void {
    if (!this.#isWatched) return;
    const session = sessionOf(task.name);
    const event = { type: "POLL", cause, dueAt };
    this.#tell(FRAMES.event(session, POLLING, event, now));
    // The retry that gave way is a step of its own, to where the occurrence is taken up.
    const cleared = { ...before, pendingRetryUntil: null };
    const isPreempted = effects.includes("TaskRetryPreempted");
    if (isPreempted) this.#tell(FRAMES.snapshot(session, event, taskSnapshot("AwaitingRun", cleared), now));
    this.#tell(FRAMES.snapshot(session, event, taskSnapshot("Running", after), now));
  }

  /** Stopped by whoever was told of the start: the run stays owed. */
  withdrawn({ task, before }: Claim, now: EpochMs): void {
    if (!this.#isWatched) return;
    const session = sessionOf(task.name);
    const event = { type: "WITHDRAWN" };
    this.#tell(FRAMES.event(session, ROOT, event, now));
    this.#tell(FRAMES.snapshot(session, event, taskSnapshot(restingState(before), before), now));
  }

  ended({ claim, outcome, state, effects, endedAt }: EndedRun): void {
    if (!this.#isWatched) return;
    const { task, after } = claim;
    const session = sessionOf(task.name);
    const event =
      outcome.type === "FAILED" ? { type: outcome.type, error: nameOf(outcome.error) } : { type: outcome.type };
    const context = { now: endedAt, schedulerId: after.runningBy ?? "", retryDelayMs: task.retryDelayMs };
    this.#tell(FRAMES.event(session, session, event, endedAt));
    this.#tell(FRAMES.snapshot(session, event, taskSnapshot(state, applyEffects(after, effects, context)), endedAt));
  }

  get #isWatched(): boolean {
    return this.#ports.inspect !== undefined;
  }

  #stepped(kind: Kind, session: string, parent: string | null, event: FrameEvent, before: string, state: string): void {
    const now = this.#ports.lenientNow();
    if (!this.#born.has(session)) this.#bear(kind, session, parent, snapshotOf("active", before, {}), now);
    this.#tell(FRAMES.event(session, null, event, now));
    this.#tell(FRAMES.snapshot(session, event, snapshotOf("active", state, {}), now));
  }

  #bear(kind: Kind, sessionId: string, parentId: string | null, snapshot: PublicSnapshot, now: EpochMs): void {
    const definition = this.#charted.has(kind) ? JSON.stringify({ id: kind }) : chartText(MACHINES[kind]);
    this.#charted.add(kind);
    this.#born.add(sessionId);
    this.#tell(FRAMES.actor({ name: sessionId, sessionId, parentId, definition, snapshot }, now));
  }

  #tell(frame: Frame): void {
    this.#reporter.inspect(frame);
  }
}

/** A task may be called like one of our own actors. */
function sessionOf(name: string): string {
  return name === ROOT || name === POLLING || name.startsWith("task:") ? `task:${name}` : name;
}

/** Instants as people read them. */
function taskSnapshot(state: string, record: TaskRecord): PublicSnapshot {
  const shown = Object.entries(record).map(([key, value]) => {
    const isInstant = typeof value === "number" && /(?:At|Since|Until)$/.test(key);
    return [key, isInstant ? new Date(value).toISOString() : value] as const;
  });
  return snapshotOf("active", state, Object.fromEntries(shown));
}

/** An error's words are the callback's own, and may hold what nobody else is to read. */
function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
