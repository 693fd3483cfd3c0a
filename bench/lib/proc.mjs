/** What the kernel says about another process. Read from outside, so that reading costs the measured process nothing. */
import { existsSync, readdirSync, readFileSync } from "node:fs";

/** USER_HZ, the unit of the times in /proc/PID/stat: 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

export function hasProc() {
  return existsSync("/proc/self/status");
}

/** Resident bytes: all, those of its own (heap, stacks), and those of mapped files, which the kernel can take back. */
export function memoryOf(pid) {
  return parseMemory(readFileSync(`/proc/${pid}/status`, "utf8"));
}

export function parseMemory(status) {
  const bytes = (field) => Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status)?.[1] ?? 0) * 1024;
  return { rss: bytes("VmRSS"), anonymous: bytes("RssAnon"), file: bytes("RssFile") };
}

/** Processor time used so far by all its threads, in milliseconds. */
export function cpuMsOf(pid) {
  return parseStat(readFileSync(`/proc/${pid}/stat`, "utf8")).cpuMs;
}

export function parseStat(stat) {
  // The name in parentheses may hold blanks; what follows it does not. state and ppid are fields 3 and 4, utime and
  // stime fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return {
    state: fields[0],
    parent: Number(fields[1]),
    cpuMs: ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND,
  };
}

/** The process and everything that descends from it, as far as it is still there. */
export function treeOf(pid) {
  const childrenOf = new Map();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const parent = parentOf(name);
    if (parent !== null) childrenOf.set(parent, [...(childrenOf.get(parent) ?? []), Number(name)]);
  }
  const tree = [pid];
  for (const one of tree) tree.push(...(childrenOf.get(one) ?? []));
  return tree;
}

function parentOf(pid) {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, "utf8")).parent;
  } catch {
    return null;
  }
}

/** Time on a processor so far, of all threads of these processes, in milliseconds; finer than the ticks of `stat`. */
export function fineCpuMsOf(pids) {
  return pids.reduce((sum, pid) => sum + fineCpuMs(pid), 0);
}

function fineCpuMs(pid) {
  const folder = `/proc/${pid}/task`;
  try {
    const threads = readdirSync(folder).map((thread) => readFileSync(`${folder}/${thread}/schedstat`, "utf8"));
    return threads.reduce((sum, text) => sum + Number(text.split(" ")[0]) / 1e6, 0);
  } catch {
    return ticksOf(pid);
  }
}

/** A kernel without `schedstat` counts in ticks; a process that is gone by now counts for nothing. */
function ticksOf(pid) {
  try {
    return cpuMsOf(pid);
  } catch {
    return 0;
  }
}
