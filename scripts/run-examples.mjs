/** Runs every program under examples/ against the built package; each asserts its own result and exits 0. */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const EXAMPLE_LIMIT_MS = 60_000;
const programs = readdirSync(`${root}/examples`)
  .filter((name) => name.endsWith(".mjs"))
  .sort();
let failed = 0;
for (const program of programs) {
  const result = spawnSync(process.execPath, [`examples/${program}`], {
    cwd: root,
    encoding: "utf8",
    timeout: EXAMPLE_LIMIT_MS,
  });
  if (result.status !== 0) failed += 1;
  process.stdout.write(
    `example ${program}: ${result.status === 0 ? "ok" : `exit ${result.status}\n${result.stdout}${result.stderr}`}\n`,
  );
}
const lint = spawnSync(process.execPath, ["dist/kron.js", "lint", "examples/krond.yaml", "examples/jobs.kron"], {
  cwd: root,
  encoding: "utf8",
});
if (lint.status !== 0) failed += 1;
process.stdout.write(
  `example configuration: ${lint.status === 0 ? "ok" : `exit ${lint.status}\n${lint.stdout}${lint.stderr}`}\n`,
);
const simulation = spawnSync(
  process.execPath,
  ["dist/kron.js", "simulate", "examples/krond.yaml", "--scenario", "examples/scenarios/bad-day.yaml"],
  { cwd: root, encoding: "utf8", timeout: EXAMPLE_LIMIT_MS },
);
if (simulation.status !== 0) failed += 1;
process.stdout.write(
  `example simulation: ${simulation.status === 0 ? "ok" : `exit ${simulation.status}\n${simulation.stdout}${simulation.stderr}`}\n`,
);
process.exitCode = failed === 0 && programs.length > 0 ? 0 : 1;
