/**
 * The runner port: how runs are prepared, released and ended. The launcher is the runner of processes, the dispatcher that of
 * requests; the router picks one by what is asked for, and the simulated host plays both.
 */
import type { RequestArm } from "../dispatcher/port.js";
import type { ProcessArm } from "../launcher/port.js";
import type { RunnerOf } from "./runner-of.js";

export type {
  AdoptOutcome,
  AdoptRequest,
  Armed,
  ArmFailure,
  Capacity,
  Ended,
  GoOutcome,
  RunnerEvent,
  RunnerOf,
  Termination,
} from "./runner-of.js";

export type ArmRequest = ProcessArm | RequestArm;

export type Runner = RunnerOf<ArmRequest>;
