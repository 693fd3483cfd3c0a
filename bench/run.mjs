/**
 * The benchmark harness: `npm run bench -- [NAME ...] [--json FILE] [--quick]`. Each benchmark measures Kron and its
 * peers in the same run and reports ratios, because absolute figures say more about the machine than about the program.
 */
import { spawnSync } from "node:child_process";
import { existsSync, statSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { machine } from "./lib/measure.mjs";
import { markdown } from "./lib/report.mjs";

const BENCHMARKS = {
  core: () => import("./core/index.mjs"),
  scheduler: () => import("./scheduler/index.mjs"),
};
const folder = fileURLToPath(new URL(".", import.meta.url));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: "string" }, quick: { type: "boolean", default: false } },
});
const names = positionals.length > 0 ? positionals : Object.keys(BENCHMARKS);
const unknown = names.filter((name) => !(name in BENCHMARKS));
if (unknown.length > 0) {
  process.stderr.write(`bench: unknown name ${unknown.join(", ")}; there is: ${Object.keys(BENCHMARKS).join(", ")}\n`);
  process.exit(1);
}

/** Peers live in a package of their own, so that installing Kron never installs them. */
function installPeers() {
  const installed = `${folder}node_modules/.package-lock.json`;
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(`${folder}package-lock.json`).mtimeMs) return;
  process.stderr.write("bench: installing the peers ...\n");
  const npm = process.env.npm_execpath;
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
  const [command, all] = npm?.endsWith(".js") ? [process.execPath, [npm, ...args]] : ["npm", args];
  const result = spawnSync(command, all, { cwd: folder, encoding: "utf8" });
  if (result.status !== 0)
    process.stderr.write(`bench: the peers cannot be installed and are left out\n${result.stderr}`);
}

installPeers();
const report = { machine: machine(), rows: [], notes: [] };
for (const name of names) {
  const { run } = await BENCHMARKS[name]();
  const { rows, notes } = await run({ isQuick: values.quick });
  report.rows.push(...rows);
  report.notes.push(...notes);
}
process.stdout.write(markdown(report));
if (values.json) writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`);
