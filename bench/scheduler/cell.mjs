/**
 * One library with one number of tasks: starts the process, leads it through registering, resting and firing, and reads
 * its memory and processor time from outside.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { cpuMsOf, memoryOf } from "../lib/proc.mjs";
import { CutOff, WorkerProcess } from "../lib/worker-process.mjs";

const WORKER = fileURLToPath(new URL("./worker.mjs", import.meta.url));
/** On the disk of the checkout: a temporary directory may be memory, where being durable costs nothing. */
const CACHE = fileURLToPath(new URL("../../node_modules/.cache/", import.meta.url));
const START_LIMIT_MS = 30_000;
/** Between the end of the idle window and the moment when all is due. */
const CALM_MS = 1_000;

/** The library was slower than expected: worth another try with a longer lead. */
export const NO_TIME_TO_REST = "registering took so long that the tasks were due before they could be seen resting";

/** The first whole slot (a second, or a minute) that leaves the library time to register and to be seen resting. */
function dueAfter(leadMs, slotMs) {
  return Math.ceil((Date.now() + leadMs) / slotMs) * slotMs;
}

/** Registering begins right after a boundary, so that the next one is the one at which everything is due. */
async function afterBoundary(slotMs) {
  if (slotMs > 1_000) await wait(slotMs - (Date.now() % slotMs) + 50);
}

async function idleShare(pid, idleMs) {
  const cpuBefore = cpuMsOf(pid);
  const startedAt = performance.now();
  await wait(idleMs);
  return (cpuMsOf(pid) - cpuBefore) / (performance.now() - startedAt);
}

async function lead(worker, { count, leadMs, settings }, result) {
  const { slotMs, idleMs, registerLimitMs, fireLimitMs } = settings;
  await worker.next("ready", START_LIMIT_MS, "loading");
  const before = await worker.settled("loading");
  await afterBoundary(slotMs);
  const dueAt = dueAfter(leadMs + idleMs + 2 * CALM_MS, slotMs);
  worker.send("register", { dueAt });
  const { registrationMs } = await worker.next("registered", registerLimitMs, "registering");
  result.registrationMs = registrationMs;
  const after = await worker.settled("collecting garbage");
  result.bytesPerTask = (after.anonymous - before.anonymous) / count;
  result.fileBytesPerTask = (after.file - before.file) / count;
  const spareMs = dueAt - Date.now() - CALM_MS;
  if (spareMs < idleMs) throw new CutOff(NO_TIME_TO_REST);
  result.idleShare = await idleShare(worker.pid, idleMs);
  result.restingBytesPerTask = (memoryOf(worker.pid).anonymous - before.anonymous) / count;
  await fire(worker, { count, dueAt, fireLimitMs }, result);
}

async function fire(worker, { count, dueAt, fireLimitMs }, result) {
  const limitMs = dueAt - Date.now() + fireLimitMs;
  const fired = await worker.next("fired", limitMs, "firing").catch(async () => {
    worker.send("report");
    return worker.next("fired", fireLimitMs, "firing");
  });
  if (fired.count < count) {
    throw new CutOff(`only ${fired.count} callbacks came within ${Math.round(fireLimitMs / 1000)} s`);
  }
  Object.assign(result, { p50: fired.p50, p99: fired.p99, max: fired.max });
}

/** `leadMs`: how long registering is expected to take. What could be measured is in the result, why not all in `cutOff`. */
export async function measureCell(library, { count, leadMs, settings }) {
  mkdirSync(CACHE, { recursive: true });
  const directory = mkdtempSync(join(CACHE, "bench-scheduler-"));
  const worker = new WorkerProcess(WORKER, library, count, directory);
  const result = {};
  try {
    await lead(worker, { count, leadMs, settings }, result);
  } catch (error) {
    if (!(error instanceof CutOff)) throw error;
    result.cutOff = error.message;
  } finally {
    await worker.end();
    rmSync(directory, { recursive: true, force: true });
  }
  return result;
}
