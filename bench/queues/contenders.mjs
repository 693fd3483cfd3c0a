/**
 * How each library is made to call `count` callbacks at `dueAt`, in the settings that its own documentation recommends
 * for throughput. `open` connects; the function it gives plans the work durably (where the library can) and resolves when
 * everything is planned; what that resolves to is stopped in the end.
 *
 * `server` names the server that the contender needs, `package` where its version is read. A queue's job is planned once,
 * the cheapest thing it can do; a schedule comes again, as Kron's tasks do.
 */
import { DURABLE, REGISTRARS } from "../scheduler/registrars.mjs";

/** Of 10, 50, 100, 300 and 1,000 the fastest for BullMQ with callbacks that do nothing. */
const BULLMQ_CONCURRENCY = 100;
const PLANNED_AT_ONCE = 1_000;
const QUEUE = "bench";

function sliced(count) {
  const starts = Array.from({ length: Math.ceil(count / PLANNED_AT_ONCE) }, (_, i) => i * PLANNED_AT_ONCE);
  return starts.map((start) => Array.from({ length: Math.min(PLANNED_AT_ONCE, count - start) }, (_, i) => start + i));
}

function bullmq(plan) {
  return async ({ connection }) => {
    const { Queue, Worker } = await import("bullmq");
    return async ({ count, dueAt, fired }) => {
      const queue = new Queue(QUEUE, { connection });
      for (const part of sliced(count)) await plan(queue, part, dueAt);
      const worker = new Worker(QUEUE, async () => fired(), {
        connection: { ...connection, maxRetriesPerRequest: null },
        concurrency: BULLMQ_CONCURRENCY,
        removeOnComplete: { count: 0 },
      });
      await worker.waitUntilReady();
      return { stop: () => worker.close().then(() => queue.close()) };
    };
  };
}

const bullmqJobs = bullmq((queue, part, dueAt) =>
  queue.addBulk(part.map((i) => ({ name: `job ${i}`, data: { i }, opts: { delay: dueAt - Date.now() } }))),
);

const bullmqSchedules = bullmq((queue, part, dueAt) => {
  const at = new Date(dueAt);
  const pattern = `${at.getUTCSeconds()} ${at.getUTCMinutes()} ${at.getUTCHours()} * * *`;
  return Promise.all(
    part.map((i) => queue.upsertJobScheduler(`task ${i}`, { pattern, tz: "UTC" }, { name: `task ${i}`, data: { i } })),
  );
});

async function graphileWorker({ connection }) {
  const { Logger, makeWorkerUtils, run, WorkerPreset } = await import("graphile-worker");
  const pg = await import("pg");
  const pgPool = new pg.default.Pool({ ...connection, max: 25 });
  const logger = new Logger(() => () => {});
  return async ({ count, dueAt, fired }) => {
    const utils = await makeWorkerUtils({ pgPool, logger });
    await utils.migrate();
    for (const part of sliced(count)) {
      await utils.addJobs(part.map((i) => ({ identifier: "task", payload: { i }, runAt: new Date(dueAt) })));
    }
    await utils.release();
    const worker = {
      concurrentJobs: 24,
      // As its page on performance advises for many quick jobs; the default asks every 2 s.
      pollInterval: 100,
      localQueue: { size: 500 },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
    };
    const runner = await run({
      pgPool,
      logger,
      noHandleSignals: true,
      taskList: { task: async () => fired() },
      preset: { extends: [WorkerPreset], worker },
    });
    return { stop: () => runner.stop() };
  };
}

async function pgBoss({ connection }) {
  const { default: PgBoss } = await import("pg-boss");
  const boss = new PgBoss({ ...connection, schedule: false, supervise: false });
  boss.on("error", () => {});
  await boss.start();
  await boss.createQueue(QUEUE);
  return async ({ count, dueAt, fired }) => {
    for (const part of sliced(count)) {
      await boss.insert(part.map((i) => ({ name: QUEUE, data: { i }, startAfter: new Date(dueAt) })));
    }
    // The shortest interval it accepts; each look takes a batch.
    await boss.work(QUEUE, { batchSize: 1_000, pollingIntervalSeconds: 0.5 }, async (jobs) => {
      for (const _ of jobs) fired();
    });
    return { stop: () => boss.stop({ graceful: true, wait: true }) };
  };
}

async function agenda({ connection }) {
  const { Agenda } = await import("agenda");
  const { PostgresBackend } = await import("@agendajs/postgres-backend");
  return async ({ count, dueAt, fired }) => {
    const backend = new PostgresBackend({ poolConfig: { ...connection, max: 20 } });
    const concurrency = { defaultConcurrency: 1_000, maxConcurrency: 1_000, defaultLockLimit: 0, lockLimit: 0 };
    const scheduler = new Agenda({ backend, processEvery: "100 milliseconds", ...concurrency });
    await scheduler.ready;
    scheduler.define("task", async () => fired(), concurrency);
    for (const part of sliced(count)) {
      await Promise.all(part.map((i) => scheduler.schedule(new Date(dueAt), "task", { i })));
    }
    await scheduler.start();
    return { stop: () => scheduler.stop() };
  };
}

async function toadScheduler() {
  const { AsyncTask, CronJob, ToadScheduler } = await import("toad-scheduler");
  return async ({ count, dueAt, fired }) => {
    const at = new Date(dueAt);
    const cronExpression = `${at.getUTCSeconds()} ${at.getUTCMinutes()} ${at.getUTCHours()} * * *`;
    const scheduler = new ToadScheduler();
    for (let i = 0; i < count; i += 1) {
      scheduler.addCronJob(
        new CronJob({ cronExpression, timezone: "UTC" }, new AsyncTask(`task ${i}`, async () => fired())),
      );
    }
    return { stop: async () => scheduler.stop() };
  };
}

export const KRON = "Kron, lmdbStore";

export const CONTENDERS = {
  [KRON]: { open: ({ directory }) => REGISTRARS[DURABLE](directory) },
  "BullMQ, delayed jobs, Redis that syncs": { server: "redis-durable", package: "bullmq", open: bullmqJobs },
  "BullMQ, delayed jobs, Redis as it comes": { server: "redis", package: "bullmq", open: bullmqJobs },
  "BullMQ, job schedulers, Redis that syncs": { server: "redis-durable", package: "bullmq", open: bullmqSchedules },
  "BullMQ, job schedulers, Redis as it comes": { server: "redis", package: "bullmq", open: bullmqSchedules },
  "graphile-worker": { server: "postgres", package: "graphile-worker", open: graphileWorker },
  "pg-boss": { server: "postgres", package: "pg-boss", open: pgBoss },
  "Agenda, PostgreSQL": { server: "postgres", package: "agenda", open: agenda },
  "toad-scheduler (memory)": { package: "toad-scheduler", open: toadScheduler },
};
