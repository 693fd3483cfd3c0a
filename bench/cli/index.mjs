/** P13: what people wait for before a command says anything, beside Node that does nothing. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { compared } from "../krond/rows.mjs";

const KRON = fileURLToPath(new URL("../../dist/kron.js", import.meta.url));
const ROUNDS = 21;
const QUICK_ROUNDS = 3;

const COMMANDS = [
  ["kron --version", [KRON, "--version"]],
  ["kron --help", [KRON, "--help"]],
  ["kron completion bash", [KRON, "completion", "bash"]],
  ["kron list, where there is no state", [KRON, "list", "--state", "/nonexistent"], 1],
];
const NOTHING = ["-e", ""];

function tookMs(args, expected = 0) {
  const startedMs = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== expected) throw new Error(`bench: ${args.join(" ")} ended with ${status}\n${stderr}`);
  return performance.now() - startedMs;
}

/** In turns, so that what else the machine does falls on both. */
function measured([name, args, expected], rounds) {
  const ours = [];
  const theirs = [];
  for (let round = 0; round < rounds; round += 1) {
    theirs.push({ ms: tookMs(NOTHING) });
    ours.push({ ms: tookMs(args, expected) });
  }
  return compared({ id: "P13", name, key: "ms", unit: "ms", ours, peer: { name: 'node -e ""', rounds: theirs } });
}

export async function run({ isQuick }) {
  const rows = COMMANDS.map((command) => measured(command, isQuick ? QUICK_ROUNDS : ROUNDS));
  return { rows, notes: [] };
}
