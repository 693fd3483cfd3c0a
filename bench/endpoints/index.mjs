/**
 * P14: endpoints that are made, changed, read and deleted one by one while the daemon runs, over its control socket, each
 * durable when it is acknowledged. Beside it LMDB alone, which writes as many entries of the same size for each, with as
 * many of them under way, and knows nothing of what it writes. And how late requests of tenants are while one has many whose
 * servers never answer.
 */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { open } from "lmdb";
import { Krond } from "../krond/daemon.mjs";
import { compared, thousands } from "../krond/rows.mjs";
import { inWorkplace } from "../lib/workplace.mjs";
import { FLOOD_NOTE, floodRows } from "./flood.mjs";
import { Socket } from "./socket.mjs";

const FULL = { endpoints: 100_000, changes: 10_000, rounds: 3 };
const QUICK = { endpoints: 2_000, changes: 1_000, rounds: 1 };
const UNDER_WAY = 64;
const BOOT_LIMIT_MS = 60_000;
/** What a new endpoint is on disk: its definition, its object, its name, its place in its job, and the counts of its tenant. */
const ENTRIES = { made: [650, 900, 40, 2, 60], changed: [650, 900] };

/** So many at a time, and how many a second. */
async function rateOf(count, act) {
  let next = 0;
  const from = performance.now();
  const lane = async () => {
    while (next < count) {
      const index = next;
      next += 1;
      await act(index);
    }
  };
  await Promise.all(Array.from({ length: UNDER_WAY }, lane));
  return { rate: (count * 1_000) / (performance.now() - from) };
}

async function lmdbRounds(directory, { changes, rounds }, sizes) {
  const database = open({ path: join(directory, `lmdb-${sizes.length}`), overlappingSync: false, encoding: "binary" });
  const values = sizes.map((size) => randomBytes(size));
  const all = [];
  for (let round = 0; round < rounds; round += 1) {
    all.push(
      await rateOf(changes, (index) =>
        database.transaction(() => {
          for (const [entry, value] of values.entries()) database.put(`${round}/${index}/${entry}`, value);
        }),
      ),
    );
  }
  await database.close();
  return all;
}

/** None of them is due: what they run is not measured here. */
function wish(jobId, index) {
  return {
    ...{ jobId, name: `endpoint-${index}`, url: `https://hooks.example/${index}`, method: "POST", body: "{}" },
    ...{ headers: { Accept: "application/json" }, baselineIntervalMs: 86_400_000, minIntervalMs: 60_000 },
  };
}

async function measured(socket, { endpoints, changes, rounds }) {
  const { id: jobId } = await socket.ask({ op: "jobs.create", name: "all" });
  const ids = [];
  const make = async (index) => {
    ids[index] = (await socket.ask({ op: "endpoints.create", ...wish(jobId, index) })).id;
  };
  const results = { made: [], changed: [], read: [], deleted: [] };
  for (let round = 0; round < rounds; round += 1) {
    process.stderr.write(`bench: endpoints, round ${round + 1} ...\n`);
    const from = ids.length;
    results.made.push(await rateOf(Math.floor(endpoints / rounds), (index) => make(from + index)));
    const other = (index) => ids[(index * 7_919) % ids.length];
    const change = (index) => ({
      op: "endpoints.update",
      endpointId: other(index),
      timeoutMs: 5_000 + round * changes + index,
    });
    results.changed.push(await rateOf(changes, (index) => socket.ask(change(index))));
    results.read.push(await rateOf(changes, (index) => socket.ask({ op: "endpoints.get", endpointId: other(index) })));
  }
  for (let round = 0; round < rounds; round += 1) {
    const gone = ids.splice(-Math.floor(changes / 2));
    results.deleted.push(
      await rateOf(gone.length, (index) => socket.ask({ op: "endpoints.delete", endpointId: gone[index] })),
    );
  }
  return results;
}

const NONE = { name: null, rounds: [] };
const NOTES = [
  `P14: over one connection to the control socket, ${UNDER_WAY} requests under way, each durable when it is acknowledged. LMDB alone writes entries of the same number and size a change and judges nothing.`,
  FLOOD_NOTE,
];

export async function run({ isQuick }) {
  const settings = isQuick ? QUICK : FULL;
  return inWorkplace("endpoints", async (directory) => {
    const config = join(directory, "jobs.yaml");
    writeFileSync(config, "jobs: []\n");
    const state = join(directory, "state");
    const krond = new Krond({ config, state, probe: join(directory, "loop.json"), isCollectable: true });
    try {
      await krond.ready(BOOT_LIMIT_MS);
      const socket = new Socket(join(state, "krond.sock"));
      const { made, changed, read, deleted } = await measured(socket, settings);
      const delay = await krond.loopDelay();
      socket.end();
      const whenMade = { name: "LMDB alone", rounds: await lmdbRounds(directory, settings, ENTRIES.made) };
      const whenChanged = { name: "LMDB alone", rounds: await lmdbRounds(directory, settings, ENTRIES.changed) };
      const of = `, ${thousands(settings.endpoints)} endpoints`;
      const row = (name, ours, peer) =>
        compared({ id: "P14", name: `${name}${of}`, key: "rate", unit: "1/s", ours, peer });
      const rows = [
        row("made", made, whenMade),
        row("changed", changed, whenChanged),
        row("read", read, NONE),
        row("deleted", deleted, NONE),
      ];
      for (const key of ["p99", "max"]) {
        const name = `delay of the event loop meanwhile, ${key}${of}`;
        rows.push(compared({ id: "P14", name, key, unit: "ms", ours: [delay], peer: NONE }));
      }
      await krond.stop();
      rows.push(...(await floodRows(directory, { isQuick })));
      return { rows, notes: NOTES };
    } finally {
      await krond.stop();
    }
  });
}
