/**
 * How late the requests of tenants reach their server, with and without another tenant whose requests go to many servers that
 * accept and never answer: as many of them are due as would take all the room that there is.
 */
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as listen } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Krond } from "../krond/daemon.mjs";
import { compared, thousands } from "../krond/rows.mjs";
import { Socket } from "./socket.mjs";

const FULL = { seconds: 30, rounds: 3 };
const QUICK = { seconds: 5, rounds: 1 };
const FLOOD = { tenant: "flood", endpoints: 1_088, origins: 17 };
const OTHERS = { tenants: ["acme", "beta", "gamma"], endpoints: 10 };
const INTERVAL_MS = 1_000;
const DAY_MS = 86_400_000;
const NEVER_MS = 3_600_000;
const BOOT_LIMIT_MS = 60_000;
const FILLED_MS = 5_000;
const SETTLED_MS = 2_000;

export const FLOOD_NOTE = `P14: a flood is ${thousands(FLOOD.endpoints)} requests of one tenant to ${FLOOD.origins} servers that accept and never answer; ${OTHERS.tenants.length} others send ${OTHERS.tenants.length * OTHERS.endpoints} requests a second. Lateness is from the instant that a request was scheduled for until its server has its head.`;

/** Says how late each request is. */
async function quickServer() {
  const lateness = [];
  const server = createServer((request, response) => {
    lateness.push(Date.now() - Date.parse(request.headers["x-kron-scheduled-for"] ?? ""));
    response.end("thank you");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: urlOf(server), lateness, close: () => closeAll(server) };
}

async function silentServers(count) {
  const sockets = new Set();
  const servers = Array.from({ length: count }, () =>
    listen((socket) => sockets.add(socket.on("error", () => undefined).resume())),
  );
  for (const server of servers) {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  }
  const close = () => {
    for (const socket of sockets) socket.destroy();
    for (const server of servers) server.close();
  };
  return { urls: servers.map(urlOf), open: () => sockets.size, close };
}

function closeAll(server) {
  server.closeAllConnections();
  server.close();
}

function urlOf(server) {
  return `http://127.0.0.1:${server.address().port}/`;
}

async function endpoints(socket, tenant, count, wishOf) {
  const { id: jobId } = await socket.ask({ op: "jobs.create", name: "all" }, tenant);
  const make = (index) => socket.ask({ op: "endpoints.create", jobId, name: `e-${index}`, ...wishOf(index) }, tenant);
  const made = await Promise.all(Array.from({ length: count }, (_, index) => make(index)));
  return made.map(({ id }) => id);
}

async function flood(socket, { urls }) {
  const wish = (index) => ({ url: urls[index % urls.length], baselineIntervalMs: DAY_MS, timeoutMs: NEVER_MS });
  const ids = await endpoints(socket, FLOOD.tenant, FLOOD.endpoints, wish);
  await Promise.all(ids.map((endpointId) => socket.ask({ op: "endpoints.run", endpointId }, FLOOD.tenant)));
  await pause(FILLED_MS);
}

/** null: nothing was sent. */
function percentile(values, part) {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? null;
}

async function round(directory, { seconds }, isFlooded) {
  mkdirSync(directory);
  const config = join(directory, "jobs.yaml");
  writeFileSync(config, 'jobs: []\nhttp: { allow: ["127.0.0.1"] }\n');
  const krond = new Krond({ config, state: join(directory, "state") });
  const [quick, silent] = [await quickServer(), await silentServers(FLOOD.origins)];
  try {
    await krond.ready(BOOT_LIMIT_MS);
    const socket = new Socket(join(directory, "state/krond.sock"));
    if (isFlooded) await flood(socket, silent);
    const wish = () => ({ url: quick.url, baselineIntervalMs: INTERVAL_MS });
    for (const tenant of OTHERS.tenants) await endpoints(socket, tenant, OTHERS.endpoints, wish);
    // Making them is no part of it.
    await pause(SETTLED_MS);
    const { lateness } = quick;
    lateness.length = 0;
    await pause(seconds * 1_000);
    socket.end();
    return { sent: lateness.length / seconds, p50: percentile(lateness, 0.5), p99: percentile(lateness, 0.99) };
  } finally {
    quick.close();
    silent.close();
    await krond.stop();
  }
}

export async function floodRows(directory, { isQuick }) {
  const settings = isQuick ? QUICK : FULL;
  const rounds = { quiet: [], flooded: [] };
  for (let index = 0; index < settings.rounds; index += 1) {
    process.stderr.write(`bench: a flood, round ${index + 1} ...\n`);
    rounds.quiet.push(await round(join(directory, `quiet-${index}`), settings, false));
    rounds.flooded.push(await round(join(directory, `flooded-${index}`), settings, true));
  }
  const beside = { name: "the same without the flood", rounds: rounds.quiet };
  const row = (name, key, unit) => compared({ id: "P14", name, key, unit, ours: rounds.flooded, peer: beside });
  return [
    row("requests of others beside a flood", "sent", "1/s"),
    row("lateness of others beside a flood, p50", "p50", "ms"),
    row("lateness of others beside a flood, p99", "p99", "ms"),
  ];
}
