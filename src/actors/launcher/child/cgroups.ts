/**
 * A control group for each run, below a directory that was delegated to the daemon (S28). Optional: without one, and
 * whenever the kernel refuses, a run simply has none.
 */
import * as fs from "node:fs";
import * as path from "node:path";

const PREFIX = "kron-";

export class RunCgroups {
  /** The kernel keeps a group that is not empty: these are tried again. */
  readonly #leftOver = new Set<string>();
  readonly #root: string | null;

  constructor(root: string | null) {
    this.#root = root;
    if (root !== null) for (const name of groupsIn(root)) this.#leftOver.add(path.join(root, name));
    this.#sweep();
  }

  /** Moves a waiting process into a group of its own. null when there is no root, or it cannot be had. */
  enter(attemptId: string, pid: number): string | null {
    if (this.#root === null) return null;
    const directory = path.join(this.#root, PREFIX + attemptId);
    try {
      fs.mkdirSync(directory);
      fs.writeFileSync(path.join(directory, "cgroup.procs"), String(pid));
      return directory;
    } catch {
      this.leave(directory);
      return null;
    }
  }

  /** The group of a run that an earlier launcher started. */
  find(attemptId: string): string | null {
    const directory = this.#root === null ? null : path.join(this.#root, PREFIX + attemptId);
    return directory !== null && fs.existsSync(directory) ? directory : null;
  }

  /** What a run left behind keeps its group, and stays findable. */
  leave(directory: string | null): void {
    if (directory !== null) this.#leftOver.add(directory);
    this.#sweep();
  }

  #sweep(): void {
    for (const directory of this.#leftOver) {
      if (remove(directory)) this.#leftOver.delete(directory);
    }
  }
}

function groupsIn(root: string): readonly string[] {
  try {
    return fs.readdirSync(root).filter((name) => name.startsWith(PREFIX));
  } catch {
    return [];
  }
}

/** True when it is gone, by whomever. */
function remove(directory: string): boolean {
  try {
    fs.rmdirSync(directory);
    return true;
  } catch {
    return !fs.existsSync(directory);
  }
}
