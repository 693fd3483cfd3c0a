/** One contender in a process of its own: Kron's supervisor with its store and dispatcher, a queue, or a bare client. */

import { mkdirSync } from "node:fs";
import { Agent, request as askNode } from "node:http";
import { basename } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { Pool } from "undici";
import { QUEUES } from "./queues.mjs";

const settings = JSON.parse(process.argv[2]);
const { contender, task, count, dueInMs, seconds, rate, inFlight, url, directory, entry, connection } = settings;
/** So many are planned for each second of a queue that is to be kept busy: more than any of them sends. */
const PLANNED_A_SECOND = 4_000;
const SOCKETS = 64;
const LIMIT_MS = 120_000;
const LOOP_RESOLUTION_MS = 1;
const SECOND_MS = 1_000;
/** Until everything that is due each second has been so a few times. */
const WARM_MS = 5_000;
const REST_MS = 365 * 86_400_000;

async function until(isSo) {
  for (const from = performance.now(); !isSo(); ) {
    if (performance.now() - from > LIMIT_MS) throw new Error(`${contender}: not done after ${LIMIT_MS / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** From `firstAt` on as far apart as possible, `rate` of them in each second. */
function pacedMoments(firstAt) {
  return Array.from({ length: rate * seconds }, (_, index) => firstAt + Math.floor((index * 1_000) / rate));
}

/** The first whole second that lies so far ahead. */
function firstSecond() {
  return Math.ceil((Date.now() + dueInMs) / 1_000) * 1_000;
}

/** Since it was begun, in milliseconds. */
function loopDelay() {
  const histogram = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
  histogram.enable();
  return () => histogram.percentile(99) / 1e6;
}

function jobs(schedule) {
  return Array.from({ length: count }, (_, index) => ({ identity: `bench/${index}`, schedule }));
}

async function kron() {
  const { clockBefore, startBench, systemClock } = await import(entry);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (task === "paced") return pacedEndpoints(await startBench(directory, systemClock, { jobs: [], url }));
  if (task === "burst") {
    const clock = clockBefore(dueInMs);
    const dueAt = Date.now() + dueInMs;
    const bench = await startBench(directory, clock, { jobs: jobs("* * * * *"), url });
    const from = process.cpuUsage();
    await until(() => bench.ended.count >= count);
    const cpu = process.cpuUsage(from);
    const { failed } = bench.ended;
    await bench.close();
    return { dueAt, failed, cpuUs: (cpu.user + cpu.system) / count };
  }
  const bench = await startBench(directory, systemClock, { jobs: [], url });
  const identities = await bench.defineEndpoints(count, REST_MS);
  const cursor = { next: 0 };
  const run = async (untilMs) => {
    while (performance.now() < untilMs) await once(bench, identities[cursor.next++ % count]);
  };
  return sustained(
    (untilMs) => run(untilMs),
    async () => bench.close(),
    () => bench.ended.failed,
  );
}

/** As many endpoints as requests a second, each of them due every second. */
async function pacedEndpoints(bench) {
  await bench.defineEndpoints(rate, SECOND_MS);
  await new Promise((resolve) => setTimeout(resolve, WARM_MS));
  // What came by now is forgotten there.
  await (await fetch(`${url}arrivals`)).json();
  const delay = loopDelay();
  await new Promise((resolve) => setTimeout(resolve, seconds * SECOND_MS));
  const { late, twice } = await (await fetch(`${url}arrivals`)).json();
  const loop = delay();
  const { failed } = bench.ended;
  await bench.close();
  return { late, twice, failed, loop };
}

function mustBeAhead(firstAt) {
  if (Date.now() >= firstAt)
    throw new Error(`${contender}: planning took so long that requests were due before its end`);
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

/** Each job of the queue is one request. */
async function queue() {
  const pool = new Pool(new URL(url).origin, { connections: SOCKETS, pipelining: 1 });
  const opened = await QUEUES[contender]({ connection, name: `bench-${basename(directory)}` });
  const isDue = task !== "sustained";
  const firstAt = isDue ? firstSecond() : Date.now();
  const planned = Array.from({ length: task === "burst" ? count : PLANNED_A_SECOND * seconds }, () => firstAt);
  const moments = task === "paced" ? pacedMoments(firstAt) : planned;
  await opened.plan(moments);
  if (isDue) mustBeAhead(firstAt);
  let sent = 0;
  const send = async (dueAt) => {
    const headers = { "x-kron-scheduled-for": new Date(dueAt).toISOString() };
    const { body } = await pool.request({ path: "/", method: "POST", headers, body: '{"from":"bench"}' });
    await body.dump();
    sent += 1;
  };
  const stop = await opened.work(send, inFlight);
  const delay = loopDelay();
  const from = process.cpuUsage();
  const startedMs = performance.now();
  const isOver = () => sent >= moments.length || (!isDue && performance.now() - startedMs > seconds * 1_000);
  await until(isOver);
  const cpu = process.cpuUsage(from);
  const loop = delay();
  await stop();
  await pool.close();
  return { dueAt: firstAt, failed: 0, loop, cpuUs: cpu.user + cpu.system };
}

const CONTENDERS = { kron, undici: undiciClient, node: nodeClient, bullmq: queue, pgboss: queue };
process.stdout.write(JSON.stringify(await CONTENDERS[contender]()));
process.exit(0);
