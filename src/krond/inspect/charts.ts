/** The charts as JSON texts, from which an inspector draws them. Guards and actions are names there, never code. */
import { executionMachine } from "../../machines/execution.machine.js";
import { chartText } from "../../machines/inspection-frames.js";
import { jobMachine } from "../../machines/job.machine.js";
import { periodMachine } from "../../machines/period.machine.js";
import { supervisorMachine } from "../../machines/supervisor.machine.js";
import type { ActorKind } from "./frames.js";

export const CHARTS: Readonly<Record<ActorKind | "inspector", string>> = {
  supervisor: chartText(supervisorMachine),
  job: chartText(jobMachine),
  period: chartText(periodMachine),
  execution: chartText(executionMachine),
  // Neither has a chart: a name is what the protocol gives then.
  launcher: JSON.stringify({ id: "launcher" }),
  inspector: JSON.stringify({ id: "inspector" }),
};
