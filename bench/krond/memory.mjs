/**
 * P3: what one more resting job costs: own (anonymous) memory with many jobs minus that with a thousand, by the number of
 * jobs in between. Right after the start, when there was time to tidy up, and without what is only garbage.
 */
import { setTimeout as wait } from "node:timers/promises";
import { median } from "../lib/measure.mjs";
import { inWorkplace } from "../lib/workplace.mjs";
import { KROND, withHolders } from "./resting.mjs";
import { compared, thousands } from "./rows.mjs";

const BASE = 1_000;
const FULL = { counts: [10_000, 100_000], settleMs: 30_000, rounds: 3 };
const QUICK = { counts: [10_000], settleMs: 5_000, rounds: 1 };
const MILLION = 1_000_000;

async function oneRound(directory, count, settleMs) {
  return withHolders(directory, { count, isCollectable: true }, async (holders, absent) => {
    await wait(settleMs);
    const settled = new Map([...holders].map(([name, holder]) => [name, holder.memory()]));
    const seen = new Map();
    for (const [name, holder] of holders) {
      await holder.collect();
      seen.set(name, { first: holder.first, settled: settled.get(name), held: holder.memory() });
    }
    return { seen, absent };
  });
}

async function roundsOf(directory, count, { settleMs, rounds }) {
  process.stderr.write(`bench: memory, ${thousands(count)} jobs ...\n`);
  const done = [];
  for (let index = 0; index < rounds; index += 1) done.push(await oneRound(directory, count, settleMs));
  return done;
}

/** Bytes a job of each round, over the median of what a thousand jobs took. */
export function bytesAJob(rounds, base, count) {
  const share = (round, state, kind) =>
    (round[state][kind] - median(base.map((one) => one[state][kind]))) / (count - BASE);
  return rounds.map((round) => ({
    first: share(round, "first", "anonymous"),
    settled: share(round, "settled", "anonymous"),
    held: share(round, "held", "anonymous"),
    file: share(round, "settled", "file"),
  }));
}

function rowsOf(count, rounds, base) {
  const namesOf = ({ seen, absent }) => [...seen.keys(), ...absent.keys()];
  const of = (list, name) => list.map(({ seen }) => seen.get(name)).filter((it) => it !== undefined);
  const bytes = (name) => {
    const [many, few] = [of(rounds, name), of(base, name)];
    return many.length === 0 || few.length === 0 ? [] : bytesAJob(many, few, count);
  };
  const ours = bytes(KROND);
  const peers = namesOf(rounds[0]).filter((name) => name !== KROND);
  const rows = (key, when) =>
    peers.map((name) =>
      compared({
        id: "P3",
        name: `memory a resting job ${when}, ${thousands(count)} jobs`,
        key,
        unit: "B",
        ours,
        peer: { name, rounds: bytes(name) },
        file_bytes_per_job: ours[0]?.file,
      }),
    );
  return [...rows("first", "when ready"), ...rows("settled", "when settled"), ...rows("held", "without garbage")];
}

export async function run({ isQuick, isFull }) {
  const settings = isQuick ? QUICK : FULL;
  const counts = isFull ? [...settings.counts, MILLION] : settings.counts;
  return inWorkplace("memory", async (directory) => {
    const base = await roundsOf(directory, BASE, settings);
    const rows = [];
    const notes = [];
    for (const count of counts) {
      // What a heap has by chance is nothing beside a million jobs.
      const rounds = await roundsOf(directory, count, count === MILLION ? { ...settings, rounds: 1 } : settings);
      rows.push(...rowsOf(count, rounds, base));
      for (const [name, reason] of rounds[0].absent) {
        notes.push(`P3, ${thousands(count)} jobs: ${name} could not be measured: ${reason}.`);
      }
    }
    return { rows, notes };
  });
}
