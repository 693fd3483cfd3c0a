import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { constants } from "node:os";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, inject } from "vitest";
import { readStat } from "../../src/actors/process-identity.js";
import type { Programs } from "./built-programs.js";

/** The programs, as they are built once for all tests of a run. */
export function builtPrograms(): () => Programs {
  const programs = inject("programs");
  return () => programs;
}

const HANDLER_POLL_MS = 5;

export type LogLine = Readonly<Record<string, unknown>>;

/** A daemon in a process of its own. */
export class RunningKrond {
  readonly lines: LogLine[] = [];
  readonly ended: Promise<number | string>;
  stderr = "";
  readonly #waiters = new Set<() => void>();
  #hasEnded = false;

  constructor(readonly child: ChildProcess) {
    this.ended = once(child, "close").then(([code, signal]) => (code ?? signal) as number | string);
    void this.ended.then(() => {
      this.#hasEnded = true;
      this.#wake();
    });
    child.stderr?.setEncoding("utf8").on("data", (piece: string) => {
      this.stderr += piece;
    });
    if (child.stdout === null) throw new Error("no standard output");
    createInterface({ input: child.stdout }).on("line", (line) => {
      this.lines.push(JSON.parse(line) as LogLine);
      this.#wake();
    });
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** The first line, from `from` on, that is what is looked for. Fails when the daemon ends before. */
  async line(is: (line: LogLine) => boolean, from = 0): Promise<LogLine> {
    for (;;) {
      const found = this.lines.slice(from).find(is);
      if (found !== undefined) return found;
      if (this.#hasEnded) throw new Error(`krond has ended: ${this.stderr}\n${JSON.stringify(this.lines.slice(-20))}`);
      await new Promise<void>((resolve) => this.#waiters.add(resolve));
    }
  }

  event(name: string, fields: LogLine = {}, from = 0): Promise<LogLine> {
    const wanted = Object.entries(fields);
    return this.line((line) => line["event"] === name && wanted.every(([key, value]) => line[key] === value), from);
  }

  ready(): Promise<LogLine> {
    return this.event("ready");
  }

  /** Resolves once a signal meets a handler of the daemon's own; before that it would end the process. */
  async handling(signal: "SIGHUP" | "SIGUSR1" | "SIGUSR2"): Promise<void> {
    const bit = 1n << BigInt(constants.signals[signal] - 1);
    while ((caughtBy(this.pid) & bit) === 0n) {
      if (this.#hasEnded) throw new Error(`krond has ended: ${this.stderr}`);
      await sleep(HANDLER_POLL_MS);
    }
  }

  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<number | string> {
    this.child.kill(signal);
    return this.ended;
  }

  #wake(): void {
    for (const waiter of [...this.#waiters]) {
      this.#waiters.delete(waiter);
      waiter();
    }
  }
}

/** The set of signals that a process has handlers for, as the kernel knows it; empty when it is gone. */
function caughtBy(pid: number): bigint {
  try {
    const [, mask = "0"] = /^SigCgt:\s*([0-9a-f]+)$/m.exec(fs.readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return BigInt(`0x${mask}`);
  } catch {
    return 0n;
  }
}

export interface CommandResult {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

export function runProgram(file: string, args: readonly string[]): CommandResult {
  const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...args], {
    encoding: "utf8",
    timeout: 30_000,
  });
  return { status, out: stdout, err: stderr };
}

/** `config`: null for a node of several, which reads none. */
export type StartKrond = (
  config: string | null,
  state: string,
  more?: readonly string[],
  env?: Readonly<Record<string, string>>,
) => RunningKrond;

/** Starts daemons and leaves nothing of them behind: neither themselves, nor their launchers, nor their jobs. */
export function krondProcesses(programs: () => Programs): StartKrond {
  const running: RunningKrond[] = [];
  const states = new Set<string>();
  afterEach(async () => {
    await Promise.all(running.splice(0).map((it) => it.kill()));
    for (const state of states) killJobsOf(state);
    states.clear();
  });
  return (config, state, more = [], added = {}) => {
    states.add(state);
    const named = config === null ? [] : ["--config", config];
    const args = ["start", ...named, "--state", state, "--log-format", "json", ...more];
    const env = { ...process.env, KRON_CONFIG: "", KRON_STATE: "", ...added };
    const child = spawn(process.execPath, [programs().krond, ...args], { stdio: ["ignore", "pipe", "pipe"], env });
    const it = new RunningKrond(child);
    running.push(it);
    return it;
  };
}

/** Jobs of a test have this in their environment, by way of their configuration. */
export const MARK = "STATE_UNDER_TEST";

/** Every process that was started as a job on this state directory. */
export function jobsOf(state: string): number[] {
  const mark = `${MARK}=${state}`;
  return fs
    .readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => environmentOf(name).includes(mark))
    .map(Number);
}

function environmentOf(pid: string): readonly string[] {
  try {
    return fs.readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    return [];
  }
}

export function killJobsOf(state: string): void {
  for (const pid of jobsOf(state)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It ended by itself in between.
    }
  }
}

export function childrenOf(parent: number): number[] {
  const pids = fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    const stat = readStat(pid);
    return typeof stat === "object" && stat.parentPid === parent;
  });
}
