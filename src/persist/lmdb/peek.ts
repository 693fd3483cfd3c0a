/**
 * One note of a store, read before the store is ours and before anybody has checked it: no more than a hint, to be
 * compared with what is there when the store is open. Reading a damaged map kills the process that reads it (S31), so a
 * child does; it reads the few pages of one entry, not the whole file.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import * as path from "node:path";
import { text } from "node:stream/consumers";
import { checkPrivateFile, FILE_MODE } from "../private-files.js";
import { type Entry, isIntact } from "./entries.js";
import { DATA_FILE, LOCK_FILE, NOTE_PREFIX } from "./environment.js";

/** One entry takes milliseconds; a damaged tree may go round in circles. */
const TIMEOUT_MS = 10_000;

const PROGRAM = `
const [, lmdbPath, file, mode, key] = process.argv;
const root = require(lmdbPath).open({ path: file, noSubdir: true, readOnly: true, maxDbs: 4, permissionsMode: +mode });
const meta = root.openDB("meta", { encoding: "string", useVersions: true });
process.stdout.write(JSON.stringify(meta?.getEntry(key) ?? null));
`;

/** undefined: there is none, or nobody can tell. Creates nothing. */
export async function peekNote(directory: string, key: string): Promise<string | undefined> {
  const file = path.resolve(directory, DATA_FILE);
  const [data, lock] = [checkPrivateFile(file), checkPrivateFile(path.resolve(directory, LOCK_FILE))];
  if (!data.ok || data.value === null || !lock.ok) return undefined;
  try {
    const found = JSON.parse(await answerOfChild(file, NOTE_PREFIX + key)) as Omit<Entry<string>, "key"> | null;
    const entry = found === null ? null : { ...found, key: NOTE_PREFIX + key };
    return entry !== null && isIntact(entry) ? entry.value : undefined;
  } catch {
    return undefined;
  }
}

/** Empty when it has died. It sees no environment and none of our descriptors. */
async function answerOfChild(file: string, key: string): Promise<string> {
  const lmdbPath = createRequire(import.meta.url).resolve("lmdb");
  const child = spawn(process.execPath, ["-e", PROGRAM, lmdbPath, file, String(FILE_MODE), key], {
    cwd: "/",
    env: {},
    stdio: ["ignore", "pipe", "ignore"],
    timeout: TIMEOUT_MS,
    killSignal: "SIGKILL",
  });
  const [answer] = await Promise.all([text(child.stdout), once(child, "close")]);
  return answer;
}
