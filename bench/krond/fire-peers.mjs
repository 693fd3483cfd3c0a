/** The others who start a number of processes at one moment; each gives one round: when it was due, and the stamps. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { eventually, until } from "../lib/workplace.mjs";
import { DebianCron } from "./debian-cron.mjs";
import { crontabLine, crontabs } from "./jobs.mjs";
import { readStamps } from "./stamps.mjs";

const LEAD_MS = 500;
/** A shell is ready in a quarter of this. */
const GATE_LEAD_MS = 3;
const NODE_LEAD_MS = 200;
const NODE_LIMIT_MS = 300_000;
const CRON_LIMIT_MS = 50_000;
/** Cron has read its tables long before. */
const CRON_LEAD_S = 5;
const MINUTE_MS = 60_000;

/** Everybody has begun: of those that are still missing nothing is heard any more. */
export async function stampsOf(file, count, limitMs) {
  await eventually(() => readStamps(file).length >= count, limitMs, "starting").catch(() => null);
  return readStamps(file);
}

/** Gates like Kron's, made ready by a C program and released by it: the limit for whoever holds processes ready. */
export async function gatesRound({ spawner, script, file, count }) {
  const dueAt = Date.now() + LEAD_MS + count * GATE_LEAD_MS;
  const child = spawn(spawner, ["gates", String(count), String(dueAt), script, spawner, file], { stdio: "ignore" });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`the C program with the gates ended with ${code}`);
  return { dueAt, stamps: readStamps(file) };
}

/** Two processes that do nothing but posix_spawn, the fastest way there is. */
export async function spawnersRound({ spawner, file, count }) {
  const dueAt = Date.now() + LEAD_MS;
  const child = spawn(spawner, ["spawn", String(count), "2", String(dueAt), spawner, file], { stdio: "ignore" });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`the C spawners ended with ${code}`);
  return { dueAt, stamps: readStamps(file) };
}

/** child_process.spawn from a process with a heap of 1 GB. */
export class NodeSpawner {
  #child;

  constructor(count, command) {
    const worker = new URL("./node-spawner.mjs", import.meta.url).pathname;
    const args = ["--max-old-space-size=4096", worker, String(count), ...command];
    this.#child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  }

  async round(file) {
    await this.#message("ready");
    const dueAt = Date.now() + NODE_LEAD_MS;
    this.#child.send({ at: dueAt });
    const { loopDelayMs } = await this.#message("ended");
    return { dueAt, stamps: readStamps(file), loopDelayMs };
  }

  async #message(type) {
    const signal = AbortSignal.timeout(NODE_LIMIT_MS);
    for (;;) {
      const [message] = await Promise.race([
        once(this.#child, "message", { signal }),
        once(this.#child, "exit", { signal }).then(() => [{ type: "over" }]),
      ]);
      if (message.type === type) return message;
      if (message.type === "over") throw new Error("the Node spawner ended early");
    }
  }

  async stop() {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill("SIGKILL");
    await once(this.#child, "exit");
  }
}

/**
 * So many minutes, one after another; with a shifted clock there is one, and it begins at once. All starts go into one
 * file: whoever comes after the next minute began counts as one of that.
 */
export async function cronRounds({ directory, stamp, count, rounds, shiftLibrary }) {
  const home = join(directory, `cron-${process.hrtime.bigint()}`);
  mkdirSync(home);
  const file = join(home, "stamps");
  const lines = Array.from({ length: count }, () => crontabLine("* * * * *", stamp(file).join(" ")));
  const { firstAt, shift } = firstMinute(shiftLibrary);
  const cron = new DebianCron({ directory: home, tables: crontabs(lines), shift });
  try {
    const done = [];
    for (let index = 0; index < (shift === null ? rounds : 1); index += 1) {
      const dueAt = firstAt + index * MINUTE_MS;
      await until(dueAt);
      const stamps = await stampsOf(file, count * (index + 1), CRON_LIMIT_MS);
      if (!cron.isRunning) throw new Error(`cron ended: ${cron.lastWords}`);
      done.push({ dueAt, stamps: stamps.filter((at) => at >= dueAt) });
    }
    return done;
  } finally {
    await cron.stop();
  }
}

function firstMinute(library) {
  if (library === null) {
    return { firstAt: Math.ceil((Date.now() + CRON_LEAD_S * 1000) / MINUTE_MS) * MINUTE_MS, shift: null };
  }
  const atS = Math.floor(Date.now() / 1000) + CRON_LEAD_S;
  return { firstAt: atS * 1000, shift: { library, seconds: 60 - (atS % 60) } };
}
