/** Installing what a lockfile names, without running anybody's scripts. */
import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";

/** Null when it succeeded, else what npm said. */
export function npmCi(folder) {
  const npm = process.env.npm_execpath;
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
  const [command, all] = npm?.endsWith(".js") ? [process.execPath, [npm, ...args]] : ["npm", args];
  const result = spawnSync(command, all, { cwd: folder, encoding: "utf8" });
  return result.status === 0 ? null : String(result.error?.message ?? result.stderr).trim();
}

export function isInstalled(folder) {
  const installed = join(folder, "node_modules/.package-lock.json");
  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(join(folder, "package-lock.json")).mtimeMs;
}
