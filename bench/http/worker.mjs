/** One contender in a process of its own: Kron's supervisor with its store and dispatcher, or a bare client. */

import { mkdirSync } from "node:fs";
import { Agent, request as askNode } from "node:http";
import { Pool } from "undici";

const { contender, task, count, dueInMs, seconds, inFlight, url, directory, entry } = JSON.parse(process.argv[2]);
const SOCKETS = 64;
const LIMIT_MS = 120_000;

async function until(isSo) {
  for (const from = performance.now(); !isSo(); ) {
    if (performance.now() - from > LIMIT_MS) throw new Error(`${contender}: not done after ${LIMIT_MS / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function kron() {
  const { clockBefore, startBench } = await import(entry);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (task === "burst") {
    const clock = clockBefore(dueInMs);
    const dueAt = Date.now() + dueInMs;
    const bench = await startBench(directory, clock, { count, schedule: "* * * * *", url });
    const from = process.cpuUsage();
    await until(() => bench.ended.count >= count);
    const cpu = process.cpuUsage(from);
    const { failed } = bench.ended;
    await bench.close();
    return { dueAt, failed, cpuUs: (cpu.user + cpu.system) / count };
  }
  const bench = await startBench(directory, clockBefore(50_000), { count, schedule: "@yearly", url });
  const cursor = { next: 0 };
  const run = async (untilMs) => {
    while (performance.now() < untilMs) await once(bench, `bench/${cursor.next++ % count}`);
  };
  return sustained(
    (untilMs) => run(untilMs),
    async () => bench.close(),
    () => bench.ended.failed,
  );
}

/** The whole of a run: asked for, claimed, sent, answered, recorded. */
async function once({ supervisor, ended }, identity) {
  const before = ended.count;
  const started = await supervisor.runNow(identity);
  if (!started.ok) throw new Error(started.message);
  if (ended.count === before) await new Promise((resolve) => setImmediate(resolve));
}

async function sustained(run, close, failedOf) {
  await inParallel(run, 1_000);
  const from = process.cpuUsage();
  const startedMs = performance.now();
  await inParallel(run, seconds * 1_000);
  const tookMs = performance.now() - startedMs;
  const cpu = process.cpuUsage(from);
  await close();
  return { failed: failedOf(), seconds: tookMs / 1_000, cpuUs: cpu.user + cpu.system };
}

function inParallel(run, forMs) {
  const untilMs = performance.now() + forMs;
  return Promise.all(Array.from({ length: inFlight }, () => run(untilMs)));
}

/** What a client alone can do: no claim, no record, the same requests over as many connections. */
async function bare(send, close) {
  if (task === "burst") {
    const dueAt = Date.now();
    await Promise.all(Array.from({ length: count }, () => send()));
    await close();
    return { dueAt, failed: 0 };
  }
  const run = async (untilMs) => {
    while (performance.now() < untilMs) await send();
  };
  return sustained(run, close, () => 0);
}

function undiciClient() {
  const pool = new Pool(new URL(url).origin, { connections: SOCKETS, pipelining: 1 });
  const send = async () => {
    const { body } = await pool.request({ path: "/", method: "POST", body: '{"from":"bench"}' });
    await body.dump();
  };
  return bare(send, () => pool.close());
}

function nodeClient() {
  const agent = new Agent({ keepAlive: true, maxSockets: SOCKETS });
  const send = () =>
    new Promise((resolve, reject) => {
      const request = askNode(url, { agent, method: "POST" }, (response) => response.resume().on("end", resolve));
      request.on("error", reject).end('{"from":"bench"}');
    });
  return bare(send, async () => agent.destroy());
}

const CONTENDERS = { kron, undici: undiciClient, node: nodeClient };
process.stdout.write(JSON.stringify(await CONTENDERS[contender]()));
process.exit(0);
