/** Real daemons on one database, that send requests to this process: how late they come, and what the death of one costs. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { restingJob } from "../krond/jobs.mjs";
import { memoryOf } from "../lib/proc.mjs";

const program = (name) => fileURLToPath(new URL(`../../dist/${name}.js`, import.meta.url));
const PERIOD_MS = 1_000;

class Node {
  constructor({ store, directory, name, leaseSeconds }) {
    const state = join(directory, name);
    const options = ["--store", store, "--store-lease", `${leaseSeconds}s`, "--node", name, "--state", state];
    this.state = state;
    this.child = spawn(
      process.execPath,
      [program("krond"), "start", ...options, "--allow-private", "--log-format", "json"],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    this.exited = once(this.child, "exit");
  }

  async ready() {
    for await (const line of createInterface({ input: this.child.stdout })) {
      if (line.includes('"event":"ready"')) break;
    }
    this.child.stdout.resume();
  }

  async end(signal) {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill(signal);
    await this.exited;
  }
}

/** Counts what comes, by job: when it was due, and when it was here. */
async function receiver() {
  const seen = new Map();
  const server = createServer((request, response) => {
    const [, job] = request.url.split("/");
    const times = seen.get(job) ?? [];
    times.push({ dueAt: Date.parse(request.headers["x-kron-scheduled-for"]), at: Date.now() });
    seen.set(job, times);
    response.writeHead(204).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { seen, port: server.address().port, close: () => new Promise((resolve) => void server.close(resolve)) };
}

async function apply(store, directory, jobs) {
  const file = join(directory, "jobs.jsonl");
  writeFileSync(file, `${jobs.map((job) => JSON.stringify(job)).join("\n")}\n`, { mode: 0o600 });
  const args = [program("kron"), "apply", "--store", store, "--allow-private", "--wait", "300s", "-o", "json", file];
  const { stdout } = await promisify(execFile)(process.execPath, args, { encoding: "utf8", maxBuffer: 2 ** 28 });
  return JSON.parse(stdout);
}

async function withNodes(count, place, use) {
  mkdirSync(place.directory, { recursive: true });
  const names = Array.from({ length: count }, (_, index) => `n${index + 1}`);
  const nodes = names.map((name) => new Node({ ...place, name }));
  try {
    for (const node of nodes) await node.ready();
    return await use(nodes);
  } finally {
    for (const node of nodes) await node.end("SIGKILL");
  }
}

function requestJobs(count, port) {
  return Array.from({ length: count }, (_, index) => ({
    identity: `bench/request-${index}`,
    every: `${PERIOD_MS}ms`,
    http: { url: `http://127.0.0.1:${port}/${index}` },
  }));
}

function quantile(values, share) {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

/** How late requests come that are due once a second each, in milliseconds. */
export async function latenessOf(count, place, { jobs, settleMs, seconds }) {
  const { seen, port, close } = await receiver();
  try {
    return await withNodes(count, place, async () => {
      await apply(place.store, place.directory, requestJobs(jobs, port));
      await wait(settleMs);
      seen.clear();
      await wait(seconds * 1_000);
      const lates = [...seen.values()].flat().map(({ dueAt, at }) => at - dueAt);
      return { rate: lates.length / seconds, p50: quantile(lates, 0.5), p99: quantile(lates, 0.99) };
    });
  } finally {
    await close();
  }
}

/** From the death of one of three until every job that it had has run again, in seconds; less the time that it would have waited anyway. */
export async function takeoverOf(place, { jobs, settleMs, leaseSeconds }) {
  const { seen, port, close } = await receiver();
  try {
    return await withNodes(3, { ...place, leaseSeconds }, async (nodes) => {
      await apply(place.store, place.directory, requestJobs(jobs, port));
      await wait(settleMs);
      await nodes[1].end("SIGKILL");
      await wait(3 * leaseSeconds * 1_000);
      const gaps = [...seen.values()].map((times) => {
        const at = times.map((one) => one.at);
        return Math.max(...at.slice(1).map((later, index) => later - at[index]));
      });
      const lost = gaps.filter((gap) => gap > 2 * PERIOD_MS).map((gap) => (gap - PERIOD_MS) / 1_000);
      return { p50: quantile(lost, 0.5), most: Math.max(...lost), jobs: lost.length };
    });
  } finally {
    await close();
  }
}

/** Memory of a node with so many jobs that rest, less that of one with none, by the number of jobs. */
export async function memoryOfJobs(place, { count, settleMs }) {
  return withNodes(1, place, async ([node]) => {
    await apply(place.store, place.directory, [restingJob(0, Date.now())]);
    await wait(settleMs);
    const before = memoryOf(node.child.pid).anonymous;
    const jobs = Array.from({ length: count }, (_, index) => restingJob(index, Date.now()));
    const from = performance.now();
    await apply(place.store, place.directory, jobs);
    const applySeconds = (performance.now() - from) / 1_000;
    await wait(settleMs);
    const { anonymous } = memoryOf(node.child.pid);
    return { bytes: (anonymous - before) / count, whole: anonymous, applySeconds };
  });
}
