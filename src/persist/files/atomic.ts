/**
 * Changes to files, from one that is atomic by itself to several that become durable together.
 *
 * One document goes the way STATE prescribes: temporary file in the same directory, sync, rename, sync of the
 * directory. Several changes are first written down in a journal, in that same way: the moment the journal has its name
 * durably is the moment of the commit. Then they are carried out, and the journal goes. A journal found at the start is
 * carried out again, which changes nothing where it was carried out before.
 */
import * as path from "node:path";
import { checksum } from "../checksum.js";
import type { Disk, DiskFile } from "./disk.js";

/** Beside a file's own name while its next content is being written. */
const TEMPORARY_SUFFIX = ".new";
export const JOURNAL_FILE = "kron-journal.json";
const LINE_BREAK = 0x0a;

export type FileChange =
  | { readonly file: string; readonly text: string }
  | { readonly file: string; readonly lines: string }
  | { readonly file: string; readonly isRemoval: true };

async function filled(file: DiskFile, text: string): Promise<void> {
  try {
    await file.write(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The new content has its name; that the name is durable takes a sync of the directory. */
async function exchange(disk: Disk, file: string, text: string): Promise<void> {
  const temporary = file + TEMPORARY_SUFFIX;
  await filled(await disk.create(temporary), text);
  await disk.rename(temporary, file);
}

/** STATE, write semantics: never a partial file, and durable when it resolves. */
export async function replaceFile(disk: Disk, file: string, text: string): Promise<void> {
  await exchange(disk, file, text);
  await disk.syncDirectory(path.dirname(file));
}

async function carryOutOne(disk: Disk, root: string, change: FileChange): Promise<void> {
  const file = path.join(root, change.file);
  if ("text" in change) await exchange(disk, file, change.text);
  else if ("lines" in change) await filled(await disk.append(file), change.lines);
  else await disk.remove(file);
}

async function carryOut(disk: Disk, root: string, changes: readonly FileChange[]): Promise<void> {
  for (const change of changes) await carryOutOne(disk, root, change);
  const directories = new Set(changes.map((change) => path.dirname(path.join(root, change.file))));
  for (const directory of directories) await disk.syncDirectory(directory);
}

/**
 * Needs no sync of its own: a journal that comes back is carried out again, and the next commit syncs this directory
 * before it is acknowledged, so it can never come back behind a later commit.
 */
function removeJournal(disk: Disk, root: string): Promise<void> {
  return disk.remove(path.join(root, JOURNAL_FILE));
}

/** All of the changes or none, durable when it resolves. */
export async function applyChanges(disk: Disk, root: string, changes: readonly FileChange[]): Promise<void> {
  const [only] = changes;
  if (only === undefined) return;
  const isInRoot = path.dirname(only.file) === ".";
  if (changes.length === 1 && isInRoot && "text" in only)
    return replaceFile(disk, path.join(root, only.file), only.text);
  const body = JSON.stringify(changes);
  const journal = `${JSON.stringify({ sum: checksum(0, body) })}\n${body}\n`;
  await replaceFile(disk, path.join(root, JOURNAL_FILE), journal);
  await carryOut(disk, root, changes);
  await removeJournal(disk, root);
}

/** null when the text is not exactly what was written: a journal gets its name only when it is complete. */
function readJournal(text: string): readonly FileChange[] | null {
  const [head = "", body = ""] = text.split("\n");
  try {
    const { sum } = JSON.parse(head) as { readonly sum?: unknown };
    return sum === checksum(0, body) ? (JSON.parse(body) as readonly FileChange[]) : null;
  } catch {
    return null;
  }
}

/** Cuts off a line whose writing was interrupted. */
async function cutTornLine(disk: Disk, file: string): Promise<void> {
  const bytes = await disk.read(file);
  if (bytes === null || bytes.length === 0 || bytes.at(-1) === LINE_BREAK) return;
  const handle = await disk.append(file);
  try {
    await handle.truncate(bytes.lastIndexOf(LINE_BREAK) + 1);
  } finally {
    await handle.close();
  }
}

/** Finishes the commit that a crash interrupted. Resolves with false when its journal is damaged. */
export async function replayJournal(disk: Disk, root: string): Promise<boolean> {
  const bytes = await disk.read(path.join(root, JOURNAL_FILE));
  if (bytes === null) return true;
  const changes = readJournal(bytes.toString());
  if (changes === null) return false;
  for (const change of changes) if ("lines" in change) await cutTornLine(disk, path.join(root, change.file));
  await carryOut(disk, root, changes);
  await removeJournal(disk, root);
  return true;
}

/** Removes temporary files of a crashed process: their content never got a name. */
export async function removeTemporaries(disk: Disk, directory: string): Promise<void> {
  const names = await disk.list(directory);
  for (const name of names) if (name.endsWith(TEMPORARY_SUFFIX)) await disk.remove(path.join(directory, name));
}
