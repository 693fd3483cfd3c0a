/** The calls of `initialize` and `stop`: which list is active, and what the answers must look like (P3-P7, P20-P25). */
import type { TraceAction, TraceTask } from "../trace.js";
import { isValidExpression } from "./civil-minutes.js";
import type { InitWindow } from "./task-causes.js";
import type { Report } from "./violation.js";

type Action<K extends TraceAction["kind"]> = Extract<TraceAction, { kind: K }>;

interface InitCall {
  readonly call: number;
  readonly tasks: readonly TraceTask[];
  readonly problem: string | null;
  /** Why it may fail although its list is valid (P22). */
  readonly isExcused: boolean;
  hasStoreFailed: boolean;
  /** A stop was called while it was in progress: whatever its answer, nothing will run. (A later one may wait for it.) */
  isDoomed: boolean;
  window: InitWindow;
}

interface StopCall {
  /** Initialisations that were in progress when it was called. */
  readonly waitsFor: ReadonlySet<number>;
}

interface ActiveList {
  readonly call: number;
  readonly names: ReadonlySet<string>;
}

type Standing = "uninitialised" | "succeeded" | "stopping" | "stopped" | "crashed";

/** Why a list is invalid, judged independently of the scheduler. */
function listProblem(tasks: readonly TraceTask[], malformed: string | undefined): string | null {
  if (malformed !== undefined) return malformed;
  const names = new Set<string>();
  for (const { name, cron, retryDelayMs } of tasks) {
    if (name === "") return "a task has no name";
    if (names.has(name)) return `two tasks are called ${name}`;
    if (!isValidExpression(cron)) return `"${cron}" is no POSIX expression`;
    if (retryDelayMs < 0) return `the retry delay of ${name} is negative`;
    names.add(name);
  }
  return null;
}

export class Lifecycle {
  active: ActiveList | null = null;
  readonly openInits = new Map<number, InitCall>();
  readonly openStops = new Map<number, StopCall>();
  /** Successful initialisations so far. */
  era = 0;
  #standing: Standing = "uninitialised";
  /** A stop or a crash since the last success (P23). */
  #isSeparated = true;
  /** An initialisation succeeded since the last crash: what died is no longer in charge of anything (P26). */
  #isTakenOver = false;
  readonly #report: Report;

  constructor(report: Report) {
    this.#report = report;
  }

  initCalled(action: Action<"IS">): void {
    if (this.openInits.has(action.call)) this.#report("P25", `call ${action.call} began twice`);
    const isBusy = this.active !== null || this.openInits.size > 0 || this.openStops.size > 0;
    this.openInits.set(action.call, {
      call: action.call,
      tasks: action.tasks,
      problem: listProblem(action.tasks, action.malformed),
      isExcused: isBusy,
      hasStoreFailed: false,
      isDoomed: false,
      window: { lowAt: action.at, highAt: action.at, isZoneSteady: true },
    });
  }

  /** The wall clock read `at` while initialisations were in progress. */
  observe(at: number, hasZoneChanged: boolean): void {
    for (const init of this.openInits.values()) {
      const { lowAt, highAt, isZoneSteady } = init.window;
      init.window = {
        lowAt: Math.min(lowAt, at),
        highAt: Math.max(highAt, at),
        isZoneSteady: isZoneSteady && !hasZoneChanged,
      };
    }
  }

  storeFailed(): void {
    for (const init of this.openInits.values()) init.hasStoreFailed = true;
  }

  /** Returns whether it was admissible: until somebody has taken over, ends of runs may still become durable. */
  wroteLate(): boolean {
    if (this.#isTakenOver) this.#report("P26", "a dead instance changed the store after another had taken over");
    return !this.#isTakenOver;
  }

  /** Returns the call whose list is in force from now on, or null when the trace makes no sense here. */
  initSucceeded(call: number): InitCall | null {
    const init = this.#close(call);
    if (init === null) return null;
    if (init.problem !== null) this.#report("P21", `an invalid list succeeded: ${init.problem}`);
    if (!this.#isSeparated) this.#report("P23", "two initialisations succeeded without a stop or a crash in between");
    this.era++;
    this.#isTakenOver = true;
    this.#isSeparated = init.isDoomed;
    if (init.isDoomed) return init;
    this.active = { call, names: new Set(init.tasks.map((task) => task.name)) };
    this.#standing = "succeeded";
    return init;
  }

  /** Returns the call that failed; its list may have taken effect only if the store is to blame. */
  initFailed(call: number, reason: string): InitCall | null {
    const init = this.#close(call);
    if (init !== null && init.problem === null && !init.isExcused && !init.hasStoreFailed) {
      this.#report("P22", `a valid list failed for no admissible reason (${reason})`);
    }
    return init;
  }

  stopCalled(call: number): void {
    if (this.openStops.has(call)) this.#report("P25", `call ${call} began twice`);
    this.openStops.set(call, { waitsFor: new Set(this.openInits.keys()) });
    this.active = null;
    this.#isSeparated = true;
    this.#standing = "stopping";
    for (const init of this.openInits.values()) init.isDoomed = true;
  }

  stopReturned(call: number, running: readonly string[]): void {
    const stop = this.openStops.get(call);
    if (!this.openStops.delete(call)) this.#report("P25", `a stop returned that was not called (call ${call})`);
    for (const task of running) this.#report("P20", "still running when stop returned", task);
    if ([...this.openInits.keys()].some((init) => stop?.waitsFor.has(init))) {
      this.#report("P20", "stop returned while an initialisation was in progress");
    }
    this.#isSeparated = true;
    if (this.openStops.size === 0 && this.active === null) this.#standing = "stopped";
  }

  /** Returns the initialisations that never got an answer. */
  crashed(): readonly InitCall[] {
    const cutOff = [...this.openInits.values()];
    this.openInits.clear();
    this.openStops.clear();
    this.active = null;
    this.#isSeparated = true;
    this.#isTakenOver = false;
    this.#standing = "crashed";
    return cutOff;
  }

  /** Is a start admissible here at all, whatever its causes? */
  checkStart(task: string, call: number): void {
    if (this.active !== null) {
      if (!this.active.names.has(task)) this.#report("P7", "not in the active list", task);
      else if (this.active.call !== call) this.#report("P7", "ran the callback of another list", task);
      return;
    }
    if (this.openStops.size > 0) this.#report("P4", "started after stop was called", task);
    else if (this.#standing === "stopped") this.#report("P5", "started after stop returned", task);
    else if (this.#standing === "crashed") this.#report("P6", "started after a crash", task);
    if (this.openInits.size > 0 || this.#standing === "uninitialised") {
      this.#report("P3", "started before initialize returned", task);
    }
  }

  #close(call: number): InitCall | null {
    const init = this.openInits.get(call);
    if (init === undefined) this.#report("P25", `an initialisation answered that was not called (call ${call})`);
    this.openInits.delete(call);
    return init ?? null;
  }
}
