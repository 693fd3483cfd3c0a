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
    for (const directory of made.splice(0)) fs.rmSync(directory, { recursive: true, force: true });
  });
  return () => {
    const directory = fs.mkdtempSync(path.join(parent, "kron-test-"));
    made.push(directory);
    return directory;
  };
}
