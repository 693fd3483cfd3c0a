/**
 * Pages that show a session at a terminal, executed: their files are written, their commands typed into one shell in the
 * order of the page, and what is printed is held against what the page says. A line `...` stands for any lines.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import * as path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Programs } from "./built-programs.js";

export type Step =
  | { readonly kind: "file"; readonly name: string; readonly text: string }
  | { readonly kind: "command"; readonly command: string; readonly printed: readonly string[] };

const BLOCK = /^```(yaml|console)\n([\s\S]*?)^```$/gm;
const FILE_NAME = /^# (\S+\.(?:yaml|kron))\n/;

/** Of blocks of YAML, those that begin with the name of a file. */
export function stepsOf(page: string): readonly Step[] {
  return [...page.matchAll(BLOCK)].flatMap(([, kind, text = ""]): readonly Step[] => {
    if (kind === "console") return commandsOf(text);
    const name = FILE_NAME.exec(text)?.[1];
    return name === undefined ? [] : [{ kind: "file", name, text }];
  });
}

function commandsOf(block: string): readonly Step[] {
  const pieces = block.split(/^\$ /m);
  if (pieces[0] !== "") throw new Error(`a console block begins with a command: ${pieces[0]}`);
  return pieces.slice(1).map((piece) => {
    const [command = "", ...printed] = piece.trimEnd().split("\n");
    return { kind: "command", command, printed };
  });
}

/** Whether these lines are what the page says; `...` is as many as it takes. */
export function matches(expected: readonly string[], actual: readonly string[]): boolean {
  const [first, ...rest] = expected;
  if (first === undefined) return actual.length === 0;
  if (first !== "...") return first === actual[0] && matches(rest, actual.slice(1));
  return Array.from({ length: actual.length + 1 }, (_, skipped) => skipped).some((skipped) =>
    matches(rest, actual.slice(skipped)),
  );
}

/** Without what is another every time: instants, lengths of time, ids, and the width of columns that follows from them. */
export function withoutTheMoment(line: string): string {
  return (
    line
      .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z| [+-]\d\d:\d\d)?/g, "<time>")
      .replace(/\b[0-9a-z]{9}-[0-9a-f]{12}\b/g, "<attempt>")
      .replace(/\b(?:0x[0-9a-f]{16}|[0-9a-f]{64}|[0-9a-f]{32})\b/g, "<id>")
      .replace(/\bpid +\d+/gi, "pid <pid>")
      .replace(/zone data \w+/g, "zone data <version>")
      // A draw, and the second of the window that it comes to.
      .replace(/\b0\.\d{6,}|\+\d+(?= )/g, "<number>")
      .replace(/[+-]?\b(?:\d+(?:ms|[dhms]))+\b/g, "<span>")
      .replace(/ +/g, " ")
      .trimEnd()
  );
}

const MARK = "--- that was all ---";

/** One shell for a whole session, so that what is exported or put into the background stays so. */
export class Shell {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  #said = "";
  #hear: () => void = () => undefined;

  constructor(cwd: string, env: Readonly<Record<string, string>>) {
    // A group of its own: what was left in the background goes with it.
    this.#child = spawn("/bin/sh", [], { cwd, env, stdio: ["pipe", "pipe", "inherit"], detached: true });
    this.#ended = once(this.#child, "close");
    this.#child.stdout?.setEncoding("utf8").on("data", (piece: string) => {
      this.#said += piece;
      this.#hear();
    });
  }

  /** What it prints on either stream. */
  async run(command: string): Promise<readonly string[]> {
    this.#said = "";
    this.#child.stdin?.write(`{ ${command}\n} 2>&1 < /dev/null\ncode=$?; echo '${MARK}'; (exit $code)\n`);
    const end = `${MARK}\n`;
    while (!this.#said.endsWith(end)) {
      await new Promise<void>((resolve) => {
        this.#hear = resolve;
      });
    }
    const text = this.#said.slice(0, -end.length).trimEnd();
    return text === "" ? [] : text.split("\n");
  }

  async end(): Promise<void> {
    try {
      process.kill(-(this.#child.pid ?? 0), "SIGKILL");
    } catch {
      // Nothing of it is left.
    }
    await this.#ended;
  }
}

const AGAIN_MS = 100;
const PATIENCE_MS = 60_000;

/** Types a command; `again` is whether somebody who waits for something would type it once more. */
export async function typed(
  shell: Shell,
  command: string,
  isExpected: (lines: readonly string[]) => boolean,
  again: boolean,
): Promise<readonly string[]> {
  const untilMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const lines = await shell.run(command);
    if (!again || isExpected(lines) || performance.now() > untilMs) return lines;
    await sleep(AGAIN_MS);
  }
}

/** A folder with `kron` and `krond` as they are built for this run of the tests, to be put in front of a PATH. */
export function binariesIn(directory: string, programs: Programs): string {
  const bin = path.join(directory, "bin");
  fs.mkdirSync(bin);
  for (const [name, file] of Object.entries(programs)) program(bin, name, `exec '${process.execPath}' '${file}' "$@"`);
  return bin;
}

export function program(bin: string, name: string, text: string): void {
  fs.writeFileSync(path.join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
}
