/**
 * npm leaves platform packages out of a lockfile without a word when a registry lacks some of them, and a later
 * `npm ci` on another machine then refuses it. So: every optional dependency named in the lockfile has its own entry,
 * and no entry carries a download address, because each machine has its own registry.
 */
import { readFileSync } from "node:fs";

const { packages } = JSON.parse(readFileSync(new URL("../package-lock.json", import.meta.url), "utf8"));
const missing = [];
const addressed = [];
for (const [path, entry] of Object.entries(packages)) {
  if (entry.resolved?.startsWith("http")) addressed.push(path);
  for (const name of Object.keys(entry.optionalDependencies ?? {})) {
    const isPresent = Object.keys(packages).some((other) => other.endsWith(`node_modules/${name}`));
    if (!isPresent) missing.push(`${path || "(root)"} -> ${name}`);
  }
}
for (const line of missing) process.stderr.write(`lockfile: no entry for optional dependency ${line}\n`);
for (const line of addressed) process.stderr.write(`lockfile: download address recorded for ${line}\n`);
if (missing.length + addressed.length > 0) process.exit(1);
process.stdout.write(`lockfile: ${Object.keys(packages).length} entries, complete\n`);
