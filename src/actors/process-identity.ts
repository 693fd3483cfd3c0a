/**
 * Which process a number means (S27). A PID alone is reused; with the clock tick at which the process started and the
 * boot during which that was, it names one process for ever. Reads /proc, signals nothing.
 */
import * as fs from "node:fs";

export interface ProcessIdentity {
  readonly pid: number;
  /** Field 22 of /proc/PID/stat: clock ticks between boot and the start of the process. */
  readonly startTicks: number;
  readonly bootId: string;
}

export interface ProcessStat {
  readonly pid: number;
  /** One letter: R, S, D, T, Z, X ... */
  readonly state: string;
  readonly parentPid: number;
  readonly processGroup: number;
  readonly session: number;
  readonly startTicks: number;
}

/** `hidden`: it exists, and we may not look at it. */
type StatReading = ProcessStat | "gone" | "hidden";

/** `unverifiable` counts as alive but must never be signalled (S27). */
export type Liveness = "alive" | "gone" | "unverifiable";

/** What this module asks of the system; replaced in tests, because root is never refused anything. */
export interface ProcessTable {
  readText(path: string): string;
  /** `kill(pid, 0)`. */
  probe(pid: number): void;
}

export const PROCESS_TABLE: ProcessTable = {
  readText: (path) => fs.readFileSync(path, "latin1"),
  probe: (pid) => void process.kill(pid, 0),
};

export function readBootId(table: ProcessTable = PROCESS_TABLE): string {
  return table.readText("/proc/sys/kernel/random/boot_id").trim();
}

/** The command name stands in parentheses and may hold anything, so fields are counted from the last one. */
export function parseStat(text: string): ProcessStat | null {
  const nameEnd = text.lastIndexOf(") ");
  const fields = nameEnd < 0 ? [] : text.slice(nameEnd + 2).split(" ");
  const [state, parentPid, processGroup, session] = fields;
  const startTicks = fields[19];
  if (state === undefined || startTicks === undefined) return null;
  return {
    pid: Number.parseInt(text, 10),
    state,
    parentPid: Number(parentPid),
    processGroup: Number(processGroup),
    session: Number(session),
    startTicks: Number(startTicks),
  };
}

export function readStat(pid: number, table: ProcessTable = PROCESS_TABLE): StatReading {
  try {
    return parseStat(table.readText(`/proc/${pid}/stat`)) ?? "gone";
  } catch (error) {
    return isRefusal(error) ? "hidden" : probeHidden(pid, table);
  }
}

/** A mount option of /proc makes foreign processes look absent; a signal of 0 still tells them from dead ones. */
function probeHidden(pid: number, table: ProcessTable): "gone" | "hidden" {
  try {
    table.probe(pid);
    // Not in /proc, yet signallable: it ended between the two looks, or began. Neither is the one that was asked for.
    return "gone";
  } catch (error) {
    return isRefusal(error) ? "hidden" : "gone";
  }
}

/** A zombie runs no more: it only waits for its parent. */
export function isRunning(stat: ProcessStat): boolean {
  return stat.state !== "Z" && stat.state !== "X";
}

/** The identity of a process that exists now; null when it does not, or may not be looked at. */
export function identityOf(pid: number, bootId: string = readBootId()): ProcessIdentity | null {
  const stat = readStat(pid);
  return stat === "gone" || stat === "hidden" ? null : { pid, startTicks: stat.startTicks, bootId };
}

export function livenessOf(
  identity: ProcessIdentity,
  bootId: string = readBootId(),
  table: ProcessTable = PROCESS_TABLE,
): Liveness {
  if (identity.bootId !== bootId) return "gone";
  const stat = readStat(identity.pid, table);
  if (stat === "hidden") return "unverifiable";
  if (stat === "gone" || !isRunning(stat)) return "gone";
  return stat.startTicks === identity.startTicks ? "alive" : "gone";
}

/** S27: only on a full match may a process be adopted or signalled. */
export function matches(pid: number, startTicks: number, bootId: string): boolean {
  return livenessOf({ pid, startTicks, bootId }) === "alive";
}

function isRefusal(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "EPERM" || code === "EACCES";
}
