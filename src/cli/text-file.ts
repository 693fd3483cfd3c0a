import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { fileWords } from "../core/base/errors/file-words.js";
import { formatSize } from "../core/job/size.js";
import { CliError, EXIT } from "./exit.js";
import type { CliIo } from "./io.js";

interface TextFile {
  /** Absolute; null for standard input. */
  readonly path: string | null;
  readonly text: string;
}

/** A whole file, or standard input for `-`; too large and unreadable ones end the command with exit code 2. */
export async function readTextFile(name: string, limitBytes: number, io: CliIo): Promise<TextFile> {
  if (name === "-") return { path: null, text: await readInput(limitBytes, io) };
  const path = resolve(io.cwd, name);
  const handle = await open(path).catch((error: unknown) => fail(name, error));
  try {
    const { size } = await handle.stat();
    if (size > limitBytes) throw tooLarge(name, limitBytes);
    return { path, text: await handle.readFile("utf8") };
  } catch (error) {
    return error instanceof CliError ? Promise.reject(error) : fail(name, error);
  } finally {
    await handle.close();
  }
}

async function readInput(limitBytes: number, io: CliIo): Promise<string> {
  let text = "";
  for await (const piece of io.input()) {
    text += piece;
    if (text.length > limitBytes) throw tooLarge("standard input", limitBytes);
  }
  return text;
}

function fail(name: string, error: unknown): never {
  throw new CliError(EXIT.configuration, `${name}: ${fileWords(error)}`);
}

function tooLarge(name: string, limitBytes: number): CliError {
  return new CliError(EXIT.configuration, `${name} is larger than ${formatSize(limitBytes)}`);
}
