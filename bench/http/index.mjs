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

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const FULL = { burst: 10_000, burstRounds: 3, dueInMs: 30_000, seconds: 20, rounds: 3 };
const QUICK = { burst: 2_000, burstRounds: 1, dueInMs: 8_000, seconds: 4, rounds: 1 };
const IN_FLIGHT = 256;
const JOBS = 1_000;
const BYTES = 2 ** 28;
const PEERS = [
  { key: "undici", name: "undici alone: no claim, no record" },
  { key: "node", name: "node:http alone: no claim, no record" },
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

async function rounds(contenders, count, play) {
  const measured = new Map(contenders.map((name) => [name, []]));
  for (let round = 0; round < count; round += 1) {
    for (const name of contenders) measured.get(name).push(await play(name, round));
  }
  return measured;
}

export async function run({ isQuick }) {
  const settings = isQuick ? QUICK : FULL;
  const names = ["kron", ...PEERS.map(({ key }) => key)];
  return inWorkplace("http", (directory) =>
    withServer(async (url) => {
      const entry = await bundle(here("./entry.ts"), directory, "http");
      const base = (contender, task, round) => {
        process.stderr.write(`bench: http, ${task}, ${contender} ...\n`);
        return { contender, url, entry, directory: join(directory, `${task}-${round}`) };
      };
      const burst = await rounds(names, settings.burstRounds, (name, round) =>
        burstRound(base(name, "burst", round), settings),
      );
      const steady = await rounds(names, settings.rounds, (name, round) =>
        sustainedRound(base(name, "sustained", round), settings.seconds),
      );
      const rowsOf = (measured, id, name, key, unit) =>
        PEERS.map((peer) =>
          compared({
            id,
            name,
            key,
            unit,
            ours: measured.get("kron"),
            peer: { name: peer.name, rounds: measured.get(peer.key) },
          }),
        );
      const due = `${thousands(settings.burst)} due in one second`;
      const rows = [
        ...rowsOf(burst, "P7", `requests: lateness p50, ${due}`, "p50", "ms"),
        ...rowsOf(burst, "P7", `requests: lateness p99, ${due}`, "p99", "ms"),
        ...rowsOf(steady, "P9", `requests, ${IN_FLIGHT} at a time, each claimed and recorded durably`, "rate", "/s"),
        ...rowsOf(steady, "P9", "processor time of one request", "cpu", "µs"),
      ];
      const notes = ["`http`: the server is a process of its own on the same machine and answers at once."];
      return { rows, notes };
    }),
  );
}
