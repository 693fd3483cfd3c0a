/** One attempt as the launcher process sees it, and what its state means in the words of the protocol. */

import type { ArmFailure } from "../../runner/port.js";
import type { ExitCause, GatedRun, OutputPlan } from "../port.js";
import type { LauncherFrame } from "../protocol.js";
import { failure } from "../request-check.js";
import type { GateWord } from "./gate.js";
import type { GatedProcess, ProcessEnd } from "./gated-process.js";
import { firstWords, outputPath } from "./output.js";
import type { OutputCap } from "./output-cap.js";
import type { Identity } from "./privileges.js";

/**
 * opening → armed → released → running; `closing` when it is to end without ever running. An adopted run is `running` from
 * the start and has no process of ours.
 */
type Phase = "opening" | "armed" | "released" | "running" | "closing";

export interface Attempt {
  readonly id: string;
  readonly plan: OutputPlan;
  readonly file: string | null;
  readonly identity: Identity | null;
  process: GatedProcess | null;
  pid: number;
  startTicks: number;
  phase: Phase;
  wasLate: boolean;
  /** Why a gate that never became ready is being closed. */
  refusal: ArmFailure | null;
  overdue: NodeJS.Timeout | null;
  cap: OutputCap | null;
  cgroup: string | null;
  cause: ExitCause;
}

export function newAttempt(id: string, plan: OutputPlan, file: string | null, identity: Identity | null): Attempt {
  return {
    id,
    plan,
    file: file ?? outputPath(plan),
    identity,
    process: null,
    pid: 0,
    startTicks: 0,
    phase: "opening",
    wasLate: false,
    refusal: null,
    overdue: null,
    cap: null,
    cgroup: null,
    cause: null,
  };
}

export function runOf(attempt: Attempt): GatedRun {
  return { attemptId: attempt.id, pid: attempt.pid, startTicks: attempt.startTicks };
}

/** How a gate that never became a command is reported: one answer to whatever was asked last. */
export function unstartedEnd(attempt: Attempt, end: ProcessEnd): LauncherFrame {
  switch (attempt.phase) {
    case "opening":
      return { t: "refused", id: attempt.id, ...(attempt.refusal ?? gateDeath(attempt, end)) };
    case "armed":
      return { t: "gate-lost", id: attempt.id };
    case "closing":
      return { t: "aborted", id: attempt.id };
    case "released":
    case "running":
      return { t: attempt.wasLate ? "late" : "gone", id: attempt.id };
  }
}

export function gateRefusal(word: GateWord): ArmFailure {
  switch (word) {
    case "FAIL cwd":
      return failure("cwd-unusable", "the working directory cannot be entered by the job's user");
    case "FAIL missing":
      return failure("command-not-found", "the command was not found");
    case "FAIL denied":
      return failure("command-not-executable", "the command may not be executed by the job's user");
    default:
      return failure("gate-failed", `the process could not be prepared: ${word}`);
  }
}

function gateDeath(attempt: Attempt, end: ProcessEnd): ArmFailure {
  const how = end.signal ?? `exit status ${end.code}`;
  const words = firstWords(attempt.file);
  const code = attempt.identity?.prefix.length === 0 ? "gate-failed" : "privilege-drop-failed";
  return failure(code, `the process ended before it was ready: ${how}${words === "" ? "" : `: ${words}`}`);
}
