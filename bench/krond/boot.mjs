/**
 * P4: from the start of the process to its line `ready`, measured by whoever started it: with an empty state directory, with
 * the one that an orderly end has left, and with the one that is left by `kill -9`. Memory at that moment, and how late the
 * event loop was until then.
 */

import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { median } from "../lib/measure.mjs";
import { previousName } from "../lib/previous.mjs";
import { eventually, inWorkplace } from "../lib/workplace.mjs";
import { Krond } from "./daemon.mjs";
import { cronRefusal, cronVersion, DebianCron } from "./debian-cron.mjs";
import { crontabLine, crontabs, jsonLines, restingExpression, restingJob, yaml } from "./jobs.mjs";
import { nativePrograms } from "./native.mjs";
import { compared, thousands } from "./rows.mjs";
import { readStamps } from "./stamps.mjs";

const RAW_WORKER = fileURLToPath(new URL("./boot-raw.mjs", import.meta.url));
const ROUNDS = 5;
/** Of what takes longer than half a minute. */
const FEW_ROUNDS = 3;
const LONG_MS = 30_000;
const BOOT_LIMIT_MS = 20 * 60_000;
const QUICK_COUNTS = { jsonl: [10_000], yaml: [] };
const COUNTS = { jsonl: [10_000, 100_000], yaml: [10_000] };
const FULL_COUNTS = { jsonl: [10_000, 100_000, 1_000_000], yaml: [10_000] };
/** Measured again with most of its jobs suspended. */
const SUSPENDED_FORM = "jsonl";
const SUSPENDED_AT_MOST = 100_000;
const ENABLED_ONE_IN = 20;
const WRITERS = { jsonl: jsonLines, yaml };
const CRON_LIMIT_MS = 600_000;

async function bootOnce(config, directory, root, isKilled = false) {
  const probe = join(directory, "loop.json");
  const krond = new Krond({ config, state: join(directory, "state"), probe, root });
  try {
    await krond.ready(BOOT_LIMIT_MS);
    const [memory, cpuMs] = [krond.memory(), krond.cpuMs()];
    const { p99, max } = await krond.loopDelay();
    return { readyMs: krond.readyMs, cpuMs, loopP99: p99, loopMax: max, ...memory };
  } finally {
    await krond.stop(isKilled ? "SIGKILL" : "SIGTERM");
  }
}

/** As many rounds as are due to something that takes so long. */
function isEnough(rounds, { isQuick }) {
  const wanted = isQuick || (rounds[0]?.readyMs ?? 0) > LONG_MS ? FEW_ROUNDS : ROUNDS;
  return rounds.length >= wanted;
}

/** `root`: another version of Kron, beside which nothing else is measured. */
async function measureKrond(directory, config, context, root) {
  const [first, again, crashed] = [[], [], []];
  const raw = { loading: [], restart: [] };
  const place = join(directory, root === undefined ? "krond" : "against");
  while (!isEnough(first, context)) {
    rmSync(place, { recursive: true, force: true });
    mkdirSync(place);
    first.push(await bootOnce(config, place, root));
    if (root === undefined && config.endsWith(".jsonl"))
      raw.loading.push(rawOnce(["load", config, join(place, "raw.mdb")]));
  }
  while (!isEnough(again, context)) {
    again.push(await bootOnce(config, place, root));
    if (root === undefined) raw.restart.push(rawOnce(["read", join(place, "state")]));
  }
  // The one that is killed first was started after an orderly end.
  await bootOnce(config, place, root, true);
  while (!isEnough(crashed, context)) crashed.push(await bootOnce(config, place, root, true));
  return { first, again, crashed, raw };
}

/** A process with nothing of ours in it, from its start to its end. */
function rawOnce(args) {
  const startedMs = performance.now();
  const { status, stderr } = spawnSync(process.execPath, ["--max-old-space-size=8192", RAW_WORKER, ...args]);
  if (status !== 0) throw new Error(`the raw reading ended with ${status}: ${stderr}`);
  return { readyMs: performance.now() - startedMs };
}

/** Cron has read its tables when it starts what is to run at its own start. */
async function measureCron(directory, count, context) {
  const rounds = [];
  while (context.cronRefusal === null && !isEnough(rounds, context)) {
    const place = join(directory, `cron-${rounds.length}`);
    mkdirSync(place);
    const file = join(place, "stamp");
    const lines = Array.from({ length: count }, (_, index) =>
      crontabLine(restingExpression(index, Date.now()), "/bin/true"),
    );
    const first = crontabLine("@reboot", context.stamp(file).join(" "));
    const cron = new DebianCron({ directory: place, tables: crontabs(lines, first) });
    const startedAt = performance.timeOrigin + cron.startedMs;
    try {
      const [at] = await eventually(() => nonEmpty(readStamps(file)), CRON_LIMIT_MS, "starting cron");
      rounds.push({ readyMs: at - startedAt, ...cron.memory() });
    } finally {
      await cron.stop();
    }
  }
  return rounds;
}

function nonEmpty(values) {
  return values.length === 0 ? null : values;
}

