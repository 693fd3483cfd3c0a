/** A start that is refused, in the log: whoever reads only that must learn why there is no daemon (error model). */
import { systemClock } from "../../actors/clock.js";
import { errorKind } from "../../core/base/errors/registry.js";
import type { ConfigFinding } from "../../persist/config-files.js";
import { type DaemonLog, fatalEvent } from "../log/log.js";
import type { BootRefusal } from "./boot.js";
import { logFindings } from "./finding-lines.js";

const START = { component: "scheduler", operation: "start" } as const;

/** Every problem of a configuration by itself, and at the end one line that the daemon does not start. */
export function logRefusal(log: DaemonLog, { findings, error }: BootRefusal): void {
  if (error !== null) {
    logCrash(log, error, error.hint);
    return;
  }
  logFindings(log, findings, START.operation);
  log.daemon({ at: systemClock.now(), event: "fatal", component: "config", level: "error", fields: summary(findings) });
}

/** A start that ended in a way that nobody thought of. */
export function logCrash(log: DaemonLog, error: unknown, hint?: string): void {
  const event = fatalEvent(error, START, systemClock.now());
  log.daemon({ ...event, fields: { ...event.fields, ...(hint === undefined ? {} : { hint }) } });
}

function summary(findings: readonly ConfigFinding[]): Readonly<Record<string, unknown>> {
  const code = findings[0]?.located.problem.code ?? "config-unreadable";
  const count = `${findings.length} ${findings.length === 1 ? "problem" : "problems"}`;
  const kind = { error_type: errorKind(code).category, operation: START.operation };
  const message = `${count} in the configuration: nothing was started`;
  const hint = "'kron lint' shows the lines";
  return { identity: null, period_id: null, ...kind, message, error_code: code, fatal: true, hint };
}
