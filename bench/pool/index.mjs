/**
 * P2 with the pool, and what the pool is for: planning all jobs of a store at a restart, and reading large
 * configurations; each on one thread and on as many as there are cores.
 */
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "../lib/bundle.mjs";
import { median, spread } from "../lib/measure.mjs";
import { row } from "../lib/report.mjs";
import { inWorkplace } from "../lib/workplace.mjs";

const THREADS = availableParallelism();
const NOW = Date.UTC(2026, 10, 18, 14, 1, 30);
const DECISIONS_PER_BATCH = 20_000;
const JOBS_PER_COMMIT = 20_000;
const file = (name) => fileURLToPath(new URL(name, import.meta.url));

/**
 * Operations per second of each round, and the processor time of one operation over all threads; the first round warms up
 * and does not count.
 */
async function rates(count, rounds, work) {
  const values = [];
  const costs = [];
  for (let round = 0; round <= rounds; round += 1) {
    const [before, started] = [process.cpuUsage(), performance.now()];
    await work();
    const tookMs = performance.now() - started;
    const { user, system } = process.cpuUsage(before);
    if (round === 0) continue;
    values.push((count * 1000) / tookMs);
    costs.push((user + system) / count);
  }
  return { values, cpuMicros: median(costs) };
}

/** `free_cores_ratio`: what the threads would give with a core each, by the processor time that both sides took. */
function compared(id, name, unit, pooled, inline) {
  return row({
    id,
    name: `${name}, ${THREADS} threads`,
    value: median(pooled.values),
    unit,
    peer: "this thread alone",
    peer_value: median(inline.values),
    spread: spread(pooled.values),
    cpu_us: pooled.cpuMicros,
    peer_cpu_us: inline.cpuMicros,
    free_cores_ratio: (THREADS * inline.cpuMicros) / pooled.cpuMicros,
  });
}

function noteOf({ name, cpu_us, peer_cpu_us, free_cores_ratio }) {
  const costs = `${cpu_us.toFixed(2)} µs of processor time, ${peer_cpu_us.toFixed(2)} µs on one thread`;
  return `${name}: ${costs}; with a core for each thread at most ${free_cores_ratio.toFixed(2)} ×.`;
}

async function decideRow({ kron, worker, batches, rounds }) {
  const limits = { attempts: 1, batchTimeoutMs: 60_000, idleMs: 60_000 };
  const threads = new kron.Threads({ threads: THREADS, entry: worker, limits });
  const { signal } = new AbortController();
  const tasks = Array.from({ length: batches }, (_, at) => ({
    from: at * DECISIONS_PER_BATCH,
    count: DECISIONS_PER_BATCH,
  }));
  const count = batches * DECISIONS_PER_BATCH;
  const inline = await rates(count, rounds, () => {
    for (const { from, count: many } of tasks) kron.decideMany(from, many);
  });
  const pooled = await rates(count, rounds, () =>
    Promise.all(tasks.map((task) => threads.run("decideBatch", task, { signal }))),
  );
  await threads.close();
  return compared("P2", "decide in the pool", "ops/s", pooled, inline);
}

function rawJob(index) {
  return {
    identity: `team-${index % 50}/job-${index}`,
    schedule: `${index % 60} ${index % 24} * * *`,
    timezone: index % 2 ? "UTC" : "Europe/Berlin",
    window: { mode: "after", duration: "5m" },
    policy: { deadline: "1h" },
    command: ["/usr/local/bin/run", "--job", String(index)],
    tags: ["bench"],
  };
}

/** A store as a daemon leaves it behind: every job was handled, and can go on resting. */
async function filledStore(kron, directory, count) {
  const term = kron.acquireDirectoryLock(directory).value;
  const store = (await kron.openLmdbStore(term)).value;
  for (let from = 0; from < count; from += JOBS_PER_COMMIT) {
    const batch = { documents: [], definitions: [], meta: [kron.DEFINITION_READER] };
    for (let index = from; index < Math.min(count, from + JOBS_PER_COMMIT); index += 1) {
      const job = kron.readJobDefinition(rawJob(index)).value;
      const id = kron.formatInstant(kron.currentPeriod(kron.compileRule(job), NOW));
      const document = {
        ...kron.newDocument(job.identity),
        LastHandledPeriodID: id,
        LastOutcome: "executed",
        LastChosenTime: id,
        LastNominalTime: id,
        DefinedAt: "2026-10-18T14:01:30Z",
        DefinitionHash: kron.sha256Hex(kron.canonicalRuleText(job)),
      };
      batch.documents.push({ key: kron.documentKey(job.identity), text: kron.serialiseDocument(document) });
      const text = kron.canonicalDefinitionText(job);
      batch.definitions.push({ identity: job.identity, definedAt: NOW - 1_000_000, text });
    }
    await store.commit(term, batch);
  }
  return { store, term };
}

