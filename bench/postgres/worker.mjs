/**
 * One contender on a database of its own: so many jobs that are due are claimed and finished, and nothing else is done for
 * them. Settings come as one JSON argument; runs a second go to standard output.
 */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const {
  contender,
  connection,
  store: storeModule,
  count,
  group,
  pastRuns,
  process: place,
} = JSON.parse(process.argv[2]);
/** One of several that work at the same time, on as many jobs each, and begin when they are told; null: the only one. */
const [number, processes] = [place?.number ?? 0, place?.of ?? 1];
const QUEUE = "bench";
const DIGITS = 7;
const DAY = 100;
/** Commits under way or waiting: the next is there when one is done. */
const LANES = 2;

function identityOf(index) {
  return `bench/job-${number}-${String(index).padStart(DIGITS, "0")}`;
}

function chunks(total, size) {
  const starts = Array.from({ length: Math.ceil(total / size) }, (_, index) => index * size);
  return starts.map((start) => Array.from({ length: Math.min(size, total - start) }, (_, index) => start + index));
}

/** One identity is taken through its transitions for real; of the others only the name differs. */
function batchOf(template, indexes, documentKeyOf) {
  const pattern = identityOf(0);
  const of = indexes.map(identityOf);
  return {
    documents: of.map((identity) => ({
      key: documentKeyOf(identity),
      text: template.text.replace(pattern, identity),
    })),
    ledger: of.flatMap((identity) =>
      template.ledger.map((it) => ({ ...it, identity, text: it.text.replaceAll(pattern, identity) })),
    ),
    claims: of.flatMap((identity) =>
      template.claims.map(({ key, token }) => ({ key: { ...key, identity }, token: `${token}-${identity}` })),
    ),
  };
}

async function inLanes(work, lanes = LANES) {
  const left = [...work];
  const take = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await next();
  };
  await Promise.all(Array.from({ length: lanes }, take));
}

/** Each run as the daemon writes it: its claim, its decision and its document, then its end. */
async function kron() {
  const { documentKeyOf, storePlace, transitionsOf } = await import(storeModule);
  const directory = mkdtempSync(join(tmpdir(), "kron-bench-"));
  const { host, user, database } = connection;
  const asked = place === undefined ? {} : { node: `node-${number}` };
  const found = storePlace(`postgres:///${database}?host=${host}&user=${user}`, join(directory, "state"), asked);
  if (!found.ok) throw new Error(found.error.message);
  const { backend } = found.value;
  const term = await backend.acquire("");
  if (!term.ok) throw term.error;
  const store = await backend.open(term.value);
  if (!store.ok) throw store.error;
  const write = async (batch) => {
    const refused = await store.value.commit(term.value, batch);
    if (refused.length > 0) throw new Error("a claim was refused");
  };
  const [, before] = transitionsOf(identityOf(0), DAY - 1, pastRuns);
  const [started, ended] = transitionsOf(identityOf(0), DAY, pastRuns);
  const parts = chunks(count, group);
  // Jobs that have run before, as in a store that is in use.
  for (const part of parts) await write({ ...batchOf(before, part, documentKeyOf), claims: [] });
  const batches = parts.map((part) => [batchOf(started, part, documentKeyOf), batchOf(ended, part, documentKeyOf)]);
  return {
    run: () =>
      inLanes(
        batches.map(
          ([start, end]) =>
            () =>
              write(start).then(() => write({ ...end, claims: [] })),
        ),
      ),
    stop: async () => {
      await store.value.close();
      await term.value.release();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function pgBoss() {
  const { default: PgBoss } = await import("pg-boss");
  const boss = new PgBoss({ ...connection, schedule: false, supervise: false });
  boss.on("error", () => {});
  await boss.start();
  await boss.createQueue(QUEUE);
  for (const part of chunks(number === 0 ? count * processes : 0, 1_000)) {
    await boss.insert(part.map((i) => ({ name: QUEUE, data: { i } })));
  }
  let done = 0;
  const lane = async () => {
    for (;;) {
      const jobs = await boss.fetch(QUEUE, { batchSize: group });
      if (jobs.length === 0) return;
      await boss.complete(
        QUEUE,
        jobs.map(({ id }) => id),
      );
      done += jobs.length;
    }
  };
  const run = async () => {
    await Promise.all(Array.from({ length: LANES }, lane));
    if (processes === 1 && done !== count) throw new Error(`${done} of ${count} were done`);
  };
  return { run, stop: () => boss.stop({ graceful: true, wait: true }) };
}

async function graphileWorker() {
  const { Logger, makeWorkerUtils, run, WorkerPreset } = await import("graphile-worker");
  const pg = await import("pg");
  const pgPool = new pg.default.Pool({ ...connection, max: 25 });
  pgPool.on("error", () => {});
  const logger = new Logger(() => () => {});
  const utils = await makeWorkerUtils({ pgPool, logger });
  await utils.migrate();
  for (const part of chunks(number === 0 ? count * processes : 0, 1_000)) {
    await utils.addJobs(part.map((i) => ({ identifier: "task", payload: { i } })));
  }
  await utils.release();
  const worker = {
    concurrentJobs: 24,
    pollInterval: 100,
    localQueue: { size: 500 },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
  };
  const left = async () => {
    const { rows } = await pgPool.query("select count(*)::int as left from graphile_worker._private_jobs");
    return rows[0].left;
  };
  let runner = null;
  const work = async () => {
    let begun = 0;
    let tell;
    const all = new Promise((resolve) => {
      tell = resolve;
    });
    const task = async () => {
      begun += 1;
      if (begun === count) tell();
    };
    runner = await run({
      ...{ pgPool, logger, noHandleSignals: true, taskList: { task } },
      preset: { extends: [WorkerPreset], worker },
    });
    if (processes === 1) await all;
    // What has been begun is finished when its row is gone.
    while ((await left()) > 0);
  };
  return { run: work, stop: () => runner.stop().then(() => pgPool.end()) };
}

const CONTENDERS = { kron, "pg-boss": pgBoss, "graphile-worker": graphileWorker };
const { run, stop } = await CONTENDERS[contender]();
if (place !== undefined) {
  process.stdout.write("ready\n");
  await once(process.stdin, "data");
}
const from = performance.now();
await run();
const seconds = (performance.now() - from) / 1_000;
await stop();
process.stdout.write(JSON.stringify({ rate: count / seconds, seconds }));
process.exit(0);
