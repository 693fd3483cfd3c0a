import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeEach } from "vitest";

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

const LOOK_MS = 50;

/**
 * A launcher outlives its daemon until it has closed its gates and brought their output into its final form. What comes in
 * while everything is being removed stays, and so does the directory: all of it is removed anew then.
 */
async function gone(directory: string): Promise<void> {
  for (;;) {
    try {
      fs.rmSync(directory, { recursive: true, force: true });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOTEMPTY") throw error;
      await sleep(LOOK_MS);
    }
  }
}

/**
 * Directories that are gone before the next test of the calling file, and after the last one: whatever a test has started in
 * them has ended by then, in whichever order its hooks were made.
 */
export function temporaryDirectories(parent = os.tmpdir()): () => string {
  const made: string[] = [];
  const tidy = async (): Promise<void> => {
    for (const directory of made.splice(0)) await gone(directory);
  };
  beforeEach(tidy);
  afterAll(tidy);
  return () => {
    const directory = fs.mkdtempSync(path.join(parent, "kron-test-"));
    made.push(directory);
    return directory;
  };
}
