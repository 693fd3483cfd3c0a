/** What happened, as lines of the log. */
import type { Clock } from "../actors/clock.js";
import { errorFields, errorLevel } from "../core/base/errors/fields.js";
import type { ErrorComponent } from "../core/base/errors/kron-error.js";
import type { LogLevel } from "../core/base/errors/registry.js";
import { type EpochMs, MINUTE_MS } from "../core/time/instant.js";
import { identityOf } from "./identity.js";
import { ApiFailure } from "./kube/failure.js";
import type { Reporter, Subject } from "./reporter.js";
import { lineOf } from "./tell.js";

/** The form in which the programs of Kron write about themselves. */
export interface OperatorLine {
  readonly at: EpochMs;
  readonly event: string;
  readonly component: ErrorComponent;
  readonly level: LogLevel;
  readonly fields?: Readonly<Record<string, unknown>>;
}

export interface OperatorLog {
  daemon(line: OperatorLine): void;
}

const SAME_TROUBLE_MS = 10 * MINUTE_MS;

/** What comes back every few seconds is worth a line when it changes, and now and then. */
function onceInAWhile(clock: Clock): (subject: string, text: string) => boolean {
  const told = new Map<string, { readonly text: string; readonly atMs: number }>();
  return (subject, text) => {
    const last = told.get(subject);
    const nowMs = clock.monotonicMs();
    if (last?.text === text && nowMs - last.atMs < SAME_TROUBLE_MS) return false;
    told.set(subject, { text, atMs: nowMs });
    return true;
  };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Each Event has a name of its own, and the API server repeats it: without it the same trouble is the same. */
function eventTroubleOf(error: unknown): string {
  if (!(error instanceof ApiFailure)) return `events ${textOf(error)}`;
  return `events ${error.operation} ${error.answer.status} ${error.namespace}`;
}

export function logReporter(log: OperatorLog, clock: Clock): Reporter {
  const trouble = (
    subject: Subject | null,
    error: unknown,
    operation: string,
    more: Readonly<Record<string, unknown>>,
  ): void => {
    const identity = subject === null ? undefined : `${subject.namespace}/${subject.name}/${subject.uid}`;
    const { component, ...fields } = errorFields(error, { component: "executor", operation, identity });
    log.daemon({
      at: clock.now(),
      event: "error",
      component,
      level: errorLevel(error),
      fields: { ...fields, ...more },
    });
  };
  const line = (level: LogLevel, event: string, fields: Readonly<Record<string, unknown>>): void =>
    log.daemon({ at: clock.now(), event, component: "scheduler", level, fields });
  const isNew = onceInAWhile(clock);
  return {
    news: (kronJob, news) => {
      const { level, event, fields } = lineOf(news);
      const identity = identityOf(kronJob);
      log.daemon({ at: clock.now(), event, component: "executor", level, fields: { identity, ...fields } });
    },
    trouble: (subject, error, operation) => trouble(subject, error, operation, {}),
    conflict: ({ namespace, name }) => line("debug", "conflict", { kronjob: `${namespace}/${name}` }),
    looked: () => undefined,
    watchTrouble: (resource, error, restart) => {
      line("warn", "watch_restarted", { resource, restart, message: textOf(error) });
    },
    leaseTrouble: (error) => {
      if (isNew("lease", textOf(error)))
        trouble(null, error, "lease", { hint: "without a Lease every due period is acted upon --standby-delay late" });
    },
    eventTrouble: (error) => {
      if (isNew(eventTroubleOf(error), "")) trouble(null, error, "events", {});
    },
    clockSkew: (skewMs) => {
      if (isNew("skew", "")) line("warn", "clock_skew", { skew_ms: skewMs });
    },
    clockJump: (jumpMs) => line("warn", "clock_jump", { jump_ms: jumpMs }),
  };
}
