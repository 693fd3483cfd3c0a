/** P8: what holding jobs costs while none is due: processor time of all threads and helpers, and growing memory. */
import { setTimeout as wait } from "node:timers/promises";
import { inWorkplace } from "../lib/workplace.mjs";
import { cronName, KROND, withHolders } from "./resting.mjs";
import { compared, thousands } from "./rows.mjs";

const FULL = { counts: [10_000, 100_000], settleMs: 15_000, windowMs: 60_000, windows: 3 };
const QUICK = { counts: [10_000], settleMs: 5_000, windowMs: 10_000, windows: 1 };
const MINUTE_MS = 60_000;

/** All in the same time: who rests does not disturb who rests. */
async function oneWindow(holders, windowMs) {
  const look = () => new Map([...holders].map(([name, it]) => [name, { cpuMs: it.cpuMs(), ...it.memory() }]));
  const startedMs = performance.now();
  const before = look();
  await wait(windowMs);
  const after = look();
  const tookMs = performance.now() - startedMs;
  const change = ([name, { cpuMs, anonymous }]) => {
    const earlier = before.get(name);
    return [
      name,
      {
        percent: (100 * (cpuMs - earlier.cpuMs)) / tookMs,
        kibAMinute: ((anonymous - earlier.anonymous) / 1024) * (MINUTE_MS / tookMs),
      },
    ];
  };
  return new Map([...after].map(change));
}

async function measureCount(directory, count, { settleMs, windowMs, windows }) {
  process.stderr.write(`bench: idle, ${thousands(count)} jobs ...\n`);
  return withHolders(directory, { count, isCollectable: false }, async (holders, absent) => {
    await wait(settleMs);
    const done = [];
    for (let index = 0; index < windows; index += 1) done.push(await oneWindow(holders, windowMs));
    return { names: [...holders.keys(), ...absent.keys()], absent, windows: done };
  });
}

function rowsOf(count, { names, windows }) {
  const roundsOf = (name) => windows.map((window) => window.get(name)).filter((round) => round !== undefined);
  const peers = names.filter((name) => name !== KROND).map((name) => ({ name, rounds: roundsOf(name) }));
  const against = (peer, key, name, unit) =>
    compared({ id: "P8", name: `${name}, ${thousands(count)} resting jobs`, key, unit, ours: roundsOf(KROND), peer });
  return [
    ...peers.map((peer) => against(peer, "percent", "processor time", "% of a core")),
    // Of the others, collectors of garbage make this go up and down.
    against(
      peers.find(({ name }) => name === cronName()),
      "kibAMinute",
      "growth of own memory",
      "KiB/min",
    ),
  ];
}

export async function run({ isQuick }) {
  const settings = isQuick ? QUICK : FULL;
  return inWorkplace("idle", async (directory) => {
    const rows = [];
    const notes = [];
    for (const count of settings.counts) {
      const measured = await measureCount(directory, count, settings);
      rows.push(...rowsOf(count, measured));
      for (const [name, reason] of measured.absent) {
        notes.push(`P8, ${thousands(count)} jobs: ${name} could not be measured: ${reason}.`);
      }
    }
    return { rows, notes };
  });
}
