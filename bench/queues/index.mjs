/**
 * Callbacks that are all due at the same moment, and that must not be lost or repeated by a crash: Kron's scheduler in
 * the process, against the queues that programs are told to use for it, each with a server of its own. One contender at
 * a time, a fresh process and a fresh server for every round.
 */
import { median, spread } from "../lib/measure.mjs";
import { hasProc } from "../lib/proc.mjs";
import { row } from "../lib/report.mjs";
import { measureCell, TOO_LATE } from "./cell.mjs";
import { CONTENDERS, KRON } from "./contenders.mjs";

const METRICS = [
  { key: "p50", what: "lateness p50", unit: "ms", better: "lower" },
  { key: "p99", what: "lateness p99", unit: "ms", better: "lower" },
  { key: "max", what: "lateness max", unit: "ms", better: "lower" },
  { key: "settledMs", what: "until all is over", unit: "ms", better: "lower" },
  { key: "perSecond", what: "throughput", unit: "runs/s", better: "higher" },
];

const FULL = { sizes: [1_000, 10_000], rounds: 5 };
const QUICK = { sizes: [1_000], rounds: 1 };
const FIRST_LEAD_MS = 1_500;
/** The next round may take longer to plan than the last. */
const SPARE_FACTOR = 1.5;
/** Ten times as many take longer, but what is sent together takes less than ten times as long. */
const GROWTH_FACTOR = 3;

const NOTES = [
  "P7: lateness counts from the moment all is due to the first line of each callback, which does nothing; `until all is over` to the moment when the contender has been stopped and knows how every run ended; throughput is their quotient.",
  "P7: Kron and PostgreSQL sync every claim to disk; Redis does so only where it is said to, and else may lose the last second. Kron never begins an occurrence twice, unless a crash cut it off; the queues deliver at least once.",
  "P7: all take turns, each round with a fresh process and a fresh server. All is due at a whole second; Kron, whose finest grain is a minute, is told by its injected clock that this second begins one, so that nobody measures what else the machine does at every full minute.",
  "P7: the queues are set up as their pages on performance advise (BullMQ: 100 at a time; graphile-worker: 24 at a time, a local queue of 500, a look every 100 ms; pg-boss: batches of 1,000, a look every 0.5 s, the shortest it takes, one handler for a whole batch; Agenda: 1,000 at a time, a look every 100 ms). `delayed jobs` happen once; `job schedulers` come again by their expression, as Kron's tasks do.",
  "P7: starts over HTTP are measured apart, with P9. Bree is left out: each of its jobs is a thread of its own.",
];

function withThroughput(result, count) {
  return { ...result, perSecond: result.settledMs === null ? undefined : (count * 1000) / result.settledMs };
}

async function measureWithLead(contender, { count, leadMs }) {
  const first = await measureCell(contender, { count, leadMs });
  if (first.failure !== TOO_LATE) return first;
  return measureCell(contender, { count, leadMs: 2 * first.registrationMs });
}

/** One round of one contender; after its first failure it is left out of the further ones. */
async function measureRound(state, contender, count) {
  process.stderr.write(
    `bench: ${contender}, ${count.toLocaleString("en")} at once, round ${state.rounds.length + 1} ...\n`,
  );
  const result = await measureWithLead(contender, { count, leadMs: state.leadMs });
  state.failure = result.failure ?? null;
  if (state.failure !== null) return;
  state.rounds.push(withThroughput(result, count));
  state.leadMs = Math.max(state.leadMs, SPARE_FACTOR * result.registrationMs);
}

/**
 * All contenders take turns, so that what else happens on the machine happens to all of them. Sizes ascend: how long
 * planning takes at one size tells how much time to leave at the next.
 */
async function measureAll({ rounds, sizes }, notes) {
  const states = new Map(Object.keys(CONTENDERS).map((name) => [name, { leadMs: FIRST_LEAD_MS, failure: null }]));
  const results = new Map([...states.keys()].map((name) => [name, new Map()]));
  for (const count of sizes) {
    const taking = [...states].filter(([, { failure }]) => failure === null);
    for (const [name, state] of taking) {
      state.rounds = [];
      results.get(name).set(count, state.rounds);
    }
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, state] of taking) {
        if (state.failure !== null) continue;
        await measureRound(state, name, count);
        if (state.failure === null) continue;
        notes.push(`P7: ${name}, ${count.toLocaleString("en")} at once: not measured: ${state.failure}.`);
      }
    }
    for (const [, state] of taking) state.leadMs *= GROWTH_FACTOR;
  }
  return results;
}

function valuesOf(rounds, key) {
  return rounds.map((round) => round[key]).filter((value) => value !== undefined && value !== null);
}

function medianOf(rounds, key) {
  const values = valuesOf(rounds ?? [], key);
  return values.length === 0 ? null : median(values);
}

function titleOf(contender, results) {
  const seen = [...results.get(contender).values()].flat()[0];
  const name = seen?.version ? contender.replace(/^[\w-]+/, (library) => `${library} ${seen.version}`) : contender;
  return name;
}

function rowsOf(results, { sizes }) {
  const peers = Object.keys(CONTENDERS).filter((contender) => contender !== KRON);
  return sizes.flatMap((count) =>
    METRICS.flatMap((metric) => {
      const ours = results.get(KRON).get(count) ?? [];
      const values = valuesOf(ours, metric.key);
      return peers.map((peer) =>
        row({
          id: "P7",
          name: `${metric.what}, ${count.toLocaleString("en")} at once`,
          value: medianOf(ours, metric.key),
          unit: metric.unit,
          better: metric.better,
          peer: titleOf(peer, results),
          peer_value: medianOf(results.get(peer).get(count), metric.key),
          spread: values.length > 1 ? spread(values) : null,
          rounds: ours.length,
        }),
      );
    }),
  );
}

function serverNote(results) {
  const seen = Object.keys(CONTENDERS).map((contender) => {
    const version = [...results.get(contender).values()].flat()[0]?.serverVersion;
    return version ? `${CONTENDERS[contender].server === "postgres" ? "PostgreSQL" : "Redis"} ${version}` : null;
  });
  const servers = [...new Set(seen.filter((server) => server !== null))];
  return servers.length === 0 ? [] : [`P7: servers on Unix sockets of the same machine: ${servers.join(", ")}.`];
}

export async function run({ isQuick }) {
  if (!hasProc()) return { rows: [], notes: ["P7: not measured, because this system has no /proc."] };
  const settings = isQuick ? QUICK : FULL;
  const notes = [...NOTES];
  if (isQuick) notes.push("P7, quick: one round with 1,000.");
  const results = await measureAll(settings, notes);
  return { rows: rowsOf(results, settings), notes: [...notes, ...serverNote(results)] };
}
