/**
 * What a user gets: packs the package, installs it into an empty folder as a dependency, and runs its commands and its
 * imports there, and then the tour of its daemon. Fails when a file is missing from the package or a dependency from
 * package.json.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { tours } from "./smoke-tour.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "kron-pack-"));
// What is installed here is for every user of the machine.
chmodSync(folder, 0o755);

function run(command, args, cwd, expected = 0) {
  const result = spawnSync(command, args, { cwd, encoding: "utf8", env: { ...process.env, KRON_CONFIG: "" } });
  if (result.status !== expected) {
    throw new Error(`${command} ${args.join(" ")}: exit ${result.status}\n${result.stdout}${result.stderr}`);
  }
  return result.stdout;
}

function npm(args, cwd) {
  const path = process.env.npm_execpath;
  return path?.endsWith(".js") ? run(process.execPath, [path, ...args], cwd) : run("npm", args, cwd);
}

const JOBS = `jobs:
  - identity: prod/db-backup
    schedule: "0 0 * * *"
    window: { mode: after, duration: 3h }
    seed: { salt: backup }
    command: [/usr/bin/backup, --full]
`;

const LIBRARY = `import { compileRule, decide, formatInstant, readJobDefinition } from "kron";
const read = readJobDefinition({ identity: "prod/db-backup", schedule: "0 0 * * *", window: { duration: "3h" },
  seed: { salt: "backup" }, command: ["/usr/bin/backup"] });
if (!read.ok) throw new Error(JSON.stringify(read.error));
console.log(formatInstant(decide(compileRule(read.value), Date.parse("2026-03-01T00:00:00Z")).chosenAt));
`;

const SCHEDULER = `import { createScheduler, memoryStore } from "kron/scheduler";
const scheduler = createScheduler({ store: memoryStore() });
await scheduler.initialize([["hello", "* * * * *", async () => {}, 1000]]);
await scheduler.stop();
console.log("stopped");
`;

function expect(what, actual, wanted) {
  if (!actual.includes(wanted)) throw new Error(`${what}: expected "${wanted}" in:\n${actual}`);
  process.stdout.write(`pack: ${what}\n`);
}

try {
  const [packed] = JSON.parse(npm(["pack", "--json", "--ignore-scripts", "--pack-destination", folder], root));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "user", private: true, type: "module" }));
  npm(["install", "--ignore-scripts", "--no-audit", "--no-fund", join(folder, packed.filename)], folder);
  writeFileSync(join(folder, "jobs.yaml"), JOBS);
  writeFileSync(join(folder, "library.mjs"), LIBRARY);
  writeFileSync(join(folder, "scheduler.mjs"), SCHEDULER);
  const kron = join(folder, "node_modules", ".bin", "kron");
  expect("kron --version", run(kron, ["--version"], folder), "kron ");
  expect("kron lint", run(kron, ["lint", "jobs.yaml"], folder), "jobs.yaml");
  const next = ["next", "prod/db-backup", "--config", "jobs.yaml", "--at", "2026-02-28T12:00:00Z", "-o", "jsonl"];
  expect("kron next", run(kron, [...next, "--count", "1"], folder), "2026-03-01T02:32:20Z");
  run(kron, ["next", "nobody", "--config", "jobs.yaml"], folder, 1);
  expect("library import", run(process.execPath, ["library.mjs"], folder), "2026-03-01T02:32:20Z");
  expect("scheduler import", run(process.execPath, ["scheduler.mjs"], folder), "stopped");
  await tours(join(folder, "node_modules", ".bin"), folder);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
