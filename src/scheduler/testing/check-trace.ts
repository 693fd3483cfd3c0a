/**
 * The proof: walks a trace and judges every action, and every silence, by the properties of the specification. An
 * independent oracle: it knows expressions, lists and latches only from the specification, and shares no code with the
 * scheduler.
 */
import { Lifecycle } from "./check/lifecycle.js";
import { DEFAULT_LIMITS, Liveness, type LivenessLimits } from "./check/liveness.js";
import { TaskBook } from "./check/task-book.js";
import { TimeWalk, type TraceMoment } from "./check/time-walk.js";
import type { Report, Violation } from "./check/violation.js";
import type { Stamp, Trace, TraceAction } from "./trace.js";

/** What follows from the expressions and the clock is worked out here, never believed. */
function isDerived(action: TraceAction): boolean {
  return action.kind === "Due" || action.kind === "RetryDue";
}

class Judge {
  readonly violations: Violation[] = [];
  /** The trace with `Due` and `RetryDue` where they belong. */
  readonly annotated: TraceAction[] = [];
  readonly #trace: Trace;
  readonly #time: TimeWalk;
  readonly #lifecycle: Lifecycle;
  readonly #book: TaskBook;
  readonly #liveness: Liveness;
  #index = 0;
  /** The last unbroken line of slow transactions. */
  #slow: { readonly began: Stamp; readonly ended: Stamp } | null = null;

  constructor(trace: Trace, limits: LivenessLimits) {
    const report: Report = (property, message, task) => {
      const where = { action: this.#index, at: this.#time.now.at };
      this.violations.push({ property, message, ...where, ...(task === undefined ? {} : { task }) });
    };
    this.#trace = trace;
    this.#time = new TimeWalk(trace, report);
    this.#lifecycle = new Lifecycle(report);
    this.#book = new TaskBook(this.#time, report);
    this.#liveness = new Liveness(trace, limits, this.#lifecycle, this.#book, report);
  }

  run(): this {
    for (const action of this.#trace.actions) {
      if (!isDerived(action)) this.#judge(action);
      this.#index++;
    }
    this.#moveTo({ kind: "End", ...this.#trace.end });
    return this;
  }

  #judge(action: TraceAction): void {
    this.#moveTo(action);
    this.annotated.push(action);
    this.#apply(action);
    this.#liveness.review(this.#time.now);
  }

  #moveTo(next: TraceMoment): void {
    const came: TraceAction[] = [];
    this.#time.moveTo(next, (passage, ranMsAt) => {
      const { era } = this.#lifecycle;
      for (const { at, ...news } of this.#book.pass(passage, era)) {
        came.push({ ...news, at, ranMs: ranMsAt(at) });
      }
      this.#lifecycle.observe(passage.upTo, false);
      this.#liveness.passed(passage, ranMsAt);
    });
    this.annotated.push(...came.sort((a, b) => a.at - b.at));
    this.#lifecycle.observe(next.at, next.kind === "Zone");
    this.#liveness.check(this.#time.now);
  }

  #apply(action: TraceAction): void {
    if (action.kind === "RS") {
      this.#lifecycle.checkStart(action.task, action.call);
      this.#book.started(action, this.#decidedAt(action), this.#lifecycle.era);
    } else if (action.kind === "REs" || action.kind === "REf") {
      this.#book.ended(action, this.#lifecycle.era);
    } else if (action.kind === "Crash") {
      for (const init of this.#lifecycle.crashed()) if (init.problem === null) this.#book.listMayHaveSucceeded(init);
      this.#book.crashed();
    } else {
      this.#call(action);
      this.#surroundings(action);
    }
  }

  #call(action: TraceAction): void {
    if (action.kind === "IS") {
      this.#lifecycle.initCalled(action);
    } else if (action.kind === "IEs") {
      const init = this.#lifecycle.initSucceeded(action.call);
      if (init !== null) this.#book.listSucceeded(init, this.#lifecycle.era);
    } else if (action.kind === "IEf") {
      const init = this.#lifecycle.initFailed(action.call, action.reason);
      if (init?.problem === null && init.hasStoreFailed) this.#book.listMayHaveSucceeded(init);
    } else if (action.kind === "SS") {
      this.#lifecycle.stopCalled(action.call);
    } else if (action.kind === "SE") {
      this.#lifecycle.stopReturned(action.call, [...this.#book.running]);
      this.#book.stopped();
    }
  }

  #surroundings(action: TraceAction): void {
    if (action.kind === "Saved") this.#book.saved(action.task);
    else if (action.kind === "LateWrite") this.#wroteLate();
    else if (action.kind === "StoreFailed") this.#storeFailed();
    else if (action.kind === "StoreSlow") this.#wasSlow(action.began, action);
    else if (action.kind === "Zone") {
      this.#time.changeZone(action.timeZone);
      this.#book.zoneChanged(action.timeZone, this.#lifecycle.era);
    }
  }

  #storeFailed(): void {
    this.#lifecycle.storeFailed();
    this.#book.storeFailed();
  }

  #wroteLate(): void {
    if (this.#lifecycle.wroteLate()) this.#book.endedLate();
  }

  #wasSlow(began: Stamp, { at, ranMs }: Stamp): void {
    const isNextInLine = this.#slow !== null && began.ranMs <= this.#slow.ended.ranMs;
    this.#slow = { began: isNextInLine ? (this.#slow?.began ?? began) : began, ended: { at, ranMs } };
  }

  /**
   * A start is decided on one reading of the clock, before the transaction that makes it durable. How long before shows
   * only if that transaction, or those it had to wait for, took time.
   */
  #decidedAt(start: Stamp): number {
    const slow = this.#slow;
    return slow?.ended.ranMs === start.ranMs && slow.ended.at === start.at ? slow.began.at : start.at;
  }
}

/**
 * Every violation of P1-P26 and L1-L4 in a trace; none: the trace is a possible behaviour of a correct scheduler.
 *
 * @example
 * ```ts
 * import { checkTrace } from "kron/testing";
 *
 * const at = Date.UTC(2026, 0, 1, 11, 30);
 * const tasks = [{ name: "report", cron: "0 * * * *", retryDelayMs: 0 }];
 * const stamp = { at, ranMs: 0 };
 * const violations = checkTrace({
 *   timeZone: "UTC",
 *   start: stamp,
 *   actions: [
 *     { kind: "IS", call: 1, tasks, ...stamp },
 *     { kind: "IEs", call: 1, ...stamp },
 *     { kind: "RS", task: "report", call: 1, ...stamp },
 *   ],
 *   end: stamp,
 * });
 * console.log(violations.map((violation) => violation.property)); // [ 'P1', 'P17' ]
 * ```
 */
export function checkTrace(trace: Trace, limits: Partial<LivenessLimits> = {}): readonly Violation[] {
  return new Judge(trace, { ...DEFAULT_LIMITS, ...limits }).run().violations;
}

/** The same trace with the environment's `Due` and `RetryDue` of listed tasks where they belong. */
export function withEnvironment(trace: Trace): Trace {
  return { ...trace, actions: new Judge(trace, DEFAULT_LIMITS).run().annotated };
}
