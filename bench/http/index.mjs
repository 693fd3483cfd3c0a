/**
 * Requests. P7: many due in one second, claims durable, lateness as the server sees it. P9: as many as possible for some
 * time, with ledger and records. Beside the clients alone, which claim nothing and record nothing: the physical limit.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { compared, thousands } from "../krond/rows.mjs";
import { bundle } from "../lib/bundle.mjs";
import { inWorkplace } from "../lib/workplace.mjs";
import { startPostgres } from "../queues/postgres.mjs";
import { startRedis } from "../queues/redis.mjs";
import { NotAvailable } from "../queues/service.mjs";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const FULL = { burst: 10_000, burstRounds: 3, dueInMs: 30_000, seconds: 20, rounds: 3, rate: 3_000, pacedSeconds: 10 };
const QUICK = { burst: 1_000, burstRounds: 1, dueInMs: 6_000, seconds: 2, rounds: 1, rate: 500, pacedSeconds: 2 };
const IN_FLIGHT = 256;
const JOBS = 1_000;
const BYTES = 2 ** 28;
/** Those with a server plan durably, as Kron does; what cannot be started here is named in the notes. */
const PEERS = [
  { key: "undici", name: "undici alone: no claim, no record" },
  { key: "node", name: "node:http alone: no claim, no record" },
  { key: "bullmq", name: "BullMQ, Redis that syncs", start: () => startRedis({ isDurable: true }) },
  { key: "pgboss", name: "pg-boss", start: startPostgres },
];

async function withServer(use) {
  const server = spawn(process.execPath, [here("./server.mjs")], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const [port] = await once(createInterface({ input: server.stdout }), "line");
    return await use(`http://127.0.0.1:${port}/`);
  } finally {
    server.kill();
    await once(server, "exit");
  }
}

async function play(settings) {
  const { stdout } = await promisify(execFile)(process.execPath, [here("./worker.mjs"), JSON.stringify(settings)], {
    maxBuffer: BYTES,
  });
  return JSON.parse(stdout);
}

function quantile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

async function burstRound(base, { burst: count, dueInMs }) {
  const result = await play({ ...base, task: "burst", count, dueInMs });
  const { arrivals, twice } = await (await fetch(`${base.url}arrivals`)).json();
  if (arrivals.length !== count || result.failed > 0 || twice > 0) {
    throw new Error(`${base.contender}: ${arrivals.length} of ${count} came, ${result.failed} failed, ${twice} twice`);
  }
  const late = arrivals.map((at) => at - result.dueAt).sort((a, b) => a - b);
  return { p50: quantile(late, 0.5), p99: quantile(late, 0.99) };
}

async function sustainedRound(base, seconds) {
  const from = { ...base, task: "sustained", count: JOBS, seconds, inFlight: IN_FLIGHT };
  const result = await play(from);
  const { arrivals, twice } = await (await fetch(`${base.url}arrivals`)).json();
  if (result.failed > 0 || twice > 0) throw new Error(`${base.contender}: ${result.failed} failed, ${twice} twice`);
  const untilAt = arrivals.at(-1);
  const counted = arrivals.filter((at) => at > untilAt - seconds * 1_000).length;
  return { rate: counted / seconds, cpu: result.cpuUs / counted };
}

/** So many are due in each second: of Kron as many endpoints that run every second, of a queue jobs that were planned. */
async function pacedRound(base, { rate, pacedSeconds: seconds, dueInMs }) {
  const result = await play({ ...base, task: "paced", rate, seconds, dueInMs, inFlight: IN_FLIGHT });
  const { late, twice } = result.late === undefined ? await (await fetch(`${base.url}arrivals`)).json() : result;
  // Who does not keep up with it shows so in what came.
  if (late.length === 0 || result.failed > 0 || twice > 0) {
    const what = `${late.length} of ${rate * seconds} came, ${result.failed} failed, ${twice} twice`;
    throw new Error(`${base.contender}: ${what}`);
  }
  const sorted = late.sort((a, b) => a - b);
  const came = late.length / seconds;
  return { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), loop: result.loop, came };
}

