/** How a run ended, as one number: a shell's way of saying it. */
import { constants } from "node:os";
import { type Ending, isSuccess } from "../../core/state/ending.js";

/** Of a run whose end nobody saw: success is never assumed (S29). */
export const UNKNOWN_END = 70;
const FAILED = 1;
const SIGNAL_BASE = 128;

/** The exit code; 128 and the number of the signal; 0 or 1 for what has no exit code, such as a request. */
export function exitCodeOf(ending: Ending): number {
  if (isSuccess(ending)) return 0;
  switch (ending.kind) {
    case "exited":
      if (ending.code !== null) return ending.code;
      return ending.signal === null ? UNKNOWN_END : SIGNAL_BASE + signalNumber(ending.signal);
    case "answered":
    case "failed":
    case "job":
      return FAILED;
    default:
      return UNKNOWN_END;
  }
}

function signalNumber(name: string): number {
  const numbers: Readonly<Record<string, number>> = constants.signals;
  return numbers[name] ?? 0;
}
