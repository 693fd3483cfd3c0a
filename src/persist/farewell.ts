/**
 * What whoever closes a store leaves for whoever opens it next, in a file beside it: what it knew and the next one would
 * have to work out again. It is no part of the state: without it the next start takes longer and does the same. So it is
 * believed only as long as nobody has touched the store in between, which its seal says, and it is read once.
 */
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { open } from "node:fs/promises";
import * as path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { checkPrivateFile, FILE_MODE } from "./private-files.js";

const FAREWELL_FILE = "kron.farewell";

/** Its first line; what it says of the rest is what shows that all of it came to the disk. */
const FORM = "kron-farewell-1";
/** Longer than any first line. */
const SEAL_BYTES = 1_024;
/** Summed up, or written, before everything else has its turn. */
const BYTES_PER_TURN = 2 ** 20;

/** The store as it was left: which one, after which opening, and in which file. */
interface Seal {
  readonly storeId: string;
  readonly generation: number;
  readonly inode: string;
  readonly bytes: string;
  readonly changedAtNs: string;
}

/** What lies there, before it is known to be whole. */
export interface Farewell {
  readonly seal: Seal;
  /** Of the words. */
  readonly wordBytes: number;
  readonly sha256: string;
  /** Where they begin. */
  readonly from: number;
}

/** `ctime`, which nobody can set: a file that was put back has its old `mtime`. Throws what the system says. */
export function sealOf(dataFile: string, storeId: string, generation: number): Seal {
  const { ino, size, ctimeNs } = fs.lstatSync(dataFile, { bigint: true });
  return { storeId, generation, inode: String(ino), bytes: String(size), changedAtNs: String(ctimeNs) };
}

/** null: there is none that belongs to this data file as it lies there. Whatever is wrong with one is no matter. */
export function sealedFarewell(directory: string, dataFile: string): Farewell | null {
  try {
    const farewell = firstLine(path.join(directory, FAREWELL_FILE));
    if (farewell === null) return null;
    const { seal } = farewell;
    const now = sealOf(dataFile, seal.storeId, seal.generation);
    const isSame = now.inode === seal.inode && now.bytes === seal.bytes && now.changedAtNs === seal.changedAtNs;
    return isSame ? farewell : null;
  } catch {
    return null;
  }
}

/** null: not all of it is there. */
export async function farewellWords(directory: string, farewell: Farewell): Promise<Buffer | null> {
  const { wordBytes, sha256, from } = farewell;
  try {
    const handle = await open(path.join(directory, FAREWELL_FILE), fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
    try {
      // A buffer of its own: columns of numbers are laid over it.
      const words = Buffer.from(new ArrayBuffer(wordBytes));
      const { bytesRead } = await handle.read(words, 0, wordBytes, from);
      return bytesRead === wordBytes && (await sumOf([words])) === sha256 ? words : null;
    } finally {
      await handle.close();
    }
  } catch {
    return null;
  }
}

/** With what is left of one that was never finished. One that cannot be removed belongs to a store that is another by now. */
export function forgetFarewell(directory: string): void {
  const file = path.join(directory, FAREWELL_FILE);
  removeQuietly(file);
  removeQuietly(unfinished(file));
}

function unfinished(file: string): string {
  return `${file}.new`;
}

function removeQuietly(file: string): void {
  try {
    fs.rmSync(file, { force: true });
  } catch {
    // Nobody relies on its being gone.
  }
}

/** Not synced: what a power cut has left of it is no farewell. Where it cannot be written there is none. */
export async function writeFarewell(
  directory: string,
  sealOfStore: () => Seal,
  words: readonly Uint8Array[],
): Promise<void> {
  const file = path.join(directory, FAREWELL_FILE);
  const temporary = unfinished(file);
  try {
    const seal = sealOfStore();
    const wordBytes = words.reduce((sum, { byteLength }) => sum + byteLength, 0);
    const first = `${JSON.stringify({ form: FORM, seal, wordBytes, sha256: await sumOf(words) })}\n`;
    fs.rmSync(temporary, { force: true });
    const handle = await open(temporary, "wx", FILE_MODE);
    try {
      for (const piece of [Buffer.from(first), ...words]) await handle.writeFile(piece);
    } finally {
      await handle.close();
    }
    fs.renameSync(temporary, file);
  } catch {
    removeQuietly(temporary);
  }
}

function firstLine(file: string): Farewell | null {
  const checked = checkPrivateFile(file);
  if (!checked.ok || checked.value === null) return null;
  const descriptor = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
  try {
    const start = Buffer.alloc(SEAL_BYTES);
    const read = fs.readSync(descriptor, start, 0, start.length, 0);
    const end = start.subarray(0, read).indexOf("\n");
    if (end < 0) return null;
    const { form, seal, wordBytes, sha256 } = JSON.parse(start.toString("utf8", 0, end));
    const from = end + 1;
    const isWhole = form === FORM && checked.value.size === from + wordBytes;
    return isWhole ? { seal, wordBytes, sha256, from } : null;
  } finally {
    fs.closeSync(descriptor);
  }
}

async function sumOf(pieces: readonly Uint8Array[]): Promise<string> {
  const hash = createHash("sha256");
  for (const piece of pieces) {
    for (let from = 0; from < piece.byteLength; from += BYTES_PER_TURN) {
      hash.update(piece.subarray(from, from + BYTES_PER_TURN));
      await nextTurn();
    }
  }
  return hash.digest("hex");
}