async function planRow({ kron, worker, directory, count, rounds }) {
  const place = join(directory, `store-${count}`);
  mkdirSync(place, { mode: 0o700 });
  const { store, term } = await filledStore(kron, place, count);
  const measure = async (threads) => {
    const limits = { inlineDocuments: 0, idleMs: 60_000 };
    const pool = kron.createDecisionPool({ threads, entry: worker, limits });
    const found = await rates(count, rounds, async () => {
      const { rows } = await pool.planAll(store, { now: NOW, onPage: () => {} });
      if (rows !== count) throw new Error(`bench: ${rows} of ${count} jobs were planned`);
    });
    await pool.close();
    return found;
  };
  const inline = await measure(0);
  const pooled = await measure(THREADS);
  await store.close();
  term.release();
  return compared("P4", `planning ${count} jobs of a store at a restart`, "jobs/s", pooled, inline);
}

function yamlOf(count) {
  const items = Array.from({ length: count }, (_, index) => {
    const { identity, schedule, timezone, command } = rawJob(index);
    return `- identity: ${identity}\n  schedule: "${schedule}"\n  timezone: ${timezone}\n  window:\n    mode: after\n    duration: 5m\n  policy: { deadline: 1h }\n  command: [${command.join(", ")}]\n`;
  });
  return `jobs:\n${items.join("").replaceAll(/, (\d+)\]/g, ', "$1"]')}`;
}

async function loadRow({ kron, worker, directory, name, count, text, parts, rounds }) {
  const path = join(directory, `load-${name}`);
  mkdirSync(path, { mode: 0o700 });
  for (let part = 0; part < parts; part += 1) writeFileSync(join(path, `${part}.${name}`), text(part));
  const megabytes = (parts * statSync(join(path, `0.${name}`)).size) / 1e6;
  const measure = async (threads) => {
    const pool = kron.createDecisionPool({ threads, entry: worker, limits: { inlineFileBytes: 0, idleMs: 60_000 } });
    const found = await rates(count, rounds, async () => {
      const { definitions } = await pool.load([{ path, name: "bench" }]);
      if (definitions.size !== count || definitions.findings.length > 0) {
        throw new Error(`bench: ${definitions.size} of ${count} jobs, ${JSON.stringify(definitions.findings[0])}`);
      }
    });
    await pool.close();
    return found;
  };
  const inline = await measure(0);
  const pooled = await measure(THREADS);
  return compared("P4", `reading ${count} jobs of ${name} (${megabytes.toFixed(0)} MB)`, "jobs/s", pooled, inline);
}

/** Identities are told apart over all files. */
function jobsOfPart(part, each) {
  return Array.from({ length: each }, (_, index) => rawJob(part * each + index));
}

export async function run({ isQuick, isFull = false }) {
  const rounds = isQuick ? 3 : 5;
  return inWorkplace("pool", async (directory) => {
    const kron = await import(await bundle(file("entry.ts"), directory, "entry"));
    const worker = await bundle(file("worker.ts"), directory, "worker");
    const about = { kron, worker, directory, rounds };
    const rows = [await decideRow({ ...about, batches: isQuick ? 20 : 60 })];
    for (const count of [10_000, 100_000, ...(isFull ? [1_000_000] : [])])
      rows.push(await planRow({ ...about, count }));
    const lines = isQuick ? 50_000 : 200_000;
    const jsonLines = () =>
      `${jobsOfPart(0, lines)
        .map((job) => JSON.stringify(job))
        .join("\n")}\n`;
    rows.push(await loadRow({ ...about, name: "jsonl", count: lines, parts: 1, text: jsonLines }));
    const each = isQuick ? 2_000 : 5_000;
    const yaml = (part) => yamlOf(each).replaceAll("job-", `part-${part}-job-`);
    rows.push(await loadRow({ ...about, name: "yaml", count: 4 * each, parts: 4, text: yaml }));
    const load =
      "Both sides share the machine with whatever else runs on it: the ratio says what a second thread adds.";
    return { rows, notes: [load, ...rows.map(noteOf)] };
  });
}
