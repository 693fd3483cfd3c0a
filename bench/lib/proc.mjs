/** What the kernel says about another process. Read from outside, so that reading costs the measured process nothing. */
import { existsSync, readFileSync } from "node:fs";

/** USER_HZ, the unit of the times in /proc/PID/stat: 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

export function hasProc() {
  return existsSync("/proc/self/status");
}

/** Resident bytes: all, those of its own (heap, stacks), and those of mapped files, which the kernel can take back. */
export function memoryOf(pid) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const bytes = (field) => Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status)?.[1] ?? 0) * 1024;
  return { rss: bytes("VmRSS"), anonymous: bytes("RssAnon"), file: bytes("RssFile") };
}

/** Processor time used so far by all its threads, in milliseconds. */
export function cpuMsOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name in parentheses may hold blanks; what follows it does not. utime and stime are fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
}
