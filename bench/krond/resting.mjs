/**
 * Everybody who can hold jobs that are not due for long: krond, the in-process schedulers in a process of their own each,
 * and Debian's cron. All of them rest beside each other, so that what is measured of one is measured of all in the same
 * time.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { fineCpuMsOf, memoryOf } from "../lib/proc.mjs";
import { WorkerProcess } from "../lib/worker-process.mjs";
import { PEERS } from "../scheduler/registrars.mjs";
import { Krond } from "./daemon.mjs";
import { cronRefusal, cronVersion, DebianCron } from "./debian-cron.mjs";
import { crontabLine, crontabs, jsonLines, restingExpression, restingJob } from "./jobs.mjs";

export const KROND = "krond";
const PEER_WORKER = fileURLToPath(new URL("../scheduler/worker.mjs", import.meta.url));
const BOOT_LIMIT_MS = 20 * 60_000;
const REGISTER_LIMIT_MS = 180_000;
const LOAD_LIMIT_MS = 30_000;
const HOURS_AWAY_MS = 12 * 3_600_000;
/** Beyond so many jobs only those hold them who are meant to. */
const MOST_OF_PEERS = 100_000;
const CRON_QUIET_MS = 500;
const CRON_LIMIT_MS = 600_000;

export function cronName() {
  return cronRefusal() === null ? `Debian cron ${cronVersion()}` : "Debian cron";
}

async function holdWithKrond(directory, count, isCollectable) {
  const config = join(directory, "jobs.jsonl");
  const now = Date.now();
  writeFileSync(config, jsonLines(Array.from({ length: count }, (_, index) => restingJob(index, now))));
  const probe = isCollectable ? join(directory, "loop.json") : null;
  const krond = new Krond({ config, state: join(directory, "state"), probe, isCollectable });
  try {
    await krond.ready(BOOT_LIMIT_MS);
  } catch (error) {
    await krond.stop();
    throw error;
  }
  const first = krond.memory();
  const collect = async () => void (await krond.loopDelay());
  return { first, collect, memory: () => krond.memory(), cpuMs: () => krond.cpuMs(), stop: () => krond.stop() };
}

/** Registered, and what it has dropped is collected: garbage is not held against it. */
async function holdWithPeer(directory, count, library) {
  if (count > MOST_OF_PEERS) throw new Error(`not tried with more than ${MOST_OF_PEERS}`);
  const worker = new WorkerProcess(PEER_WORKER, library, count, directory);
  try {
    await worker.next("ready", LOAD_LIMIT_MS, "loading");
    worker.send("register", { dueAt: Math.ceil((Date.now() + HOURS_AWAY_MS) / 60_000) * 60_000 });
    await worker.next("registered", REGISTER_LIMIT_MS, "registering");
    const first = memoryOf(worker.pid);
    await worker.settled("collecting garbage");
    const { pid } = worker;
    const collect = async () => void (await worker.settled("collecting garbage"));
    return { first, collect, memory: () => memoryOf(pid), cpuMs: () => fineCpuMsOf([pid]), stop: () => worker.end() };
  } catch (error) {
    await worker.end();
    throw error;
  }
}

async function holdWithCron(directory, count) {
  const refusal = cronRefusal();
  if (refusal !== null) throw new Error(refusal);
  const now = Date.now();
  const lines = Array.from({ length: count }, (_, index) => crontabLine(restingExpression(index, now), "/bin/true"));
  const cron = new DebianCron({ directory, tables: crontabs(lines) });
  try {
    await quiet(cron);
  } catch (error) {
    await cron.stop();
    throw error;
  }
  const collect = async () => {};
  return {
    first: cron.memory(),
    collect,
    memory: () => cron.memory(),
    cpuMs: () => cron.cpuMs(),
    stop: () => cron.stop(),
  };
}

/** It says nothing when it has read its tables; it has when it does nothing any more. */
async function quiet(cron) {
  const giveUpAt = Date.now() + CRON_LIMIT_MS;
  let before = -1;
  for (;;) {
    await wait(CRON_QUIET_MS);
    if (!cron.isRunning) throw new Error(`cron ended: ${cron.lastWords}`);
    const now = cron.cpuMs();
    if (now === before || Date.now() > giveUpAt) return;
    before = now;
  }
}

/**
 * Starts all of them, one after another, hands over those that hold the jobs and ends them. `absent` says why somebody
 * does not. Of each there is its memory at `first` and now, its processor time, and, where `isCollectable`, a way to let it
 * collect its garbage.
 */
export async function withHolders(root, { count, isCollectable }, use) {
  const directory = join(root, `holders-${count}-${process.hrtime.bigint()}`);
  const makers = {
    [KROND]: (place) => holdWithKrond(place, count, isCollectable),
    ...Object.fromEntries(PEERS.map((library) => [library, (place) => holdWithPeer(place, count, library)])),
    [cronName()]: (place) => holdWithCron(place, count),
  };
  const [holders, absent] = [new Map(), new Map()];
  try {
    for (const [name, hold] of Object.entries(makers)) {
      const place = join(directory, name.replaceAll(/\W/g, "-"));
      mkdirSync(place, { recursive: true });
      try {
        holders.set(name, await hold(place));
      } catch (error) {
        absent.set(name, error.message);
      }
    }
    if (absent.has(KROND)) throw new Error(absent.get(KROND));
    return await use(holders, absent);
  } finally {
    for (const holder of holders.values()) await holder.stop();
  }
}
