/**
 * Several nodes on one PostgreSQL: claims by one and by three of them beside the queues that programs are told to use for it, how
 * late they are, what the death of one costs, and what a job at rest takes of a node.
 */
import { fileURLToPath, pathToFileURL } from "node:url";
import { compared, thousands } from "../krond/rows.mjs";
import { bundle } from "../lib/bundle.mjs";
import { row } from "../lib/report.mjs";
import { inWorkplace } from "../lib/workplace.mjs";
import { startPostgres } from "../queues/postgres.mjs";
import { NotAvailable } from "../queues/service.mjs";
import { claimsOf } from "./claims.mjs";
import { latenessOf, memoryOfJobs, takeoverOf } from "./daemons.mjs";

const ENTRY = fileURLToPath(new URL("../postgres/store-entry.ts", import.meta.url));
const KRON = "kron";
const PEERS = ["pg-boss", "graphile-worker"];
const NODES = [1, 3];
const GROUP = 100;
const PAST_RUNS = 6;
const MIB = 2 ** 20;
const FULL = {
  claims: { count: 20_000, rounds: 5 },
  lateness: { jobs: 300, settleMs: 5_000, seconds: 30 },
  takeover: { jobs: 100, settleMs: 5_000, leaseSeconds: 10 },
  memory: { count: 100_000, settleMs: 30_000 },
};
const QUICK = {
  claims: { count: 3_000, rounds: 1 },
  lateness: { jobs: 100, settleMs: 3_000, seconds: 5 },
  takeover: { jobs: 30, settleMs: 3_000, leaseSeconds: 5 },
  memory: { count: 10_000, settleMs: 5_000 },
};

class Databases {
  #server;
  #made = 0;

  constructor(server) {
    this.#server = server;
  }

  /** A new one for each measurement: nobody's tables are full of what another has left. */
  async with(use) {
    const { default: pg } = await import("pg");
    const client = new pg.Client(this.#server.connection);
    await client.connect();
    this.#made += 1;
    const database = `nodes_${this.#made}`;
    await client.query(`create database ${database}`);
    try {
      const { host, user } = this.#server.connection;
      const store = `postgres:///${database}?host=${host}&user=${user}`;
      return await use({ connection: { ...this.#server.connection, database }, store });
    } finally {
      await client.query(`drop database ${database} with (force)`);
      await client.end();
    }
  }
}

async function claimRows(databases, { count, rounds }, store, notes) {
  const rows = [];
  for (const nodes of NODES) {
    const results = new Map([KRON, ...PEERS].map((name) => [name, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const [contender, measured] of results) {
        const settings = { contender, store, count, group: GROUP, pastRuns: PAST_RUNS };
        try {
          measured.push(await databases.with(({ connection }) => claimsOf(nodes, { ...settings, connection })));
        } catch (error) {
          notes.push(`P17: ${contender}, ${nodes} at once: not measured: ${String(error.message).split("\n")[0]}`);
        }
      }
    }
    const about = { id: "P17", key: "rate", unit: "runs/s", better: "higher", ours: results.get(KRON) };
    const name = `runs claimed and finished by ${nodes === 1 ? "one node" : `${nodes} nodes together`}, ${GROUP} due at once`;
    rows.push(...PEERS.map((peer) => compared({ ...about, name, peer: { name: peer, rounds: results.get(peer) } })));
  }
  return rows;
}

async function latenessRows(databases, directory, size) {
  const rows = [];
  for (const nodes of NODES) {
    const place = { directory: `${directory}/late-${nodes}`, leaseSeconds: 10 };
    const { p99, rate } = await databases.with(({ store }) => latenessOf(nodes, { ...place, store }, size));
    const who = nodes === 1 ? "one node" : `${nodes} nodes`;
    const name = `lateness, p99: ${size.jobs} requests a second by ${who} (${Math.round(rate)} came)`;
    rows.push(row({ id: "P17", name, value: p99, unit: "ms" }));
  }
  return rows;
}

async function takeoverRows(databases, directory, size) {
  const place = { directory: `${directory}/takeover` };
  const { p50, most, jobs } = await databases.with(({ store }) => takeoverOf({ ...place, store }, size));
  const what = `one of three nodes is killed, lease ${size.leaseSeconds} s, ${jobs} jobs: until they run again`;
  return [
    row({ id: "P17", name: `${what}, median`, value: p50, unit: "s" }),
    row({ id: "P17", name: `${what}, the last`, value: most, unit: "s" }),
  ];
}

async function memoryRows(databases, directory, size) {
  const place = { directory: `${directory}/memory`, leaseSeconds: 10 };
  const { bytes, whole, applySeconds } = await databases.with(({ store }) => memoryOfJobs({ ...place, store }, size));
  const jobs = `${thousands(size.count)} jobs`;
  return [
    row({ id: "P17", name: `memory of a resting job, a node with ${jobs}`, value: bytes, unit: "B" }),
    row({ id: "P17", name: `memory of the node, ${jobs}`, value: whole / MIB, unit: "MiB" }),
    row({
      id: "P17",
      name: `kron apply, ${jobs} for the first time, until they are in force`,
      value: applySeconds,
      unit: "s",
    }),
  ];
}

export async function run({ isQuick }) {
  const size = isQuick ? QUICK : FULL;
  const notes = [
    "P17: server, nodes and whoever receives requests share the machine, with fsync and synchronous_commit on.",
    "P17: a run of Kron is two documents of 1.4 kB, the decision with its outcome, and the record of its claim, written twice, fenced and numbered; a job of the queues is its row.",
  ];
  return inWorkplace("nodes", async (directory) => {
    const store = pathToFileURL(await bundle(ENTRY, directory, "store")).href;
    let server;
    try {
      server = await startPostgres();
    } catch (error) {
      if (error instanceof NotAvailable) return { rows: [], notes: [`P17: not measured: ${error.message}.`] };
      throw error;
    }
    const databases = new Databases(server);
    const steps = [
      () => claimRows(databases, size.claims, store, notes),
      () => latenessRows(databases, directory, size.lateness),
      () => takeoverRows(databases, directory, size.takeover),
      () => memoryRows(databases, directory, size.memory),
    ];
    try {
      const rows = [];
      for (const step of steps) {
        process.stderr.write("bench: nodes ...\n");
        rows.push(...(await step()));
      }
      return { rows, notes };
    } finally {
      await server.stop();
    }
  });
}
