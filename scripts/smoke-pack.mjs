/**
 * What a user gets: packs the package from a fresh clone, in which nothing is installed or built, installs it into an empty
 * folder as a dependency, compiles the README's library program against its types, runs its commands and its imports
 * there, and then the tour of its daemon. Fails when a file is missing from the package or a dependency from package.json.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { tours } from "./smoke-tour.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "kron-pack-"));
// What is installed here is for every user of the machine.
chmodSync(folder, 0o755);

function run(command, args, cwd, expected = 0, more = {}) {
  const env = { ...process.env, KRON_CONFIG: "", ...more };
  const result = spawnSync(command, args, { cwd, encoding: "utf8", env, maxBuffer: 64 * 2 ** 20 });
  if (result.status !== expected) {
    throw new Error(`${command} ${args.join(" ")}: exit ${result.status}\n${result.stdout}${result.stderr}`);
  }
  return result.stdout;
}

function npm(args, cwd, more = {}) {
  const path = process.env.npm_execpath;
  const [program, ...first] = path?.endsWith(".js") ? [process.execPath, path] : ["npm"];
  return run(program, [...first, ...args], cwd, 0, more);
}

const NOT_CLONED = new Set(["node_modules", "dist", "state", "coverage", ".git", ".ensure.lock"]);

/** The tree as a clone would have it: no packages, no build. */
function freshClone() {
  const clone = join(folder, "clone");
  for (const name of readdirSync(root).filter((name) => !NOT_CLONED.has(name))) {
    const filter = (path) => basename(path) !== "node_modules";
    cpSync(join(root, name), join(clone, name), { recursive: true, filter });
  }
  return clone;
}

function packed(clone, more = {}) {
  const [{ filename, files }] = JSON.parse(npm(["pack", "--json", "--pack-destination", folder], clone, more));
  const names = files.map(({ path }) => path);
  for (const name of [
    "index",
    "scheduler",
    "testing",
    "worker",
    "kron",
    "krond",
    "decision-worker",
    "launcher-process",
  ]) {
    if (!names.includes(`dist/${name}.js`)) throw new Error(`${filename} has no dist/${name}.js`);
  }
  if (!names.includes("dist/web/index.html")) throw new Error(`${filename} has no page`);
  for (const name of ["index", "scheduler", "testing", "worker"]) {
    if (!names.includes(`dist/${name}.d.ts`)) throw new Error(`${filename} has no dist/${name}.d.ts`);
  }
  return join(folder, filename);
}

const STRICT = {
  compilerOptions: {
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    target: "es2023",
    module: "nodenext",
    skipLibCheck: true,
    types: [],
    outDir: "compiled",
  },
  files: ["library.mts"],
};

/** The README's TypeScript, as the package's types see it. */
function libraryProgram() {
  const [, block] = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(root, "README.md"), "utf8")) ?? [];
  if (block === undefined) throw new Error("the README has no TypeScript");
  return `declare const console: { log(text: string): void };\n${block}`;
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
  const clone = freshClone();
  const tarball = packed(clone);
  process.stdout.write("pack: from a fresh clone\n");
  // With ignore-scripts npm builds nothing by itself: what a contributor is told to do then.
  rmSync(join(clone, "dist"), { recursive: true });
  npm(["run", "build"], clone, { npm_config_ignore_scripts: "true" });
  packed(clone, { npm_config_ignore_scripts: "true" });
  process.stdout.write("pack: with ignore-scripts, after npm run build\n");
  rmSync(clone, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "user", private: true, type: "module" }));
  npm(["install", "--ignore-scripts", "--no-audit", "--no-fund", tarball], folder);
  writeFileSync(join(folder, "jobs.yaml"), JOBS);
  writeFileSync(join(folder, "library.mjs"), LIBRARY);
  writeFileSync(join(folder, "scheduler.mjs"), SCHEDULER);
  writeFileSync(join(folder, "library.mts"), libraryProgram());
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(STRICT));
  const kron = join(folder, "node_modules", ".bin", "kron");
  expect("kron --version", run(kron, ["--version"], folder), "kron ");
  expect("kron lint", run(kron, ["lint", "jobs.yaml"], folder), "jobs.yaml");
  const next = ["next", "prod/db-backup", "--config", "jobs.yaml", "--at", "2026-02-28T12:00:00Z", "-o", "jsonl"];
  expect("kron next", run(kron, [...next, "--count", "1"], folder), "2026-03-01T02:32:20Z");
  run(kron, ["next", "nobody", "--config", "jobs.yaml"], folder, 1);
  expect("library import", run(process.execPath, ["library.mjs"], folder), "2026-03-01T02:32:20Z");
  run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", "."], folder);
  expect("README's library program, strict", run(process.execPath, ["compiled/library.mjs"], folder), "Z\n");
  expect("scheduler import", run(process.execPath, ["scheduler.mjs"], folder), "stopped");
  await tours(join(folder, "node_modules", ".bin"), folder);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
