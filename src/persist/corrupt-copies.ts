/** Where unreadable documents are kept for inspection: `<name>.corrupt.<timestamp>`, as STATE says (S32). */

import * as fs from "node:fs";
import * as path from "node:path";
import { KronError } from "../core/base/errors/kron-error.js";
import { messageOf } from "../core/base/errors/message.js";
import { corruptFileName } from "../core/state/file-name.js";
import { type EpochMs, formatSecond } from "../core/time/instant.js";
import type { DocumentKey } from "./keys.js";
import { errnoOf, FILE_MODE, syncDirectory } from "./private-files.js";
import type { StateReader } from "./store.js";

export interface CorruptCopies {
  /** Whether an earlier start kept a copy already. */
  isKept(key: DocumentKey): boolean;
  /** Keeps the bytes durably and says where. Throws what the system says. */
  keep(key: DocumentKey, bytes: Buffer, now: EpochMs): string;
}

/** No colons: the name must be good on every file system that a copy may end up on. */
function compactTimestamp(now: EpochMs): string {
  return formatSecond(now).replaceAll(/[-:]/g, "");
}

function writeNew(file: string, bytes: Buffer): void {
  const descriptor = fs.openSync(file, "wx", FILE_MODE);
  try {
    fs.writeFileSync(descriptor, bytes);
    fs.fsyncSync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}

export function copiesIn(directory: string): CorruptCopies {
  return {
    isKept: (key) => fs.readdirSync(directory).some((name) => name.startsWith(corruptFileName(key, ""))),
    keep: (key, bytes, now) => {
      const file = path.join(directory, corruptFileName(key, compactTimestamp(now)));
      try {
        writeNew(file, bytes);
      } catch (error) {
        // The same document again within a second, after a crash: the first copy is the one that counts.
        if (errnoOf(error) !== "EEXIST") throw error;
      }
      syncDirectory(directory);
      return file;
    },
  };
}

/** The bytes as they are, durably, before anything takes their place. */
export async function keepCopy(
  store: StateReader,
  copies: CorruptCopies,
  key: DocumentKey,
  now: EpochMs,
): Promise<string> {
  const bytes = (await store.bytes(key)) ?? Buffer.alloc(0);
  try {
    return copies.keep(key, bytes, now);
  } catch (error) {
    throw new KronError("state-write-failed", `cannot keep a copy of ${key}: ${messageOf(error)}`, {
      component: "persist",
      operation: "load",
      cause: error,
    });
  }
}
