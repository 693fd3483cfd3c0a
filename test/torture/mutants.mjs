/**
 * Tries every mutant of the list on a copy of the tree: its tests have to fail. `--quick` takes the quick ones only,
 * `--only TEXT` those whose name holds the text. The working tree is never touched.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { MUTANTS } from "./mutant-list.mjs";

const root = resolve(import.meta.dirname, "../..");
const COPIED = [
  "src",
  "web",
  "test",
  "scripts",
  "docs",
  "examples",
  "deploy",
  "package.json",
  "tsconfig.json",
  "tsconfig.web.json",
  "tsup.config.ts",
  "vitest.config.ts",
  "biome.json",
];
const ALSO_COPIED = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md"];

function copyTree() {
  const copy = mkdtempSync(join(realpathSync(tmpdir()), "kron-mutants-"));
  for (const name of [...COPIED, ...ALSO_COPIED]) cpSync(join(root, name), join(copy, name), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  return copy;
}

/** Nothing of the runner that may have started us. */
function cleanEnvironment() {
  const isOurs = (name) => !/^(VITEST|NODE_V8|TEST$|CI$)/.test(name);
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => isOurs(name)));
}

/** Whether the tests pass. */
async function passes(copy, tests) {
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const args = [vitest, "run", "--bail", "1", "--reporter", "dot", ...tests];
  const child = spawn(process.execPath, args, {
    cwd: copy,
    env: cleanEnvironment(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => (said += piece));
  const [status] = await once(child, "close");
  if (!/Tests? {2}|Test Files/.test(said)) throw new Error(`the tests were not run: ${said}`);
  return status === 0;
}

function mutated(text, { name, file, search, replace }) {
  const times = text.split(search).length - 1;
  if (times !== 1) throw new Error(`"${name}" is to change one place of ${file}, and finds ${times}`);
  return text.replace(search, () => replace);
}

async function isKilled(copy, mutant) {
  const path = join(copy, mutant.file);
  const original = readFileSync(path, "utf8");
  writeFileSync(path, mutated(original, mutant));
  try {
    return !(await passes(copy, mutant.tests));
  } finally {
    writeFileSync(path, original);
  }
}

async function main() {
  const { values } = parseArgs({ options: { quick: { type: "boolean" }, only: { type: "string" } } });
  const isRoot = process.geteuid?.() === 0;
  const wanted = MUTANTS.filter(({ name, quick }) => (!values.quick || quick) && name.includes(values.only ?? ""));
  const tried = wanted.filter(({ needsRoot }) => isRoot || !needsRoot);
  const skipped = wanted.length - tried.length;
  const survivors = [];
  for (const mutant of wanted) mutated(readFileSync(join(root, mutant.file), "utf8"), mutant);
  const copy = copyTree();
  try {
    for (const mutant of tried) {
      const startedMs = performance.now();
      const killed = await isKilled(copy, mutant);
      if (!killed) survivors.push(mutant.name);
      const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
      console.log(`R6: ${killed ? "killed  " : "SURVIVED"} ${mutant.name} (${seconds} s)`);
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
  const note = skipped === 0 ? "" : ` (${skipped} skipped: only root's tests can tell)`;
  console.log(`R6: ${tried.length - survivors.length} of ${tried.length} killed${note}`);
  process.exitCode = survivors.length === 0 ? 0 : 1;
}

await main();
