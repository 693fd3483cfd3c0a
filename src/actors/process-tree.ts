/**
 * The whole tree of a run (S28): its process group and session, whatever descends from them, and every process whose
 * environment carries the attempt's id, which finds a grandchild that moved to a session of its own and was orphaned. A
 * cgroup, where the run has one, misses nobody; without one, a process that leaves group, parent *and* environment behind
 * escapes.
 */
import * as fs from "node:fs";
import { isRunning, readStat } from "./process-identity.js";
import type { ProcessScanner, SeenProcess } from "./process-scan.js";

export interface TreeTarget {
  readonly attemptId: string;
  readonly pid: number;
  readonly startTicks: number;
  readonly bootId: string;
  /** Directory of the run's own cgroup; null when there is none. */
  readonly cgroup: string | null;
}

interface TreeLimits {
  /** From TERM to KILL. */
  readonly graceMs: number;
  /** From KILL until everything must be gone: the bound against a tree that grows as fast as it is cut. */
  readonly killMs: number;
}

interface TreeEnd {
  readonly survivors: readonly number[];
  readonly wasKilled: boolean;
}

const POLL_FIRST_MS = 5;
const POLL_LONGEST_MS = 250;

/** TERM, wait, KILL, wait; resolves when nothing of the tree runs any more or the bounds are reached. */
export async function terminateTree(target: TreeTarget, limits: TreeLimits, scanner: ProcessScanner): Promise<TreeEnd> {
  const tree = new ProcessTree(target, scanner);
  const asked = await tree.members();
  tree.signal(asked, "SIGTERM");
  // What was stopped must run to hear the first signal.
  tree.signal(asked, "SIGCONT");
  if ((await tree.waitForEnd(asked, limits.graceMs)).length === 0) return { survivors: [], wasKilled: false };
  const survivors = await tree.kill(limits.killMs);
  return { survivors: survivors.map((member) => member.pid), wasKilled: true };
}

class ProcessTree {
  /**
   * The group's number is ours while its leader is, and stays so while anyone is in the group. Only a leader with another
   * birth shows that the number went to somebody else.
   */
  #ownsGroup: boolean;
  readonly #target: TreeTarget;
  readonly #scanner: ProcessScanner;

  constructor(target: TreeTarget, scanner: ProcessScanner) {
    this.#target = target;
    this.#scanner = scanner;
    const leader = readStat(target.pid);
    this.#ownsGroup = typeof leader === "object" && leader.startTicks === target.startTicks;
  }

  /** Everything of the tree that runs now. */
  async members(): Promise<readonly SeenProcess[]> {
    const processes = await this.#scanner.scan();
    const { pid, startTicks } = this.#target;
    if (processes.some((seen) => seen.pid === pid && seen.startTicks !== startTicks)) this.#ownsGroup = false;
    const inCgroup = this.#cgroupMembers();
    const roots = processes.filter((seen) => inCgroup.has(seen.pid) || this.#belongs(seen));
    return withDescendants(roots, processes).filter(isRunning);
  }

  signal(members: readonly SeenProcess[], signal: NodeJS.Signals): void {
    const inGroup = (member: SeenProcess) => this.#ownsGroup && member.processGroup === this.#target.pid;
    if (members.some(inGroup)) send(-this.#target.pid, signal);
    for (const member of members) {
      if (!inGroup(member) && isStillRunning(member)) send(member.pid, signal);
    }
  }

  /** Watches those that were asked, and looks at everything again when they are gone: some may have left children. */
  async waitForEnd(asked: readonly SeenProcess[], forMs: number): Promise<readonly SeenProcess[]> {
    const untilMs = performance.now() + forMs;
    let left: readonly SeenProcess[] = asked.filter(isStillRunning);
    for (let pollMs = POLL_FIRST_MS; ; pollMs = Math.min(pollMs * 2, POLL_LONGEST_MS)) {
      if (left.length === 0) left = await this.members();
      const restMs = untilMs - performance.now();
      if (left.length === 0 || restMs <= 0) return left;
      await pause(Math.min(pollMs, restMs));
      left = left.filter(isStillRunning);
    }
  }

  /** Again and again, because between a look and a signal a process can fork. */
  async kill(forMs: number): Promise<readonly SeenProcess[]> {
    const untilMs = performance.now() + forMs;
    for (let pollMs = POLL_FIRST_MS; ; pollMs = Math.min(pollMs * 2, POLL_LONGEST_MS)) {
      const left = await this.members();
      if (left.length === 0 || performance.now() >= untilMs) return left;
      this.#killCgroup();
      this.signal(left, "SIGKILL");
      await pause(pollMs);
    }
  }

  #belongs(seen: SeenProcess): boolean {
    const { pid, startTicks, attemptId } = this.#target;
    if (seen.attemptId === attemptId || (seen.pid === pid && seen.startTicks === startTicks)) return true;
    return this.#ownsGroup && (seen.processGroup === pid || seen.session === pid);
  }

  #cgroupMembers(): ReadonlySet<number> {
    if (this.#target.cgroup === null) return new Set();
    try {
      const pids = fs.readFileSync(`${this.#target.cgroup}/cgroup.procs`, "latin1").split("\n");
      return new Set(pids.filter((pid) => pid !== "").map(Number));
    } catch {
      return new Set();
    }
  }

  /** One write ends everything in it, however fast it multiplies. Kernels before 5.14 lack it: then signals must do. */
  #killCgroup(): void {
    if (this.#target.cgroup === null) return;
    try {
      fs.writeFileSync(`${this.#target.cgroup}/cgroup.kill`, "1");
    } catch {
      // The signals that follow reach whoever is left.
    }
  }
}

function withDescendants(roots: readonly SeenProcess[], processes: readonly SeenProcess[]): readonly SeenProcess[] {
  if (roots.length === 0) return roots;
  const children = new Map<number, SeenProcess[]>();
  for (const seen of processes) {
    const siblings = children.get(seen.parentPid);
    if (siblings === undefined) children.set(seen.parentPid, [seen]);
    else siblings.push(seen);
  }
  const found = new Set(roots);
  // A set hands out what is added to it while it is walked.
  for (const seen of found) {
    for (const child of children.get(seen.pid) ?? []) found.add(child);
  }
  return [...found];
}

function isStillRunning(member: SeenProcess): boolean {
  const stat = readStat(member.pid);
  return typeof stat === "object" && stat.startTicks === member.startTicks && isRunning(stat);
}

function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
