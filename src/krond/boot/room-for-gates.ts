/**
 * How many processes may wait for their second where nobody has said it: what waits is memory and places in the table of
 * processes, and both are there for the commands in the first place. Asked once, when the daemon starts.
 */
import * as path from "node:path";
import { USUAL_PROCESSES } from "../../actors/supervisor/run/gates.js";
import { ownCgroup, textOf } from "./cgroup-root.js";

/** What is free on this host, as far as we may have it. */
interface HostRoom {
  readonly freeBytes: number;
  /** Places in the table of processes. */
  readonly freeTasks: number;
}

/** With some to spare: 165 to 260 kB were measured. */
const GATE_BYTES = 256 * 1024;
/** Of what is free they take no more than one part in so many. */
const MEMORY_SHARE = 8;
const TASK_SHARE = 4;
/** Beyond that they take more than twenty seconds to make ready, and somebody should have wanted it. */
const MOST = 5_000;

export function roomForGates({ freeBytes, freeTasks }: HostRoom): number {
  const byMemory = Math.floor(freeBytes / MEMORY_SHARE / GATE_BYTES);
  const byTasks = Math.floor(freeTasks / TASK_SHARE);
  return Math.max(USUAL_PROCESSES, Math.min(MOST, byMemory, byTasks));
}

export function hostRoom(): HostRoom {
  const group = ownCgroup();
  const bounds = group === null ? [] : taskRooms(group.mount, group.name);
  return { freeBytes: process.availableMemory(), freeTasks: Math.min(processLimit(), ...bounds) };
}

/** Of the group and of all above it. */
export function taskRooms(mount: string, name: string): readonly number[] {
  const rooms: number[] = [];
  for (let at = name; ; at = path.dirname(at)) {
    const most = numberIn(path.join(mount, at, "pids.max"));
    const taken = numberIn(path.join(mount, at, "pids.current")) ?? 0;
    if (most !== null) rooms.push(Math.max(0, most - taken));
    if (at === path.dirname(at)) return rooms;
  }
}

const PROCESS_LIMIT = /^Max processes +(\d+) /m;

function processLimit(): number {
  const limit = PROCESS_LIMIT.exec(textOf("/proc/self/limits"))?.[1];
  return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit);
}

/** null: there is no bound, or nobody says. */
function numberIn(file: string): number | null {
  const text = textOf(file).trim();
  return /^\d+$/.test(text) ? Number(text) : null;
}
