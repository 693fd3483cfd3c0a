import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { afterEach } from "vitest";

export interface TestProcess {
  readonly child: ChildProcess;
  readonly pid: number;
  /** The next line of its output; null at the end. */
  line(): Promise<string | null>;
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Resolves with the exit status or the name of the signal. */
  readonly ended: Promise<number | string>;
}

/** Starts Node processes, on request through another program, and makes sure that none outlives its test. */
export function testProcesses(): (file: string, args?: readonly string[], wrap?: readonly string[]) => TestProcess {
  const running: TestProcess[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((it) => it.kill()));
  });
  return (file, args = [], wrap = []) => {
    const [program = process.execPath, ...rest] = [...wrap, process.execPath, file, ...args];
    const child = spawn(program, rest, { stdio: ["pipe", "pipe", "inherit"] });
    const ended = once(child, "close").then(([code, signal]) => (code ?? signal) as number | string);
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const it: TestProcess = {
      child,
      pid: child.pid ?? 0,
      line: async () => {
        const next = await lines.next();
        return next.done === true ? null : next.value;
      },
      kill: async (signal = "SIGKILL") => {
        child.kill(signal);
        await ended;
      },
      ended,
    };
    running.push(it);
    return it;
  };
}
