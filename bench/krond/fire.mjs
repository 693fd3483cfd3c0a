/**
 * P5: many jobs chosen for one and the same second. How late is each command, by the time that it writes down itself as the
 * first thing it does; how many start a second; how late the daemon's event loop is meanwhile; and whether any is missed.
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { bundle } from "../lib/bundle.mjs";
import { median } from "../lib/measure.mjs";
import { previousName } from "../lib/previous.mjs";
import { inWorkplace, until } from "../lib/workplace.mjs";
import { withKrond } from "./daemon.mjs";
import { cronRefusal, cronVersion } from "./debian-cron.mjs";
import { cronRounds, gatesRound, NodeSpawner, spawnersRound, stampsOf } from "./fire-peers.mjs";
import { assertChosen, dueJob, jsonLines } from "./jobs.mjs";
import { loopDelayMs } from "./metrics.mjs";
import { clockShift, nativePrograms } from "./native.mjs";
import { compared, thousands } from "./rows.mjs";
import { latenessOf } from "./stamps.mjs";

/** `spacingMs`: from one chosen second to the next. Between them the others have their turn. */
const FULL = {
  sizes: [
    { count: 1_000, rounds: 5, spacingMs: 20_000, nodeRounds: 3, cronRounds: 3 },
    { count: 5_000, rounds: 3, spacingMs: 60_000, nodeRounds: 0, cronRounds: 3 },
    { count: 5_000, rounds: 3, spacingMs: 60_000, nodeRounds: 0, cronRounds: 0, maxArmed: 5_000 },
  ],
};
const QUICK = { sizes: [{ count: 1_000, rounds: 3, spacingMs: 12_000, nodeRounds: 1, cronRounds: 1 }] };

const FIRST_LEAD_MS = 8_000;
const LEAD_PER_JOB_MS = 0.3;
const MOST_LEAD_MS = 600_000;
const BOOT_LIMIT_MS = 600_000;
/** Before processes are made ready ahead of their second. */
const CALM_MS = 4_000;
const DEADLINE_MS = 30_000;
/** For the ends of the last runs, which belong to the load too. */
const ENDS_LIMIT_MS = 10_000;
const SETTLE_MS = 500;

const GATE = new URL("./gate-entry.ts", import.meta.url).pathname;

class TooLate extends Error {}

const C_PEER = "posix_spawn from two C processes";
const GATES_PEER = "gates alone, released by a C program";
const NODE_PEER = "child_process.spawn, heap of 1 GB";

function identityOf(round, index) {
  return `bench/round-${round}/job-${index}`;
}

/** The configuration: a folder, when there are settings beside the jobs. */
async function writeConfig(directory, name, size, dueAts, commandOf) {
  if (size.maxArmed === undefined) {
    const file = join(directory, `${name}.jsonl`);
    await writeJobs(file, size, dueAts, commandOf);
    return file;
  }
  const folder = join(directory, name);
  mkdirSync(folder);
  writeFileSync(join(folder, "settings.yaml"), `max_armed: ${size.maxArmed}\njobs: []\n`);
  await writeJobs(join(folder, "jobs.jsonl"), size, dueAts, commandOf);
  return folder;
}

async function writeJobs(file, { count, rounds }, dueAts, commandOf) {
  const jobs = Array.from({ length: rounds }, (_, round) =>
    Array.from({ length: count }, (_, index) => dueJob(identityOf(round, index), dueAts[round], commandOf(round))),
  );
  for (const [round, [job]] of jobs.entries()) await assertChosen(job, dueAts[round]);
  writeFileSync(file, jsonLines(jobs.flat()));
}

