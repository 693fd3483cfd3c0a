/** All tasks of a trace: their causes, what runs, what ended and is not durable yet (P1, P2, P8-P19, P24). */
import type { TraceAction, TraceTask } from "../trace.js";
import { unexplainedStart } from "./start-verdict.js";
import { type InitWindow, type Passage, TaskCauses } from "./task-causes.js";
import type { TimeWalk } from "./time-walk.js";
import type { Report } from "./violation.js";

type Action<K extends TraceAction["kind"]> = Extract<TraceAction, { kind: K }>;

/** A list of known content and, if nobody heard the answer, of unknown fate. */
interface AppliedList {
  readonly tasks: readonly TraceTask[];
  readonly window: InitWindow;
}

export class TaskBook {
  readonly tasks = new Map<string, TaskCauses>();
  readonly running = new Set<string>();
  /** Tasks whose last run failed. */
  readonly failing = new Set<string>();
  readonly #unsaved = new Set<string>();
  readonly #stoppedSinceStart = new Set<string>();
  readonly #time: TimeWalk;
  readonly #report: Report;

  constructor(time: TimeWalk, report: Report) {
    this.#time = time;
    this.#report = report;
  }

  listSucceeded({ tasks, window }: AppliedList, era: number): void {
    const listed = new Map(tasks.map((task) => [task.name, task]));
    for (const [name, causes] of this.tasks) if (!listed.has(name)) causes.forget();
    for (const task of listed.values()) {
      this.#causesOf(task).listed(task, window, this.#time.passages, this.#time.timeZone, era);
    }
  }

  /** Nobody heard how the initialisation ended: its list may be in the store, or not. */
  listMayHaveSucceeded({ tasks, window }: AppliedList): void {
    const names = new Set(tasks.map((task) => task.name));
    for (const [name, causes] of this.tasks) if (!names.has(name)) causes.maybeForgotten();
    for (const task of tasks) this.#causesOf(task).maybeListed(task, window);
  }

  /** Time passes; returns what came due for tasks that are listed. */
  pass(passage: Passage, era: number): readonly { readonly kind: "Due" | "RetryDue"; task: string; at: number }[] {
    const news: { kind: "Due" | "RetryDue"; task: string; at: number }[] = [];
    for (const [task, causes] of this.tasks) {
      const { due, retryDue } = causes.pass(passage, this.running.has(task), era);
      if (!causes.isKnown) continue;
      for (const at of due) news.push({ kind: "Due", task, at });
      if (retryDue !== null) news.push({ kind: "RetryDue", task, at: retryDue });
    }
    return news;
  }

  zoneChanged(timeZone: string, era: number): void {
    for (const causes of this.tasks.values()) {
      causes.changeZone(timeZone, this.#time.now.at, era);
    }
  }

  /** `lowAt`: the earliest reading of the clock on which the start may have been decided. */
  started({ task, at }: Action<"RS">, lowAt: number, era: number): void {
    const causes = this.tasks.get(task);
    if (this.running.has(task)) this.#report("P8", "started while it was running", task);
    this.running.add(task);
    if (causes === undefined) {
      this.#report("P1", "started although it was never in a list", task);
      return;
    }
    if (!causes.isExplained()) {
      const cameAfterCleanStop = this.#stoppedSinceStart.has(task);
      const context = { now: at, timeZone: this.#time.timeZone, era, cameAfterCleanStop };
      for (const [property, message] of unexplainedStart(causes, context)) this.#report(property, message, task);
    }
    causes.started(Math.min(lowAt, at), Math.max(lowAt, at), era);
    this.#stoppedSinceStart.delete(task);
  }

  ended({ kind, task, at }: Action<"REs" | "REf">, era: number): void {
    if (!this.running.delete(task)) {
      this.#report("P24", "ended without having started", task);
      return;
    }
    this.#unsaved.add(task);
    const causes = this.tasks.get(task);
    if (kind === "REf") {
      this.failing.add(task);
      causes?.failed(at, era);
      return;
    }
    this.failing.delete(task);
    if (causes?.lastStart) causes.lastStart.hasSucceeded = true;
  }

  saved(task: string): void {
    this.#unsaved.delete(task);
  }

  /** What was owed may have been claimed: a failure may be reported of a change that survives. */
  storeFailed(): void {
    for (const [name, causes] of this.tasks) if (!this.running.has(name)) causes.mayBeClaimed(this.#time.now.at);
  }

  stopped(): void {
    for (const name of this.tasks.keys()) if (!this.#unsaved.has(name)) this.#stoppedSinceStart.add(name);
    this.#forgetUnsaved();
  }

  crashed(): void {
    this.#forgetUnsaved();
    for (const causes of this.tasks.values()) causes.mayBeClaimed(this.#time.now.at);
    for (const name of this.running) this.tasks.get(name)?.wasCutOff();
    this.running.clear();
    this.#stoppedSinceStart.clear();
  }

  /** A dead instance wrote, and nobody had taken over: runs that were cut off may have ended in the store after all. */
  endedLate(): void {
    for (const causes of this.tasks.values()) causes.mayHaveEnded();
  }

  #forgetUnsaved(): void {
    for (const name of this.#unsaved) this.tasks.get(name)?.endWasLost();
    this.#unsaved.clear();
  }

  #causesOf(task: TraceTask): TaskCauses {
    const causes = this.tasks.get(task.name) ?? new TaskCauses(task);
    this.tasks.set(task.name, causes);
    return causes;
  }
}
