/** One contender with one number of tasks: a server of its own, a process of its own, and what was seen. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { CutOff, WorkerProcess } from "../lib/worker-process.mjs";
import { CONTENDERS } from "./contenders.mjs";
import { startPostgres } from "./postgres.mjs";
import { startRedis } from "./redis.mjs";
import { makeFolders, NotAvailable } from "./service.mjs";

const WORKER = fileURLToPath(new URL("./worker.mjs", import.meta.url));
const SECOND_MS = 1_000;
const START_LIMIT_MS = 30_000;
const REGISTER_LIMIT_MS = 180_000;
const FIRE_LIMIT_MS = 120_000;
/** All is planned at least so long before it is due, so that the contender has come to rest. */
const CALM_MS = 2_000;

const SERVERS = {
  redis: () => startRedis({ isDurable: false }),
  "redis-durable": () => startRedis({ isDurable: true }),
  postgres: startPostgres,
};

export const TOO_LATE = "planning took so long that the tasks were due before all were planned";

function versionOf(contender) {
  const name = CONTENDERS[contender].package;
  if (name === undefined) return null;
  const file = new URL(`../node_modules/${name}/package.json`, import.meta.url);
  if (!existsSync(file)) throw new NotAvailable(`${name} is not installed`);
  return JSON.parse(readFileSync(file, "utf8")).version;
}

async function lead(worker, leadMs) {
  await worker.next("ready", START_LIMIT_MS, "loading");
  const dueAt = Math.ceil((Date.now() + leadMs + CALM_MS) / SECOND_MS) * SECOND_MS;
  worker.send("register", { dueAt });
  const { registrationMs } = await worker.next("registered", REGISTER_LIMIT_MS, "planning");
  if (Date.now() > dueAt - CALM_MS / 2) throw new CutOff(TOO_LATE, { cause: registrationMs });
  const limitMs = dueAt - Date.now() + FIRE_LIMIT_MS;
  const fired = await worker.next("fired", limitMs, "firing").catch(async (error) => {
    worker.send("report");
    const partial = await worker.next("fired", START_LIMIT_MS, "firing").catch(() => null);
    throw partial === null
      ? error
      : new CutOff(`only ${partial.count} callbacks came within ${FIRE_LIMIT_MS / 1000} s`);
  });
  return { registrationMs, ...fired };
}

/** `leadMs`: how long planning is expected to take. */
export async function measureCell(contender, { count, leadMs }) {
  const folders = makeFolders("queue");
  let server = null;
  let worker = null;
  try {
    const version = versionOf(contender);
    server = (await SERVERS[CONTENDERS[contender].server]?.()) ?? null;
    const environment = JSON.stringify({ directory: folders.data, connection: server?.connection });
    worker = new WorkerProcess(WORKER, contender, count, environment);
    const result = await lead(worker, leadMs);
    return { ...result, version, serverVersion: server?.version ?? null };
  } catch (error) {
    if (error instanceof NotAvailable) return { failure: error.message };
    if (error instanceof CutOff) return { failure: error.message, registrationMs: error.cause };
    throw error;
  } finally {
    await worker?.end();
    await server?.stop();
    folders.remove();
  }
}
