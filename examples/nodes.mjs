/**
 * Two nodes on one database, on this machine: they share the jobs of examples/nodes/jobs.yaml, one of them is killed, and the other
 * goes on with what may run on it. `KRON_EXAMPLE_STORE=postgres://... node examples/nodes.mjs` asserts that no run was begun twice.
 */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const store = process.env.KRON_EXAMPLE_STORE;
if (store === undefined) {
  process.stdout.write("skipped: name a database in KRON_EXAMPLE_STORE, as for krond start --store\n");
  process.exit(0);
}
const program = (name) => fileURLToPath(new URL(`../dist/${name}.js`, import.meta.url));
const jobs = fileURLToPath(new URL("nodes/jobs.yaml", import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "kron-nodes-"));
const LOOK_MS = 200;

async function kron(...args) {
  const { stdout } = await promisify(execFile)(process.execPath, [program("kron"), ...args], { encoding: "utf8" });
  return stdout;
}

async function until(what, holds) {
  for (let tries = 0; tries < 150; tries += 1) {
    if (await holds()) return;
    await sleep(LOOK_MS);
  }
  assert.fail(`${what}: it took too long`);
}

async function startNode(name) {
  const options = ["--store", store, "--store-lease", "5s", "--node", name, "--state", join(directory, name)];
  const child = spawn(process.execPath, [program("krond"), "start", ...options, "--log-format", "json"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    if (JSON.parse(line).event === "ready") break;
  }
  child.stdout.resume();
  return child;
}

const runsOf = async (identity, node) => {
  const history = await kron("history", identity, "--state", join(directory, node), "-o", "json", "-n", "1000");
  return JSON.parse(history).filter(({ outcome }) => outcome === "executed").length;
};

const nodes = [];
try {
  nodes.push(await startNode("first"), await startNode("second"));
  process.stdout.write(await kron("apply", "--store", store, jobs));
  await until(
    "both jobs run",
    async () => (await runsOf("demo/anywhere", "second")) > 0 && (await runsOf("demo/on-the-first", "first")) > 0,
  );
  process.stdout.write(await kron("node", "list", "--store", store));

  nodes[0].kill("SIGKILL");
  await once(nodes[0], "exit");
  const before = await runsOf("demo/anywhere", "second");
  await until("the other node goes on", async () => (await runsOf("demo/anywhere", "second")) > before + 1);
  process.stdout.write(await kron("node", "list", "--store", store));

  const history = JSON.parse(
    await kron("history", "demo/anywhere", "--state", join(directory, "second"), "-o", "json", "-n", "1000"),
  );
  const slots = history.map(({ period_id }) => period_id);
  assert.equal(new Set(slots).size, slots.length, "no run was begun twice");
} finally {
  for (const node of nodes.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)) {
    node.kill("SIGTERM");
    await once(node, "exit");
  }
  rmSync(directory, { recursive: true, force: true });
}
