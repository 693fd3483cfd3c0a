/**
 * Queues that send the same requests: each job is one request, planned durably for its moment, and done when it was
 * answered. `open` connects; `plan` takes the moments, `work` begins to send with so many at a time and gives the way to stop.
 */
const PLANNED_AT_ONCE = 1_000;

function sliced(values) {
  const count = Math.ceil(values.length / PLANNED_AT_ONCE);
  return Array.from({ length: count }, (_, i) => values.slice(i * PLANNED_AT_ONCE, (i + 1) * PLANNED_AT_ONCE));
}

async function bullmq({ connection, name }) {
  const { Queue, Worker } = await import("bullmq");
  const queue = new Queue(name, { connection });
  return {
    plan: async (dueAts) => {
      for (const part of sliced(dueAts)) {
        const now = Date.now();
        const jobOf = (dueAt) => ({ name: "send", data: { dueAt }, opts: { delay: Math.max(0, dueAt - now) } });
        await queue.addBulk(part.map(jobOf));
      }
    },
    work: async (send, atATime) => {
      const worker = new Worker(name, ({ data }) => send(data.dueAt), {
        connection: { ...connection, maxRetriesPerRequest: null },
        concurrency: atATime,
        removeOnComplete: { count: 0 },
      });
      await worker.waitUntilReady();
      return () => worker.close().then(() => queue.close());
    },
  };
}

async function pgBoss({ connection, name }) {
  const { default: PgBoss } = await import("pg-boss");
  const boss = new PgBoss({ ...connection, schedule: false, supervise: false });
  boss.on("error", () => {});
  await boss.start();
  await boss.createQueue(name);
  return {
    plan: async (dueAts) => {
      const jobOf = (dueAt) => ({ name, data: { dueAt }, startAfter: new Date(dueAt) });
      for (const part of sliced(dueAts)) await boss.insert(part.map(jobOf));
    },
    work: async (send, atATime) => {
      // The shortest interval it accepts; each look takes a batch, and what is found is looked for again at once.
      const options = { batchSize: atATime, pollingIntervalSeconds: 0.5 };
      const sendAll = (jobs) => Promise.all(jobs.map(({ data }) => send(data.dueAt)));
      await boss.work(name, options, sendAll);
      return () => boss.stop({ graceful: true, wait: true });
    },
  };
}

export const QUEUES = { bullmq, pgboss: pgBoss };
