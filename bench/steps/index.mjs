/**
 * P5b: what Kron itself costs when nothing is waited for, in processor time. The steps of a run alone, beside XState driving
 * the same charts; the first sight of a job; and whole durable runs, with a real store and a runner that answers at once.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { compared, thousands } from "../krond/rows.mjs";
import { bundle } from "../lib/bundle.mjs";
import { previousName } from "../lib/previous.mjs";
import { inWorkplace } from "../lib/workplace.mjs";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const XSTATE = "XState's transition() on the same charts";
const MACHINES = "through a step of the machines";
const FULL = { rounds: 5, days: 60, warmUpDays: 60, sights: 20_000, runs: 10_000, warmUpRuns: 20_000 };
const QUICK = { rounds: 3, days: 4, warmUpDays: 30, sights: 5_000, runs: 3_000, warmUpRuns: 6_000 };
const JOBS = 256;
const AT_A_TIME = 256;
const DURABLE_JOBS = 1_000;
/** Of what a job keeps of its past: documents of 1.5 kB, as in P6, and as much as there is by default. */
const HISTORIES = [
  [6, "1.5 kB a document"],
  [20, "5 kB a document"],
];
const KINDS = [
  ["slot", "a run of a slot"],
  ["process", "a run of a period"],
];

async function play(settings) {
  const { stdout } = await promisify(execFile)(process.execPath, [here("./worker.mjs"), JSON.stringify(settings)]);
  return JSON.parse(stdout);
}

/** What a version cannot do is no reason to measure nothing of the others. */
async function tried(peer, notes, measure) {
  try {
    return await measure();
  } catch (error) {
    const said = /\w*Error: .*/.exec(error.message)?.[0] ?? error.message;
    notes.push(`P5b: ${peer} could not be measured: ${said.trim().slice(0, 200)}.`);
    return [];
  }
}

/** By contender, the bundle of an entry. */
async function bundles(entry, directory, against, notes) {
  const name = entry.replace(/\W/g, "-");
  const made = new Map([["kron", await bundle(here(entry), directory, name)]]);
  if (against === null) return made;
  const peer = previousName(against);
  await tried(peer, notes, async () => {
    made.set(peer, await bundle(here(entry), directory, `${name}-against`, { root: against }));
  });
  return made;
}

function allSteps(round) {
  return Object.entries(round).reduce((sum, [name, us]) => (name === "activate" ? sum : sum + us), 0);
}

async function runRows(settings, entries, notes) {
  const rows = [];
  for (const [kind, what] of KINDS) {
    const from = { task: "runs", kind, jobs: JOBS, ...settings };
    const measured = new Map();
    for (const [name, entry] of entries) {
      process.stderr.write(`bench: steps, ${kind}, ${name} ...\n`);
      const measure = () => play({ ...from, entry });
      measured.set(name, name === "kron" ? await measure() : await tried(name, notes, measure));
    }
    const withSum = (rounds) => rounds.map((round) => ({ ...round, all: allSteps(round) }));
    const ours = withSum(measured.get("kron"));
    for (const [name, rounds] of [...measured].filter(([name]) => name !== "kron")) {
      const peer = { name, rounds: withSum(rounds) };
      const steps = Object.keys(ours[0]).filter((key) => key !== "all");
      const rowOf = (key, label) => compared({ id: "P5b", name: `${what}, ${label}`, key, unit: "µs", ours, peer });
      rows.push(rowOf("all", "all steps"), ...steps.map((key) => rowOf(key, key)));
    }
  }
  return rows;
}

async function sightRows(settings, entries, notes) {
  process.stderr.write("bench: steps, first sight ...\n");
  const from = { task: "sight", jobs: settings.sights, rounds: settings.rounds };
  const ours = await play({ ...from, entry: entries.get("kron") });
  const rows = [
    compared({
      id: "P5b",
      name: "first sight of a job: its rule, its document, its records",
      key: "sight",
      unit: "µs",
      ours,
      peer: { name: MACHINES, key: "machines", rounds: ours },
    }),
  ];
  for (const [name, entry] of [...entries].filter(([name]) => name !== "kron")) {
    const rounds = await tried(name, notes, () => play({ ...from, entry }));
    rows.push(compared({ ...rows[0], key: "sight", ours, peer: { name, rounds } }));
  }
  return rows;
}

async function durableRows(settings, entries, directory, notes) {
  const rows = [];
  for (const [historyLimit, size] of settings.rounds < FULL.rounds ? HISTORIES.slice(0, 1) : HISTORIES) {
    const measured = new Map();
    for (const [name, entry] of entries) {
      process.stderr.write(`bench: steps, whole runs, ${size}, ${name} ...\n`);
      const place = join(directory, `${historyLimit}-${measured.size}`);
      const { rounds, runs, warmUpRuns } = settings;
      const from = { task: "durable", entry, directory: place, jobs: DURABLE_JOBS, historyLimit };
      const measure = () => play({ ...from, runs, warmUpRuns, atATime: AT_A_TIME, rounds });
      measured.set(name, name === "kron" ? await measure() : await tried(name, notes, measure));
    }
    const name = `a whole durable run, ${thousands(AT_A_TIME)} at a time, ${size}`;
    const ours = measured.get("kron");
    const peers = [...measured].filter(([key]) => key !== "kron").map(([key, rounds]) => ({ name: key, rounds }));
    const all = peers.length > 0 ? peers : [{ name: null, rounds: [] }];
    rows.push(...all.map((peer) => compared({ id: "P5b", name, key: "cpu", unit: "µs", ours, peer })));
  }
  return rows;
}

export async function run({ isQuick, against = null }) {
  const settings = isQuick ? QUICK : FULL;
  return inWorkplace("steps", async (directory) => {
    const notes = [];
    const pure = await bundles("./runs-entry.ts", directory, against, notes);
    const sight = await bundles("./sight-entry.ts", directory, against, notes);
    const replaced = { "machines/advance.ts": here("./xstate-advance.ts") };
    const xstate = await bundle(here("./runs-entry.ts"), directory, "xstate", { replaced });
    const durable = await bundles("./durable-entry.ts", directory, against, notes);
    const rows = [
      ...(await runRows(settings, new Map([...pure, [XSTATE, xstate]]), notes)),
      ...(await sightRows(settings, sight, notes)),
      ...(await durableRows(settings, durable, directory, notes)),
    ];
    return { rows, notes };
  });
}