/** All rounds of one daemon: it holds the jobs of all of them, and each round is chosen for a second of its own. */
async function krondRounds(directory, size, programs, { betweenRounds, root }, leadMs) {
  const name = `${keyOf(size)}-${leadMs}${root === undefined ? "" : "-against"}`;
  const files = Array.from({ length: size.rounds }, (_, round) => join(directory, `stamps-${name}-${round}`));
  const firstAt = Math.ceil((Date.now() + leadMs) / 1000) * 1000;
  const dueAts = files.map((_, round) => firstAt + round * size.spacingMs);
  const config = await writeConfig(directory, `jobs-${name}`, size, dueAts, (round) => programs.stamp(files[round]));
  const state = join(directory, `state-${name}`);
  return withKrond({ config, state, limitMs: BOOT_LIMIT_MS, root }, async (krond) => {
    if (Date.now() > firstAt - CALM_MS) throw new TooLate();
    const rounds = [];
    for (const [round, dueAt] of dueAts.entries()) {
      rounds.push(await krondRound(krond, { count: size.count, dueAt, file: files[round] }));
      await betweenRounds();
    }
    const outcomes = [...krond.outcomes().values()];
    const executed = outcomes.filter((outcome) => outcome === "executed").length;
    return { rounds, executed, wanted: outcomes.length };
  });
}

async function krondRound(krond, { count, dueAt, file }) {
  await until(dueAt - CALM_MS);
  await krond.metrics();
  const cpuBeforeMs = krond.cpuMs();
  await until(dueAt);
  const stamps = await stampsOf(file, count, DEADLINE_MS + CALM_MS);
  const samples = [];
  const isOver = async () => {
    samples.push(await krond.metrics());
    return samples.at(-1).get("kron_active") === 0;
  };
  const giveUpAt = Date.now() + ENDS_LIMIT_MS;
  while (!(await isOver()) && Date.now() < giveUpAt) await wait(SETTLE_MS);
  const [first] = samples;
  const cpuMs = (krond.cpuMs() - cpuBeforeMs) / count;
  return {
    ...latenessOf(stamps, dueAt),
    cpuMs,
    loopDelay: loopDelayMs(first, "0.99"),
    loopMax: loopDelayMs(first, "1"),
  };
}

/** `betweenRounds`: what the others do meanwhile. `root`: another version of Kron. */
async function measuredKrond(directory, size, programs, options) {
  let leadMs = FIRST_LEAD_MS + size.count * size.rounds * LEAD_PER_JOB_MS;
  for (;;) {
    try {
      return await krondRounds(directory, size, programs, options, leadMs);
    } catch (error) {
      if (!(error instanceof TooLate) || leadMs > MOST_LEAD_MS) throw error;
      leadMs *= 2;
    }
  }
}

async function nodeRounds(directory, { count, nodeRounds: rounds }, programs) {
  const done = [];
  for (let index = 0; index < rounds; index += 1) {
    const file = join(directory, `node-${count}-${index}`);
    const spawner = new NodeSpawner(count, programs.stamp(file));
    try {
      const { dueAt, stamps, loopDelayMs: loopDelay } = await spawner.round(file);
      done.push({ ...latenessOf(stamps, dueAt), loopDelay });
    } finally {
      await spawner.stop();
    }
  }
  return done;
}

async function cronMeasured(directory, { count, cronRounds: rounds }, programs, { isQuick, refusal }) {
  if (refusal !== null || rounds === 0) return [];
  const shiftLibrary = isQuick ? clockShift(directory) : null;
  const done = await cronRounds({ directory, stamp: programs.stamp, count, rounds, shiftLibrary });
  return done.map(({ dueAt, stamps }) => latenessOf(stamps, dueAt));
}

async function measureSize(directory, size, context) {
  const { programs, script } = context;
  const { spawner } = programs;
  const { count } = size;
  process.stderr.write(`bench: fire, ${whatOf(size)} ...\n`);
  const spawners = [];
  const gates = [];
  const spawnOnce = async () => {
    if (spawner === null) return;
    const fileOf = (kind) => join(directory, `${kind}-${keyOf(size)}-${spawners.length}`);
    const spawned = await spawnersRound({ spawner, file: fileOf("spawners"), count });
    const released = await gatesRound({ spawner, script, file: fileOf("gates"), count });
    spawners.push(latenessOf(spawned.stamps, spawned.dueAt));
    gates.push(latenessOf(released.stamps, released.dueAt));
  };
  const krond = await measuredKrond(directory, size, programs, { betweenRounds: spawnOnce });
  const { against } = context;
  const quiet = { betweenRounds: async () => {}, root: against };
  const before = against === null ? null : await measuredKrond(directory, size, programs, quiet);
  const node = await nodeRounds(directory, size, programs);
  const cron = await cronMeasured(directory, size, programs, context);
  return { krond, before, spawners, gates, node, cron };
}

