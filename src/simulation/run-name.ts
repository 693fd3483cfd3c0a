/** Which run a runner was asked for, whatever it is a run of. */
import type { ArmRequest } from "../actors/runner/port.js";
import type { EpochMs } from "../core/time/instant.js";
import { instantOf } from "./records.js";

interface RunName {
  readonly identity: string;
  readonly periodId: string;
  readonly chosenAt: EpochMs;
}

export function nameOfRun(request: ArmRequest): RunName {
  if (request.kind === "request") {
    const { identity, periodId, scheduledFor } = request;
    return { identity, periodId, chosenAt: instantOf(scheduledFor) };
  }
  const { KRON_IDENTITY: identity = "", KRON_PERIOD_ID: periodId = "", KRON_CHOSEN_TIME: chosen } = request.env;
  return { identity, periodId, chosenAt: instantOf(chosen) };
}
