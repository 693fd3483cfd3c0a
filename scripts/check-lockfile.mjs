/**
 * npm leaves platform packages out of a lockfile without a word when a registry lacks some of them, and a later
 * `npm ci` on another machine then refuses it. So: every optional dependency named in a lockfile has its own entry,
 * and no entry carries a download address, because each machine has its own registry. The benchmarks' peers count too.
 */
import { readFileSync } from "node:fs";

const LOCKFILES = ["package-lock.json", "bench/package-lock.json", "bench/queues/package-lock.json"];

function problemsOf(packages) {
  const paths = Object.keys(packages);
  return Object.entries(packages).flatMap(([path, entry]) => {
    const named = Object.keys(entry.optionalDependencies ?? {});
    const missing = named.filter((name) => !paths.some((other) => other.endsWith(`node_modules/${name}`)));
    return [
      ...missing.map((name) => `no entry for optional dependency ${path || "(root)"} -> ${name}`),
      ...(entry.resolved?.startsWith("http") ? [`download address recorded for ${path}`] : []),
    ];
  });
}

let isComplete = true;
for (const file of LOCKFILES) {
  const { packages } = JSON.parse(readFileSync(new URL(`../${file}`, import.meta.url), "utf8"));
  const problems = problemsOf(packages);
  for (const problem of problems) process.stderr.write(`${file}: ${problem}\n`);
  if (problems.length > 0) isComplete = false;
  else process.stdout.write(`${file}: ${Object.keys(packages).length} entries, complete\n`);
}
if (!isComplete) process.exit(1);
