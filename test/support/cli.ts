import type { CliIo } from "../../src/cli/io.js";
import { type Program, runProgram } from "../../src/cli/program.js";

export interface CliResult {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command in this process over a captured world: no terminal, an empty environment, a clock that stands still. */
export async function runCaptured(
  program: Program,
  argv: readonly string[],
  world: Partial<Pick<CliIo, "env" | "cwd" | "isOutTerminal" | "outColumns">> & {
    readonly nowAt?: number;
    readonly input?: string;
  } = {},
): Promise<CliResult> {
  let out = "";
  let err = "";
  const io: CliIo = {
    out: async (text) => {
      out += text;
    },
    err: async (text) => {
      err += text;
    },
    isOutTerminal: world.isOutTerminal ?? false,
    isErrTerminal: false,
    ...(world.outColumns === undefined ? {} : { outColumns: world.outColumns }),
    env: world.env ?? {},
    cwd: world.cwd ?? process.cwd(),
    now: () => world.nowAt ?? Date.parse("2026-02-28T12:00:00Z"),
    input: async function* () {
      yield world.input ?? "";
    },
  };
  const exitCode = await runProgram(program, argv, io);
  return { exitCode, out, err };
}
