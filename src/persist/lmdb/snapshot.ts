/**
 * A store as it is at one instant, beside whoever writes to it: LMDB copies the pages of one transaction, and what is
 * read is the copy. It takes the room of the store once more, for as long as it is read.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import type { KronError } from "../../core/base/errors/kron-error.js";
import { err, ok, type Result } from "../../core/base/result.js";
import { unreadable } from "../failures.js";
import { MARKER_FILE } from "../marker.js";
import { DIRECTORY_MODE, FILE_MODE } from "../private-files.js";
import type { StateReader } from "../store.js";
import { DATA_FILE, openDatabases } from "./environment.js";
import { openLmdbReader } from "./open.js";

/** `scratch` must not exist; it is gone afterwards. */
export async function withLmdbSnapshot<T>(
  directory: string,
  scratch: string,
  use: (reader: StateReader) => Promise<Result<T, KronError>>,
): Promise<Result<T, KronError>> {
  const absolute = path.resolve(directory);
  // What is damaged is not mapped: the first opening looks at it in a process of its own.
  const sound = await openLmdbReader(absolute);
  if (!sound.ok) return sound;
  await sound.value.close();
  fs.mkdirSync(scratch, { mode: DIRECTORY_MODE });
  try {
    const copied = await copyTo(absolute, scratch);
    if (!copied.ok) return copied;
    const reader = await openLmdbReader(scratch);
    if (!reader.ok) return reader;
    try {
      return await use(reader.value);
    } finally {
      await reader.value.close();
    }
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true });
  }
}

async function copyTo(directory: string, scratch: string): Promise<Result<void, KronError>> {
  const file = path.join(scratch, DATA_FILE);
  try {
    // The marker first: a store that was opened again in between is ahead of it, which is no rewind.
    fs.copyFileSync(path.join(directory, MARKER_FILE), path.join(scratch, MARKER_FILE));
    const { root } = openDatabases(directory, true);
    try {
      await root.backup(file, false);
    } finally {
      await root.close();
    }
    for (const name of [DATA_FILE, MARKER_FILE]) fs.chmodSync(path.join(scratch, name), FILE_MODE);
    return ok(undefined);
  } catch (error) {
    return err(unreadable("export", `the store of ${directory} cannot be copied`, error));
  }
}
