/** Mounts of a test, for whoever may make them: gone after it. */
import { spawnSync } from "node:child_process";
import { afterEach } from "vitest";
import { isRoot } from "./place.js";

export const canMount = isRoot && spawnSync("unshare", ["-m", "sh", "-c", "mount -t tmpfs none /mnt"]).status === 0;
/** For titles of rows that need it. */
export const NEEDS_MOUNT = canMount ? "" : " (skipped: this needs root and mount)";

export function must(program: string, ...args: string[]): void {
  const { status, stderr } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${stderr}`);
}

/** The arguments of `mount`; the last one is the directory. */
export function mounts(): (...args: string[]) => void {
  const made: string[] = [];
  afterEach(() => {
    for (const directory of made.splice(0).reverse()) spawnSync("umount", ["-l", directory]);
  });
  return (...args) => {
    must("mount", ...args);
    made.push(args.at(-1) ?? "");
  };
}
