/**
 * One note of a store, read before the store is ours and before anybody has checked it: no more than a hint, to be
 * compared with what is there when the store is open. A child reads the few pages of one entry, not the whole file.
 */
import { once } from "node:events";
import * as path from "node:path";
import { text } from "node:stream/consumers";
import { checkPrivateFile } from "../private-files.js";
import { type Entry, isIntact } from "./entries.js";
import { DATA_FILE, LOCK_FILE, NOTE_PREFIX } from "./environment.js";
import { startReader } from "./reader-child.js";

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

/** Empty when it has died. */
async function answerOfChild(file: string, key: string): Promise<string> {
  const child = startReader(PROGRAM, file, key, TIMEOUT_MS);
  child.stderr.resume();
  const [answer] = await Promise.all([text(child.stdout), once(child, "close")]);
  return answer;
}
