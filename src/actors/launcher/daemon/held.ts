/** One attempt as the daemon's side of the launcher sees it. */
import type { Result } from "../../../core/base/result.js";
import type { AdoptRequest, Armed, ArmFailure, Exited, GoOutcome } from "../port.js";
import type { LauncherFrame } from "../protocol.js";
import type { Station } from "./stations.js";

export type ArmAnswer = Result<Armed, ArmFailure>;

export interface Held {
  readonly id: string;
  readonly station: Station;
  /** Where its output goes: what a new launcher needs to keep the cap. */
  readonly output: AdoptRequest["output"];
  armed: Armed;
  phase: "arming" | "armed" | "going" | "aborting" | "running";
  answerArm: (answer: ArmAnswer) => void;
  answerGo: (outcome: GoOutcome) => void;
  answerAbort: () => void;
}

export function newHeld(armed: Armed, output: AdoptRequest["output"], station: Station): Held {
  const nobodyAsked = () => undefined;
  return {
    id: armed.attemptId,
    station,
    output,
    armed,
    phase: "arming",
    answerArm: nobodyAsked,
    answerGo: nobodyAsked,
    answerAbort: nobodyAsked,
  };
}

/** Whether the launcher owes an answer about it. */
export function isAskedAbout(held: Held): boolean {
  return held.phase !== "armed" && held.phase !== "running";
}

export function exitOf(armed: Armed, frame: Extract<LauncherFrame, { t: "exited" }>): Exited {
  return {
    kind: "exited",
    attemptId: armed.attemptId,
    pid: armed.pid,
    exitCode: frame.code,
    signal: frame.signal,
    endedAt: frame.at,
    wasObserved: frame.wasObserved,
    cause: frame.cause,
  };
}
