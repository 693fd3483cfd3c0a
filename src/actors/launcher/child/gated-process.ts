/**
 * One process from its birth behind a gate to its end: what it says on its pipe and how it ends, as a few events. Knows
 * nothing of requests, users or files.
 */
import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import type { Duplex } from "node:stream";
import { spawnErrorCode } from "../../../core/base/errors/errno.js";
import type { ArmFailure } from "../../runner/port.js";
import { failure } from "../request-check.js";
import { environmentBlock, type GateWord, goLine } from "./gate.js";
import type { OpenOutput } from "./output.js";

/** The longest that a gate says is shorter; beyond it is no gate that talks. */
const SPOKEN_CHARS = 200;

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: string | null;
}

interface GatedProcessHandlers {
  said(word: GateWord): void;
  /** Nothing was created. No other event follows. */
  notCreated(failure: ArmFailure): void;
  /** It ended, and all that it said was heard. */
  ended(end: ProcessEnd): void;
}

interface Spawnable {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: number | "ignore";
  readonly output: OpenOutput["stdio"];
}

export class GatedProcess {
  #heard = "";
  #end: ProcessEnd | null = null;
  readonly #child: ChildProcess;
  readonly #pipe: Duplex;
  readonly #handlers: GatedProcessHandlers;

  private constructor(
    child: ChildProcess,
    pipe: Duplex,
    readonly pid: number,
    handlers: GatedProcessHandlers,
  ) {
    this.#child = child;
    this.#pipe = pipe;
    this.#handlers = handlers;
    pipe.setEncoding("latin1");
    pipe.on("data", (text: string) => this.#listen(text));
    // A pipe that breaks belongs to a process that ends; that is what is reported.
    pipe.on("error", () => undefined);
    child.on("error", () => undefined);
    child.on("exit", (code, signal) => {
      this.#end = { code, signal };
    });
    child.on("close", (code, signal) => handlers.ended(this.#end ?? { code, signal }));
  }

  /**
   * Own session, so that it outlives us and can be signalled as a whole. The command's environment goes through the pipe:
   * until its privileges are dropped the process has none.
   */
  static spawn(what: Spawnable, handlers: GatedProcessHandlers): GatedProcess | null {
    const [program = "", ...args] = what.argv;
    const stdio: StdioOptions = [what.stdin, what.output, what.output, "pipe"];
    let child: ChildProcess;
    try {
      child = spawn(program, args, { env: {}, cwd: "/", detached: true, stdio });
    } catch (error) {
      handlers.notCreated(spawnFailure(error));
      return null;
    }
    const pipe = child.stdio?.[3];
    if (child.pid === undefined || !isDuplex(pipe)) {
      child.on("error", (error) => handlers.notCreated(spawnFailure(error)));
      return null;
    }
    const gated = new GatedProcess(child, pipe, child.pid, handlers);
    pipe.write(environmentBlock(what.env));
    return gated;
  }

  /** GO. From here on the process decides by itself, and tells. */
  release(latestUptimeHundredths: number): void {
    this.#pipe.write(goLine(latestUptimeHundredths));
  }

  /** Only for a process that waits: it never ran and never will. */
  close(): void {
    this.#pipe.destroy();
    this.#child.kill("SIGKILL");
  }

  #listen(text: string): void {
    if (this.#heard.length > SPOKEN_CHARS) return;
    const lines = (this.#heard + text).split("\n");
    this.#heard = lines.pop() ?? "";
    for (const line of lines) this.#handlers.said(line as GateWord);
  }
}

export function isDuplex(stream: unknown): stream is Duplex {
  return typeof stream === "object" && stream !== null && "write" in stream && "read" in stream;
}

function spawnFailure(error: unknown): ArmFailure {
  const errno = error instanceof Error && "code" in error ? String(error.code) : "";
  const program = error instanceof Error && "path" in error ? ` (${String(error.path)})` : "";
  return failure(
    spawnErrorCode(errno),
    `no process could be created: ${errno === "" ? String(error) : errno}${program}`,
  );
}
