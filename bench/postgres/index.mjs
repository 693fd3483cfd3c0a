/**
 * Durable claims in PostgreSQL: runs that are claimed and finished, through Kron's store and through the queues that programs
 * are told to use for it, in turn on the same server, which syncs every commit.
 */
import { execFile } from "node:child_process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { compared, thousands } from "../krond/rows.mjs";
import { bundle } from "../lib/bundle.mjs";
import { inWorkplace } from "../lib/workplace.mjs";
import { startPostgres } from "../queues/postgres.mjs";
import { NotAvailable } from "../queues/service.mjs";

const ENTRY = fileURLToPath(new URL("./store-entry.ts", import.meta.url));
const WORKER = fileURLToPath(new URL("./worker.mjs", import.meta.url));
const KRON = "kron";
const PEERS = ["pg-boss", "graphile-worker"];
/** Jobs that are due together. */
const GROUPS = [100, 1_000];
const PAST_RUNS = 6;
const FULL = { count: 20_000, rounds: 5 };
const QUICK = { count: 5_000, rounds: 1 };

async function measure(settings) {
  const { stdout } = await promisify(execFile)(process.execPath, [WORKER, JSON.stringify(settings)], {
    encoding: "utf8",
  });
  return JSON.parse(stdout);
}

/** A database for each round: nobody's tables are full of what another has left. */
async function rounds(server, { count, rounds: times }, group, store, notes) {
  const { default: pg } = await import("pg");
  const results = new Map([KRON, ...PEERS].map((name) => [name, []]));
  for (let round = 0; round < times; round += 1) {
    for (const [contender, measured] of results) {
      const database = `bench_${group}_${round}_${contender.replaceAll("-", "_")}`;
      const client = new pg.Client(server.connection);
      await client.connect();
      await client.query(`create database ${database}`);
      const connection = { ...server.connection, database };
      try {
        measured.push(await measure({ contender, connection, store, count, group, pastRuns: PAST_RUNS }));
      } catch (error) {
        notes.push(
          `P15: ${contender}, ${thousands(group)} at once: not measured: ${String(error.message).split("\n")[0]}`,
        );
      }
      await client.query(`drop database ${database} with (force)`);
      await client.end();
    }
  }
  return results;
}

export async function run({ isQuick }) {
  const size = isQuick ? QUICK : FULL;
  const notes = [
    "P15: a run of Kron is two documents of 1.4 kB, the decision with its outcome, and the record of its claim, written twice, fenced and numbered; a job of the queues is its row.",
    "P15: on the machine of the clients, with fsync and synchronous_commit on; pg-boss is asked for batches and told that they are done in two lanes, graphile-worker has 24 at a time and a local queue of 500.",
  ];
  return inWorkplace("postgres", async (directory) => {
    const store = pathToFileURL(await bundle(ENTRY, directory, "store")).href;
    const rows = [];
    let server;
    try {
      server = await startPostgres();
    } catch (error) {
      if (error instanceof NotAvailable) return { rows, notes: [`P15: not measured: ${error.message}.`] };
      throw error;
    }
    try {
      for (const group of GROUPS) {
        process.stderr.write(`bench: postgres, ${thousands(group)} at once ...\n`);
        const results = await rounds(server, size, group, store, notes);
        const name = `runs claimed and finished in PostgreSQL ${server.version}, ${thousands(group)} due at once`;
        const about = { id: "P15", name, key: "rate", unit: "runs/s", better: "higher", ours: results.get(KRON) };
        rows.push(...PEERS.map((peer) => compared({ ...about, peer: { name: peer, rounds: results.get(peer) } })));
      }
    } finally {
      await server.stop();
    }
    return { rows, notes };
  });
}