function bootRows(count, form, { first, again, crashed, raw, cron, before }, { cronName, against }) {
  const jobs = `${form}, ${thousands(count)} jobs`;
  const debian = { name: cronName, rounds: cron };
  const loading = { name: "JSON.parse and lmdb alone, same lines", rounds: raw.loading };
  const reading = { name: "lmdb and JSON.parse alone, same store", rounds: raw.restart };
  const other = (rounds) => (before === null ? [] : [{ name: previousName(against), rounds }]);
  const [otherFirst, otherAgain, otherCrashed] = [before?.first, before?.again, before?.crashed].map(other);
  return [
    ...startRows(`first start, ${jobs}`, first, [...(form === "jsonl" ? [loading] : []), debian, ...otherFirst]),
    ...startRows(`restart, ${jobs}`, again, [reading, debian, ...otherAgain]),
    ...startRows(`start after kill -9, ${jobs}`, crashed, [reading, ...otherCrashed]),
    ...resourceRows(`first start, ${jobs}`, first, [debian, ...otherFirst]),
    ...resourceRows(`restart, ${jobs}`, again, [debian, ...otherAgain]),
    ...loopRows(`start after kill -9, ${jobs}`, crashed),
  ];
}

/** The same set as it is when an operator has switched most of it off: nothing of it is due, and it is no dearer. */
function suspendedRows(count, form, suspended, { first, again }) {
  const what = `${form}, ${thousands(count)} jobs, most suspended`;
  const peerOf = (rounds) => [{ name: "the same jobs, none suspended", rounds }];
  return [
    ...startRows(`first start, ${what}`, suspended.first, peerOf(first)),
    ...startRows(`restart, ${what}`, suspended.again, peerOf(again)),
    ...loopRows(`first start, ${what}`, suspended.first),
    ...loopRows(`restart, ${what}`, suspended.again),
  ];
}

function startRows(what, ours, peers) {
  const more = { cpu_ms: median(ours.map(({ cpuMs }) => cpuMs)) };
  const fields = { id: "P4", name: `time until ready, ${what}`, key: "readyMs", unit: "ms", ours, ...more };
  return peers.map((peer) => compared({ ...fields, peer }));
}

/** A delay has no peer; what there is to compare it with is the time that all of it took. */
function loopRows(what, ours) {
  const whole = { name: "the whole start", key: "readyMs", rounds: ours };
  const loop = (key, name) =>
    compared({ id: "P4", name: `delay of the event loop ${name}, ${what}`, key, unit: "ms", ours, peer: whole });
  return [loop("loopP99", "p99"), loop("loopMax", "max")];
}

function resourceRows(what, ours, peers) {
  const mib = (round) => ({ mib: round.anonymous / 2 ** 20, rss: round.rss / 2 ** 20, file: round.file / 2 ** 20 });
  const memory = ours.map(mib);
  const memoryRow = ({ name, rounds }) =>
    compared({
      id: "P4",
      name: `own memory when ready, ${what}`,
      key: "mib",
      unit: "MiB",
      ours: memory,
      peer: { name, rounds: rounds.map(mib) },
      rss_mib: memory[0]?.rss,
      file_mib: memory[0]?.file,
    });
  return [...loopRows(what, ours), ...peers.map(memoryRow)];
}

async function measureCount(root, form, count, context) {
  process.stderr.write(`bench: boot, ${thousands(count)} jobs from ${form} ...\n`);
  const directory = join(root, `${form}-${count}`);
  mkdirSync(directory);
  const config = join(directory, `jobs.${form}`);
  const now = Date.now();
  const jobs = Array.from({ length: count }, (_, index) => restingJob(index, now));
  writeFileSync(config, WRITERS[form](jobs));
  const measured = await measureKrond(directory, config, context);
  const before = context.against === null ? null : await measureKrond(directory, config, context, context.against);
  // Once for each number of jobs: the form of our own files is nothing to cron.
  context.cron[count] ??= await measureCron(directory, count, context);
  const rows = bootRows(count, form, { ...measured, before, cron: context.cron[count] }, context);
  if (form === SUSPENDED_FORM && count <= SUSPENDED_AT_MOST) {
    writeFileSync(config, WRITERS[form](jobs.map(mostlySuspended)));
    const suspended = await measureKrond(directory, config, context);
    rows.push(...suspendedRows(count, form, suspended, measured));
  }
  for (const name of readdirSync(directory)) rmSync(join(directory, name), { recursive: true, force: true });
  return rows;
}

function mostlySuspended(job, index) {
  return index % ENABLED_ONE_IN === 0 ? job : { ...job, policy: { ...job.policy, suspend: true } };
}

export async function run({ isQuick, isFull, against = null }) {
  const counts = isFull ? FULL_COUNTS : isQuick ? QUICK_COUNTS : COUNTS;
  return inWorkplace("boot", async (directory) => {
    const refusal = cronRefusal();
    const context = {
      isQuick,
      against,
      cronRefusal: refusal,
      cronName: `Debian cron ${refusal === null ? cronVersion() : ""}`.trim(),
      cron: {},
      ...nativePrograms(directory),
    };
    const rows = [];
    const notes = refusal === null ? [] : [`P4: Debian cron is not available: ${refusal}.`];
    for (const [form, sizes] of Object.entries(counts)) {
      for (const count of sizes) {
        try {
          rows.push(...(await measureCount(directory, form, count, context)));
        } catch (error) {
          notes.push(`P4, ${thousands(count)} jobs from ${form}: cut off (${error.message}).`);
        }
      }
    }
    return { rows, notes };
  });
}
