/**
 * One look at all processes of the machine, in slices, so that nobody waits long for it; and shared, so that ending a
 * hundred trees at once does not look a hundred times.
 */

import * as fs from "node:fs";
import { type ProcessStat, readStat } from "./process-identity.js";
import { turnOfLoop } from "./turns.js";

export interface SeenProcess extends ProcessStat {
  /** Which run it says it belongs to; null when it says nothing, or we may not look. */
  readonly attemptId: string | null;
}

/** Threads of the kernel have this parent and no environment. */
const KTHREADD_PID = 2;
/** Processes looked at between two turns of the event loop. */
const SCAN_SLICE = 200;
const ATTEMPT_NAME = "KRON_ATTEMPT_ID=";

export class ProcessScanner {
  #running: Promise<unknown> = Promise.resolve();
  #queued: Promise<readonly SeenProcess[]> | null = null;

  /** A scan that begins after this call. Everybody who asks before it begins shares it. */
  scan(): Promise<readonly SeenProcess[]> {
    if (this.#queued === null) {
      this.#queued = this.#running.then(() => {
        this.#queued = null;
        return scanOnce();
      });
      this.#running = this.#queued.catch(() => undefined);
    }
    return this.#queued;
  }
}

async function scanOnce(): Promise<readonly SeenProcess[]> {
  const found: SeenProcess[] = [];
  let looked = 0;
  for (const name of fs.readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid <= KTHREADD_PID || pid === process.pid) continue;
    if (++looked % SCAN_SLICE === 0) await turnOfLoop();
    const stat = readStat(pid);
    if (typeof stat !== "object" || stat.parentPid === KTHREADD_PID) continue;
    found.push({ ...stat, attemptId: attemptOf(pid) });
  }
  return found;
}

function attemptOf(pid: number): string | null {
  try {
    const environment = `\0${fs.readFileSync(`/proc/${pid}/environ`, "utf8")}`;
    const start = environment.indexOf(`\0${ATTEMPT_NAME}`);
    const end = environment.indexOf("\0", start + 1);
    return start < 0 || end < 0 ? null : environment.slice(start + 1 + ATTEMPT_NAME.length, end);
  } catch {
    return null;
  }
}
