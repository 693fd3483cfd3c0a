import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterEach } from "vitest";

/** Directories that are gone after each test of the calling file. */
export function temporaryDirectories(): () => string {
  const made: string[] = [];
  afterEach(() => {
    for (const directory of made.splice(0)) fs.rmSync(directory, { recursive: true, force: true });
  });
  return () => {
    const directory = fs.mkdtempSync(path.join(os.tmpdir(), "kron-test-"));
    made.push(directory);
    return directory;
  };
}
