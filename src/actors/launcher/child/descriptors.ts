/**
 * Descriptors that nobody gave us on purpose (S34): those of the caller's caller, and the data file of the store, which
 * its library opens inheritable. What we open ourselves closes on exec and is left alone.
 */
import * as fs from "node:fs";

const CLOSE_ON_EXEC = 0o2000000;

/** Closes every inheritable descriptor above `lastGiven`. Returns what was closed. */
export function closeInheritable(lastGiven: number): readonly number[] {
  const closed: number[] = [];
  for (const name of fs.readdirSync("/proc/self/fd")) {
    const fd = Number(name);
    if (fd > lastGiven && isInheritable(fd) && close(fd)) closed.push(fd);
  }
  return closed;
}

/** False also for one that is gone already, such as the one that listed the directory. */
function isInheritable(fd: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(fs.readFileSync(`/proc/self/fdinfo/${fd}`, "latin1"))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    return false;
  }
}

function close(fd: number): boolean {
  try {
    fs.closeSync(fd);
    return true;
  } catch {
    return false;
  }
}

/** The hard limit of open files, from which both our own capacity and what a job can be given follow. */
export function hardOpenFiles(): number {
  const line = /^Max open files\s+\S+\s+(\S+)/m.exec(fs.readFileSync("/proc/self/limits", "latin1"))?.[1];
  const limit = Number(line);
  return Number.isFinite(limit) ? limit : Number.MAX_SAFE_INTEGER;
}
