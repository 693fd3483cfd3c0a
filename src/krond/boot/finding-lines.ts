/** What is told of the configuration in the log: every finding with its place, and what is kept in spite of it. */
import { systemClock } from "../../actors/clock.js";
import { problemFields } from "../../core/base/errors/fields.js";
import type { ConfigFinding } from "../../persist/config-files.js";
import { type DaemonLog, problemEvent } from "../log/log.js";
import type { KeptDefinition } from "./kept-definitions.js";
import { safeFinding } from "./safe-findings.js";

/** S16. */
export function logKept(log: DaemonLog, { definition: { identity }, problems }: KeptDefinition): void {
  for (const problem of problems) {
    const { message } = problemFields(problem, { component: "config", operation: "start", identity });
    const at = systemClock.now();
    log.daemon({ at, event: "definition_kept", component: "config", level: "warn", fields: { identity, message } });
  }
}

export function logFindings(log: DaemonLog, findings: readonly ConfigFinding[], operation: string): void {
  for (const finding of findings) {
    const { problem, file, line, column, identity } = safeFinding(finding).located;
    const context = { component: "config" as const, operation, ...(identity === null ? {} : { identity }) };
    log.daemon(problemEvent(problem, context, systemClock.now(), { file, line, column }));
  }
}