/** A contender that fails is told of and left out; Kron may not. */
async function rounds(contenders, count, notes, play) {
  const measured = new Map(contenders.map((name) => [name, []]));
  for (let round = 0; round < count; round += 1) {
    for (const name of contenders) {
      try {
        measured.get(name).push(await play(name, round));
      } catch (error) {
        if (name === "kron") throw error;
        notes.push(`\`http\`: ${name} was cut off (${/\w*Error: .*/.exec(error.message)?.[0] ?? error.message}).`);
      }
    }
  }
  return measured;
}

/** The servers of the queues: by contender, how to reach it. */
async function withQueueServers(notes, use) {
  const servers = new Map();
  try {
    for (const { key, name, start } of PEERS.filter(({ start }) => start !== undefined)) {
      try {
        servers.set(key, await start());
      } catch (error) {
        if (!(error instanceof NotAvailable)) throw error;
        notes.push(`\`http\`: ${name} could not be measured: ${error.message}.`);
      }
    }
    return await use(servers);
  } finally {
    for (const server of servers.values()) await server.stop();
  }
}

async function measureAll({ directory, url, servers, settings, notes }) {
  const entry = await bundle(here("./entry.ts"), directory, "http");
  const base = (contender, task, round) => {
    process.stderr.write(`bench: http, ${task}, ${contender} ...\n`);
    const { connection } = servers.get(contender) ?? {};
    return { contender, url, entry, connection, directory: join(directory, `${task}-${round}`), inFlight: IN_FLIGHT };
  };
  const isThere = ({ key, start }) => start === undefined || servers.has(key);
  const names = ["kron", ...PEERS.filter(isThere).map(({ key }) => key)];
  // What is only a client waits for nothing.
  const planners = names.filter((name) => name === "kron" || servers.has(name));
  return {
    burst: await rounds(names, settings.burstRounds, notes, (name, round) =>
      burstRound(base(name, "burst", round), settings),
    ),
    steady: await rounds(names, settings.rounds, notes, (name, round) =>
      sustainedRound(base(name, "sustained", round), settings.seconds),
    ),
    paced: await rounds(planners, settings.rounds, notes, (name, round) =>
      pacedRound(base(name, "paced", round), settings),
    ),
  };
}

function rowsOf(measured, id, name, key, unit) {
  const peers = PEERS.filter((peer) => measured.has(peer.key));
  const all = peers.length > 0 ? peers : [{ key: null, name: null }];
  return all.map((peer) =>
    compared({
      id,
      name,
      key,
      unit,
      ours: measured.get("kron"),
      peer: { name: peer.name, rounds: measured.get(peer.key) ?? [] },
    }),
  );
}

export async function run({ isQuick }) {
  const settings = isQuick ? QUICK : FULL;
  const notes = [
    "`http`: the server is a process of its own on the same machine and answers at once.",
    "P9: runs are those of endpoints of a tenant: its share is taken before each, the run has a record by which it is found, and the health of its endpoint is counted.",
    "P9: of 3,000 a second, those of the queues are planned as evenly as milliseconds allow; Kron's endpoints run every second, and are where they were made, one after the other.",
  ];
  return inWorkplace("http", (directory) =>
    withServer((url) =>
      withQueueServers(notes, async (servers) => {
        const { burst, steady, paced } = await measureAll({ directory, url, servers, settings, notes });
        const due = `${thousands(settings.burst)} due in one second`;
        const pace = `${thousands(settings.rate)} a second`;
        const rows = [
          ...rowsOf(burst, "P7", `requests: lateness p50, ${due}`, "p50", "ms"),
          ...rowsOf(burst, "P7", `requests: lateness p99, ${due}`, "p99", "ms"),
          ...rowsOf(
            steady,
            "P9",
            `runs of endpoints, ${IN_FLIGHT} at a time, claimed and recorded durably`,
            "rate",
            "/s",
          ),
          ...rowsOf(steady, "P9", "processor time of one run", "cpu", "µs"),
          ...rowsOf(paced, "P9", `runs that came, ${pace} due`, "came", "/s"),
          ...rowsOf(paced, "P9", `runs: lateness p50, ${pace}`, "p50", "ms"),
          ...rowsOf(paced, "P9", `runs: lateness p99, ${pace}`, "p99", "ms"),
          ...rowsOf(paced, "P9", `delay of the event loop, p99, ${pace}`, "loop", "ms"),
        ];
        return { rows, notes };
      }),
    ),
  );
}
