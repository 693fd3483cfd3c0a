/**
 * The benchmark harness: `npm run bench -- [NAME ...] [--json FILE] [--quick | --full] [--against DIR]`. Each benchmark measures Kron and
 * its peers in the same run and reports ratios, because absolute figures say more about the machine than about the program.
 * `--against DIR` measures the built copy of another version of Kron that lies there as one more
 * peer. `--full` adds what needs a million jobs, `--save` keeps the data in bench/results. `--document [FILE.json ...]` measures
 * nothing: it writes docs/benchmarks.md from what was measured (without files, from bench/results), and with `--check` it
 * only says whether the page would change.
 */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { saveResult, writeDocument } from "./lib/document.mjs";
import { machine } from "./lib/measure.mjs";
import { isInstalled, npmCi } from "./lib/npm.mjs";
import { previousIn } from "./lib/previous.mjs";
import { markdown } from "./lib/report.mjs";
import { readArguments } from "./lib/usage.mjs";

const BENCHMARKS = {
  core: () => import("./core/index.mjs"),
  pool: () => import("./pool/index.mjs"),
  forecast: () => import("./forecast/index.mjs"),
  scheduler: () => import("./scheduler/index.mjs"),
  queues: () => import("./queues/index.mjs"),
  growth: () => import("./growth/index.mjs"),
  cli: () => import("./cli/index.mjs"),
  steps: () => import("./steps/index.mjs"),
  fire: () => import("./krond/fire.mjs"),
  commit: () => import("./krond/commit.mjs"),
  boot: () => import("./krond/boot.mjs"),
  idle: () => import("./krond/idle.mjs"),
  memory: () => import("./krond/memory.mjs"),
  lists: () => import("./krond/lists.mjs"),
  page: () => import("./page/index.mjs"),
  operator: () => import("./operator/index.mjs"),
  http: () => import("./http/index.mjs"),
  endpoints: () => import("./endpoints/index.mjs"),
  postgres: () => import("./postgres/index.mjs"),
  nodes: () => import("./nodes/index.mjs"),
};
/** Names for several at once. */
const GROUPS = { krond: ["fire", "commit", "boot", "idle", "memory", "lists"] };
/** Those that can measure another version of Kron beside this one. */
const COMPARING = ["steps", "fire", "commit", "boot"];
const folder = fileURLToPath(new URL(".", import.meta.url));

const read = readArguments(process.argv.slice(2), [...Object.keys(BENCHMARKS), ...Object.keys(GROUPS)]);
if (read.exit !== null) {
  process.stdout.write(read.out ?? "");
  process.stderr.write(read.err ?? "");
  process.exit(read.exit);
}
const { values, positionals } = read;
if (values.document) process.exit(writeDocument(positionals, { isCheck: values.check }));
const everything = values.against === undefined ? Object.keys(BENCHMARKS) : COMPARING;
const names = positionals.length > 0 ? positionals.flatMap((name) => GROUPS[name] ?? name) : everything;
const against = previousOrNull();

function previousOrNull() {
  if (values.against === undefined) return null;
  const deaf = names.filter((name) => !COMPARING.includes(name));
  if (deaf.length > 0) refuse(`--against goes with ${COMPARING.join(", ")}; ${deaf.join(", ")} cannot be compared`);
  try {
    return previousIn(values.against);
  } catch (error) {
    return refuse(error.message);
  }
}

function refuse(message) {
  process.stderr.write(`bench: ${message}\n`);
  process.exit(2);
}

/** Peers live in a package of their own, so that installing Kron never installs them. */
function installPeers() {
  if (isInstalled(folder)) return;
  process.stderr.write("bench: installing the peers ...\n");
  const failure = npmCi(folder);
  if (failure !== null) process.stderr.write(`bench: the peers cannot be installed and are left out\n${failure}\n`);
}

installPeers();
const report = { date: new Date().toISOString(), machine: machine(), rows: [], notes: [] };
for (const name of names) {
  const own = { date: new Date().toISOString(), machine: machine() };
  const { run } = await BENCHMARKS[name]();
  const { rows, notes } = await run({ isQuick: values.quick, isFull: values.full, against });
  report.rows.push(...rows);
  report.notes.push(...notes);
  if (values.save) saveResult(name, { ...own, rows, notes });
}
process.stdout.write(markdown(report));
if (values.json) writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`);
