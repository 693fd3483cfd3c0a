/** Callbacks whose end the test decides: at once, after some virtual time, or by hand. */
import type { VirtualTime } from "./virtual-time.js";

/**
 * What a run does: ends at once, throws before it returned a promise, waits for `succeed()` or `fail()`, or takes its
 * time first.
 */
export type Outcome =
  | "succeed"
  | "fail"
  | "throw"
  | "hang"
  | { readonly takesMs: number; readonly ending: "succeed" | "fail" };

/** One invocation of a controlled task. */
export interface ControlledRun {
  readonly startedAt: number;
  /** False: only `succeed()` or `fail()` ends it. */
  readonly endsByItself: boolean;
  isOpen(): boolean;
  succeed(): void;
  fail(error?: unknown): void;
}

export interface ControlledTask {
  readonly callback: () => Promise<void>;
  /** Every run so far, oldest first, also those of instances that crashed since. */
  readonly runs: readonly ControlledRun[];
  /** Outcomes of the coming runs, in order; when they are used up, `otherwise` applies. */
  will(...outcomes: readonly Outcome[]): void;
  otherwise(outcome: Outcome): void;
  /** Ends the newest open run; false: there is none. */
  succeed(): boolean;
  fail(error?: unknown): boolean;
}

class Run implements ControlledRun {
  readonly startedAt: number;
  readonly endsByItself: boolean;
  readonly ended: Promise<void>;
  #settle: { readonly resolve: () => void; readonly reject: (error: unknown) => void } | null = null;

  constructor(startedAt: number, endsByItself: boolean) {
    this.startedAt = startedAt;
    this.endsByItself = endsByItself;
    this.ended = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
  }

  isOpen(): boolean {
    return this.#settle !== null;
  }

  succeed(): void {
    this.#settle?.resolve();
    this.#settle = null;
  }

  fail(error: unknown = new Error("the task failed")): void {
    this.#settle?.reject(error);
    this.#settle = null;
  }
}

function begin(run: Run, outcome: Outcome, time: VirtualTime): Promise<void> {
  if (outcome === "hang") return run.ended;
  if (outcome === "succeed") run.succeed();
  else if (typeof outcome === "object") {
    time.after(outcome.takesMs, () => (outcome.ending === "succeed" ? run.succeed() : run.fail()));
  } else run.fail();
  return run.ended;
}

/**
 * A task that does what the test says. Without instructions a run hangs until the test ends it.
 *
 * @example
 * ```ts
 * import { createScheduler, memoryStore } from "kron/scheduler";
 * import { controlledTask, virtualTime } from "kron/testing";
 *
 * const time = virtualTime({ startAt: "2026-01-01T11:59:30Z" });
 * const scheduler = createScheduler({ clock: time.clock, sleeper: time.sleeper, store: memoryStore() });
 * const backup = controlledTask(time);
 * backup.will("fail", "succeed");
 * await scheduler.initialize([["backup", "0 12 * * *", backup.callback, "PT5M"]]);
 * await time.advanceTo("2026-01-01T12:04:59Z");
 * console.log(backup.runs.length); // 1: it failed at 12:00:00
 * await time.advanceTo("2026-01-01T12:05:00Z");
 * console.log(backup.runs.length); // 2: tried again five minutes later
 * ```
 */
export function controlledTask(time: VirtualTime): ControlledTask {
  const runs: Run[] = [];
  const script: Outcome[] = [];
  let fallback: Outcome = "hang";
  const newestOpen = (): Run | undefined => runs.findLast((run) => run.isOpen());
  return {
    runs,
    callback: () => {
      const outcome = script.shift() ?? fallback;
      const run = new Run(time.stamp().at, outcome !== "hang");
      runs.push(run);
      const ended = begin(run, outcome, time);
      if (outcome !== "throw") return ended;
      // The rejection is thrown instead of returned, so nobody else will look at it.
      ended.catch(() => undefined);
      throw new Error("the task failed before it returned a promise");
    },
    will: (...outcomes) => void script.push(...outcomes),
    otherwise: (outcome) => {
      fallback = outcome;
    },
    succeed: () => {
      const run = newestOpen();
      run?.succeed();
      return run !== undefined;
    },
    fail: (error) => {
      const run = newestOpen();
      run?.fail(error);
      return run !== undefined;
    },
  };
}