function keyOf({ count, maxArmed = "default" }) {
  return `${count}-${maxArmed}`;
}

function whatOf({ count, maxArmed }) {
  const setting = maxArmed === undefined ? "" : `, max_armed ${thousands(maxArmed)}`;
  return `${thousands(count)} jobs chosen for one second${setting}`;
}

function rowsOf(size, { krond, before, spawners, gates, node, cron }, { cronName, against }) {
  const what = whatOf(size);
  const ours = krond.rounds;
  const peers = [
    { name: C_PEER, rounds: spawners },
    { name: GATES_PEER, rounds: gates },
    ...(size.cronRounds === 0 ? [] : [{ name: cronName, rounds: cron }]),
    ...(node.length === 0 ? [] : [{ name: NODE_PEER, rounds: node }]),
    ...(before === null ? [] : [{ name: previousName(against), rounds: before.rounds }]),
  ];
  // Of krond and its launchers, from before processes are made ready until all have ended.
  const more = { cpu_ms_a_start: median(ours.map(({ cpuMs }) => cpuMs)) };
  const rowsAgainst = (key, name, unit) =>
    peers.map((peer) => compared({ id: "P5", name: `${name}, ${what}`, key, unit, ours, peer, ...more }));
  const missed = { name: "chosen", rounds: [{ share: 100 }] };
  const executed = [{ share: (100 * krond.executed) / krond.wanted }];
  return [
    ...rowsAgainst("p50", "start lateness p50", "ms"),
    ...rowsAgainst("p99", "start lateness p99", "ms"),
    ...rowsAgainst("rate", "starts a second", "starts/s"),
    ...loopRow(ours, node, what),
    compared({
      id: "P5",
      name: `executed within a deadline of 30 s, ${what}`,
      key: "share",
      unit: "%",
      ours: executed,
      peer: missed,
      jobs: krond.wanted,
    }),
  ];
}

function loopRow(ours, node, what) {
  const peer = { name: NODE_PEER, rounds: node };
  const more = { max_ms: Math.max(...ours.map(({ loopMax }) => loopMax)) };
  const name = `delay of the event loop p99, ${what}`;
  return [compared({ id: "P5", name, key: "loopDelay", unit: "ms", ours, peer, ...more })];
}

function notesOf(size, measured) {
  const early = measured.krond.rounds.reduce((sum, round) => sum + round.early, 0);
  if (early > 0) throw new Error(`bench: krond started ${early} commands before their chosen second`);
  const lost = measured.cron.filter(({ count }) => count < size.count).map(({ count }) => count);
  return lost.length === 0
    ? []
    : [`P5, ${thousands(size.count)} jobs: Debian cron started only ${lost.join(", ")} of them within 50 s.`];
}

function systemdReason() {
  return existsSync("/run/systemd/system")
    ? "thousands of units would have to be given to the systemd of this machine"
    : "systemd is not the first process here";
}

export async function run({ isQuick, against = null }) {
  const settings = isQuick ? QUICK : FULL;
  return inWorkplace("fire", async (directory) => {
    const programs = nativePrograms(directory);
    const { gateScript: script } = await import(await bundle(GATE, directory, "gate"));
    const refusal = cronRefusal();
    const cronName = `Debian cron ${refusal === null ? cronVersion() : ""}`.trim();
    const rows = [];
    const notes = [];
    if (programs.reason !== null)
      notes.push(`P5: ${C_PEER} is not available: ${programs.reason}; commands are shell scripts.`);
    if (refusal !== null) notes.push(`P5: Debian cron is not available: ${refusal}.`);
    notes.push(`P5: systemd's timers were not measured: ${systemdReason()}.`);
    for (const size of settings.sizes) {
      const measured = await measureSize(directory, size, { programs, script, isQuick, refusal, against });
      rows.push(...rowsOf(size, measured, { cronName, against }));
      notes.push(...notesOf(size, measured));
    }
    return { rows, notes };
  });
}
