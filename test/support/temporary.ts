import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterEach } from "vitest";

const MEMORY = "/dev/shm";

function isUsable(directory: string): boolean {
  try {
    fs.accessSync(directory, fs.constants.W_OK | fs.constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Where a sync costs nothing: for tests that write a lot and lose no power. */
export const FAST_PARENT = isUsable(MEMORY) ? MEMORY : os.tmpdir();

/** Directories that are gone after each test of the calling file. */
export function temporaryDirectories(parent = os.tmpdir()): () => string {
  const made: string[] = [];
  afterEach(() => {
    // A launcher may still be bringing an output file of what has just ended into its final form.
    const how = { recursive: true, force: true, maxRetries: 20, retryDelay: 50 };
    for (const directory of made.splice(0)) fs.rmSync(directory, how);
  });
  return () => {
    const directory = fs.mkdtempSync(path.join(parent, "kron-test-"));
    made.push(directory);
    return directory;
  };
}
