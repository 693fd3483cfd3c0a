/**
 * The vocabulary of a trace: what a scheduler was asked, what it did, and what its surroundings did to it, in one total
 * order. A trace is plain data: it can be written by hand, kept as JSON, and judged without the scheduler.
 */

/** One task of a list, as far as the meaning of a trace needs it. */
export interface TraceTask {
  readonly name: string;
  readonly cron: string;
  readonly retryDelayMs: number;
}

/** When something happened: on the wall clock, and on the clock that only counts while the process may run. */
export interface Stamp {
  /** Epoch milliseconds of the wall clock. */
  readonly at: number;
  /** Milliseconds during which the process could run since the trace began: no pauses, no clock jumps. */
  readonly ranMs: number;
}

export type TraceAction = Stamp &
  (
    | { readonly kind: "IS"; readonly call: number; readonly tasks: readonly TraceTask[]; readonly malformed?: string }
    | { readonly kind: "IEs"; readonly call: number }
    | { readonly kind: "IEf"; readonly call: number; readonly reason: string }
    | { readonly kind: "SS"; readonly call: number }
    | { readonly kind: "SE"; readonly call: number }
    /** `call` is the `initialize` call whose list holds the callback that was invoked. */
    | { readonly kind: "RS"; readonly task: string; readonly call: number }
    | { readonly kind: "REs"; readonly task: string }
    | { readonly kind: "REf"; readonly task: string; readonly reason: string }
    | { readonly kind: "Crash" }
    /** The store no longer says that the task runs: its end is durable. */
    | { readonly kind: "Saved"; readonly task: string }
    /** A dead instance changed the store. */
    | { readonly kind: "LateWrite" }
    /** Surroundings: the wall clock was set, and read `from` before. */
    | { readonly kind: "Clock"; readonly from: number }
    | { readonly kind: "Zone"; readonly timeZone: string }
    /** The process was frozen, and the wall clock read `from` before. */
    | { readonly kind: "Pause"; readonly from: number }
    | { readonly kind: "StoreFailed" }
    /** A transaction that began at `began` took time; it ended, or was cut off, here. */
    | { readonly kind: "StoreSlow"; readonly began: Stamp }
    /** Derived, never judged: a matching civil minute began; a retry became due. */
    | { readonly kind: "Due"; readonly task: string }
    | { readonly kind: "RetryDue"; readonly task: string }
  );

export type TraceActionKind = TraceAction["kind"];

export interface Trace {
  /** The zone in force when the trace begins. */
  readonly timeZone: string;
  readonly start: Stamp;
  readonly actions: readonly TraceAction[];
  /** Until when the trace was watched: silence up to here is evidence too. */
  readonly end: Stamp;
}

const SHOWN: ReadonlySet<TraceActionKind> = new Set<TraceActionKind>([
  "IS",
  "IEs",
  "IEf",
  "SS",
  "SE",
  "RS",
  "REs",
  "REf",
  "Crash",
  "Due",
  "RetryDue",
]);

function label(action: TraceAction, isNamed: boolean): string {
  return isNamed && "task" in action ? `${action.kind}(${action.task})` : action.kind;
}

/**
 * The actions of a trace as one line, in the notation of the specification. Task names are shown when there are several
 * tasks; surroundings other than `Due` and `RetryDue` are left out.
 *
 * @example
 * ```ts
 * import { formatTrace } from "kron/testing";
 *
 * const stamp = { at: 0, ranMs: 0 };
 * const actions = [{ kind: "IS", call: 1, tasks: [], ...stamp } as const, { kind: "IEs", call: 1, ...stamp } as const];
 * console.log(formatTrace({ timeZone: "UTC", start: stamp, end: stamp, actions })); // IS IEs
 * ```
 */
export function formatTrace(trace: Trace): string {
  const shown = trace.actions.filter((action) => SHOWN.has(action.kind));
  const names = new Set(shown.flatMap((action) => ("task" in action ? [action.task] : [])));
  return shown.map((action) => label(action, names.size > 1)).join(" ");
}

/** One action with its time and its fields: what a person reads when a check fails. */
export function describeAction(action: TraceAction): string {
  const { kind, at, ranMs, ...rest } = action;
  const details = Object.entries(rest)
    .map(([key, value]) => `${key}=${key === "from" ? new Date(Number(value)).toISOString() : JSON.stringify(value)}`)
    .join(" ");
  return `${new Date(at).toISOString()} +${ranMs} ${kind}${details === "" ? "" : ` ${details}`}`;
}
