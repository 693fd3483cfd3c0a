/** What happened, as lines of the log. */
import type { Clock } from "../actors/clock.js";
import { errorFields, errorLevel } from "../core/base/errors/fields.js";
import type { ErrorComponent } from "../core/base/errors/kron-error.js";
import type { LogLevel } from "../core/base/errors/registry.js";
import type { EpochMs } from "../core/time/instant.js";
import { identityOf } from "./identity.js";
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
      const message = error instanceof Error ? error.message : String(error);
      line("warn", "watch_restarted", { resource, restart, message });
    },
    clockJump: (jumpMs) => line("warn", "clock_jump", { jump_ms: jumpMs }),
  };
}
