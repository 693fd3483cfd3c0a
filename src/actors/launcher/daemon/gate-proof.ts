/**
 * Whether a gate was passed, when the launcher that could tell is gone (S23). The gate's own command line is the proof: as
 * long as it is there, the command has not begun.
 */
import { isRunning, matches, type ProcessIdentity, readStat } from "../../process-identity.js";
import { isStillGated } from "../child/gate.js";

/**
 * - `ran`: it is its command now.
 * - `never-ran`: it was still a gate, and has been ended as one.
 * - `gone`: it ended by itself, nobody knows as what.
 */
export type GateFate = "ran" | "never-ran" | "gone";

const POLL_MS = 10;
/** For a stop signal to be obeyed, and for a killed process to disappear. */
const OBEY_MS = 5_000;

/** A gate gets `forMs` to pass or to end; then it is ended, never having run. */
export async function settleGate(identity: ProcessIdentity, forMs: number): Promise<GateFate> {
  const stillGated = () => isOurs(identity) && isStillGated(identity.pid);
  await until(() => !stillGated(), forMs);
  if (!isOurs(identity)) return "gone";
  if (!isStillGated(identity.pid)) return "ran";
  return endGate(identity);
}

/** Stopped first: between a look and a KILL it could still become its command. */
async function endGate(identity: ProcessIdentity): Promise<GateFate> {
  send(identity.pid, "SIGSTOP");
  await until(() => !isOurs(identity) || stateOf(identity.pid) === "T", OBEY_MS);
  if (isOurs(identity) && !isStillGated(identity.pid)) {
    send(identity.pid, "SIGCONT");
    return "ran";
  }
  send(identity.pid, "SIGKILL");
  await until(() => !isOurs(identity), OBEY_MS);
  return "never-ran";
}

function isOurs({ pid, startTicks, bootId }: ProcessIdentity): boolean {
  return matches(pid, startTicks, bootId);
}

function stateOf(pid: number): string | null {
  const stat = readStat(pid);
  return typeof stat === "object" && isRunning(stat) ? stat.state : null;
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone in between, which the next look shows.
  }
}

async function until(isSo: () => boolean, forMs: number): Promise<void> {
  const untilMs = performance.now() + forMs;
  while (!isSo() && performance.now() < untilMs) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
