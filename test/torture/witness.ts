/**
 * The witness of what has run: a directory in which each run makes a file of its own, exclusively, so that a second run of
 * the same period cannot hide. The file holds the moment of the start as the command itself has seen it.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import type { EpochMs } from "../../src/core/time/instant.js";

const DUPLICATES = "duplicates";

/** The beginning of a shell command; nothing of it forks. `directory` holds no quotes. */
export function witnessing(directory: string): string {
  const file = `"${directory}/$KRON_IDENTITY.$KRON_PERIOD_ID"`;
  return `set -C; read u r </proc/uptime; echo "$u" > ${file} || echo "$KRON_IDENTITY.$KRON_PERIOD_ID" >> "${directory}/${DUPLICATES}"`;
}

export interface Witness {
  /** By `<identity>.<period id>`: when the command began; null where it was killed before it had said so. */
  readonly startedAt: ReadonlyMap<string, EpochMs | null>;
  /** Runs beyond the first of their period. */
  readonly duplicates: readonly string[];
}

export function readWitness(directory: string): Witness {
  const bootedAt = Date.now() - Number(fs.readFileSync("/proc/uptime", "utf8").split(" ")[0]) * 1_000;
  const startedAt = new Map<string, EpochMs | null>();
  let duplicates: readonly string[] = [];
  for (const name of fs.readdirSync(directory)) {
    const text = fs.readFileSync(path.join(directory, name), "utf8").trim();
    if (name === DUPLICATES) duplicates = text.split("\n");
    else startedAt.set(name, text === "" ? null : bootedAt + Number(text) * 1_000);
  }
  return { startedAt, duplicates };
}
