/** One attempt as the daemon's side of the launcher sees it. */
import type { Result } from "../../../core/base/result.js";
import { EXIT_UNSEEN } from "../../../core/state/ending.js";
import type { Armed, ArmFailure, Ended, GoOutcome } from "../../runner/port.js";
import type { GatedRun, RunOutput } from "../port.js";
import type { LauncherFrame } from "../protocol.js";
import type { Station } from "./stations.js";

export type ArmAnswer = Result<Armed, ArmFailure>;

export interface Held {
  readonly id: string;
  readonly station: Station;
  /** Where its output goes: what a new launcher needs to keep the cap. */
  readonly output: RunOutput | null;
  run: GatedRun;
  phase: "arming" | "armed" | "going" | "aborting" | "running";
  answerArm: (answer: ArmAnswer) => void;
  answerGo: (outcome: GoOutcome) => void;
  answerAbort: () => void;
}

export function newHeld(run: GatedRun, output: RunOutput | null, station: Station): Held {
  const nobodyAsked = () => undefined;
  return {
    id: run.attemptId,
    station,
    output,
    run,
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

export function endOf({ attemptId, pid }: GatedRun, frame: Extract<LauncherFrame, { t: "exited" }>): Ended {
  const { code, signal, cause: reason, wasObserved } = frame;
  const ending = wasObserved ? ({ kind: "exited", code, signal, reason } as const) : EXIT_UNSEEN;
  return { kind: "ended", attemptId, pid, ending };
}

/** As it will be claimed (S27). */
export function armedOf({ attemptId, pid, startTicks }: GatedRun, bootId: string): Armed {
  return { attemptId, holder: { kind: "process", pid, startTicks, bootId } };
}
