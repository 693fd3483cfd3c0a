/** A server that lives as long as the benchmark needs it: its folders, its start, and its end whatever happens. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** On the disk of the checkout: a temporary directory may be memory, where being durable costs nothing. */
const CACHE = fileURLToPath(new URL("../../node_modules/.cache/", import.meta.url));
const START_LIMIT_MS = 30_000;
const LOOK_MS = 50;
const STOP_LIMIT_MS = 10_000;

export class NotAvailable extends Error {}

/** What a command prints, or null when there is no such command. */
export function outputOf(command, args) {
  const result = spawnSync(command, args, { encoding: "utf8" });
  return result.status === 0 ? result.stdout.trim() : null;
}

/** Data on the disk; sockets, whose paths must be short, where temporary files go. */
export function makeFolders(name) {
  mkdirSync(CACHE, { recursive: true });
  const data = mkdtempSync(join(CACHE, `bench-${name}-`));
  const sockets = mkdtempSync(join(tmpdir(), `kron-bench-${name}-`));
  const remove = () => {
    for (const folder of [data, sockets]) rmSync(folder, { recursive: true, force: true });
  };
  return { data, sockets, remove };
}

/** Resolves when `isReady(said)` does; `said` is what the server has said so far. Returns the way to end it. */
export async function startServer({ command, args, options = {}, isReady, stopSignal = "SIGTERM" }) {
  const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  const listen = (text) => {
    said = (said + text).slice(-20_000);
  };
  child.stdout.setEncoding("utf8").on("data", listen);
  child.stderr.setEncoding("utf8").on("data", listen);
  child.on("error", (error) => listen(error.message));
  const ended = once(child, "close");
  const endWithUs = () => child.kill("SIGKILL");
  process.on("exit", endWithUs);
  const stop = async () => {
    process.off("exit", endWithUs);
    child.kill(stopSignal);
    const timer = setTimeout(() => child.kill("SIGKILL"), STOP_LIMIT_MS);
    await ended.catch(() => {});
    clearTimeout(timer);
  };
  const giveUpAt = Date.now() + START_LIMIT_MS;
  while (!(await isReady(said))) {
    const isGone = child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
    if (isGone || Date.now() > giveUpAt) {
      await stop();
      throw new NotAvailable(`${command} did not start: ${said.trim().split("\n").at(-1)}`);
    }
    await wait(LOOK_MS);
  }
  return stop;
}
