/** What jobs print, as lines of the daemon's log (`output: { to: log }`). */
import { systemClock } from "../../actors/clock.js";
import type { OutputListener } from "../../actors/runner/told-runner.js";
import type { DaemonLog } from "./log.js";

export function outputLines(log: DaemonLog): OutputListener {
  const about = { component: "executor" } as const;
  return {
    line: ({ identity, periodId, attemptId }, line) => {
      const fields = { identity, period_id: periodId, attempt_id: attemptId, line };
      log.daemon({ at: systemClock.now(), event: "output", level: "info", ...about, fields });
    },
    leftOut: ({ identity, periodId, attemptId }, lines, bytes) => {
      const fields = { identity, period_id: periodId, attempt_id: attemptId, lines, bytes };
      log.daemon({ at: systemClock.now(), event: "output_left_out", level: "warn", ...about, fields });
    },
  };
}
