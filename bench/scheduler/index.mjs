/**
 * Tasks that are all due at the same moment, side by side with the in-process schedulers of the field: how long
 * registering takes, what a resting task costs, how late the callbacks are, and what waiting costs. One process at a
 * time, so that nobody disturbs anybody.
 */
import { median, spread } from "../lib/measure.mjs";
import { hasProc } from "../lib/proc.mjs";
import { row } from "../lib/report.mjs";
import { measureCell, NO_TIME_TO_REST } from "./cell.mjs";
import { DURABLE, MEMORY, PEERS } from "./registrars.mjs";

const METRICS = [
  { id: "D1", key: "registrationMs", what: "registering", unit: "ms" },
  { id: "D2", key: "bytesPerTask", what: "memory a task", unit: "B" },
  { id: "D3", key: "p50", what: "lateness p50", unit: "ms" },
  { id: "D3", key: "p99", what: "lateness p99", unit: "ms" },
  { id: "D4", key: "idlePercent", what: "waiting", unit: "% of a core" },
];

const FULL = { sizes: [1_000, 10_000, 100_000], rounds: 3, slotMs: 60_000, idleMs: 20_000 };
const QUICK = { sizes: [1_000, 10_000], rounds: 1, slotMs: 1_000, idleMs: 4_000 };
const LIMITS = { registerLimitMs: 120_000, fireLimitMs: 60_000 };
/** Registering ten times as many takes at least ten times as long, and with some libraries more. */
const LEAD_FACTOR = 20;
const FIRST_LEAD_MS = 1_000;

const NOTES = [
  "D1-D4: smaller is better. Lateness counts from the moment the tasks are due to the first line of the callback; memory is anonymous resident memory after a garbage collection, read from outside, minus that of the same process before registering (pages of mapped files are `file_bytes_per_task` in the JSON); at 1,000 tasks it mostly shows what any code takes when it first runs; waiting has a resolution of 10 ms of processor time.",
  "D1-D4: Kron with lmdbStore writes every task, and every start before the callback is called, to disk and syncs it: what is claimed is not started twice, what was cut off by a crash is run again, and what was missed is made up for once. No peer remembers anything across a restart, so it is compared with the best of them.",
];

function withShares(result) {
  return result.idleShare === undefined ? result : { ...result, idlePercent: result.idleShare * 100 };
}

async function measureWithLead(library, count, leadMs, settings) {
  const first = await measureCell(library, { count, leadMs, settings });
  if (first.cutOff !== NO_TIME_TO_REST) return first;
  return measureCell(library, { count, leadMs: 2 * first.registrationMs, settings });
}

/** All rounds of one library and size; gives up at the first that is cut off. */
async function measureRounds(library, count, leadMs, settings) {
  const rounds = [];
  for (let i = 0; i < settings.rounds; i += 1) {
    const result = withShares(await measureWithLead(library, count, leadMs, settings));
    rounds.push(result);
    if (result.cutOff) break;
  }
  return rounds;
}

function valuesOf(rounds, key) {
  return rounds.map((round) => round[key]).filter((value) => value !== undefined);
}

/** Sizes ascend, so that one that could not be finished tells not to try ten times as many. */
async function measureLibrary(library, settings, notes) {
  const bySize = new Map();
  let leadMs = FIRST_LEAD_MS;
  for (const count of settings.sizes) {
    const name = `${library}, ${count.toLocaleString("en")} tasks`;
    process.stderr.write(`bench: ${name} ...\n`);
    const rounds = await measureRounds(library, count, leadMs, settings);
    bySize.set(count, rounds);
    const cutOff = rounds.find((round) => round.cutOff)?.cutOff;
    if (cutOff === undefined) {
      leadMs = Math.max(FIRST_LEAD_MS, LEAD_FACTOR * median(valuesOf(rounds, "registrationMs")));
      continue;
    }
    const left = settings.sizes.filter((size) => size > count).map((size) => size.toLocaleString("en"));
    const rest = left.length > 0 ? ` Not tried with ${left.join(" and ")}.` : "";
    notes.push(`${name}: cut off (${cutOff}).${rest}`);
    break;
  }
  return bySize;
}

function medianOf(results, library, count, key) {
  const values = valuesOf(results.get(library).get(count) ?? [], key);
  return values.length === 0 ? null : median(values);
}

function spreadOf(rounds, key) {
  const values = valuesOf(rounds, key);
  return values.length > 1 && median(values) > 0 ? spread(values) : null;
}

function comparison(results, { library, count, metric, peer, peerName = peer }) {
  const rounds = results.get(library).get(count) ?? [];
  return row({
    id: metric.id,
    name: `${metric.what}, ${count.toLocaleString("en")} tasks, ${library.replace("Kron, ", "")}, ${rounds.length} ${rounds.length === 1 ? "round" : "rounds"}`,
    value: medianOf(results, library, count, metric.key),
    unit: metric.unit,
    peer: peerName,
    peer_value: peer === null ? null : medianOf(results, peer, count, metric.key),
    spread: spreadOf(rounds, metric.key),
    file_bytes_per_task: metric.id === "D2" ? medianOf(results, library, count, "fileBytesPerTask") : null,
    resting_bytes_per_task: metric.id === "D2" ? medianOf(results, library, count, "restingBytesPerTask") : null,
    max_ms: metric.id === "D3" ? medianOf(results, library, count, "max") : null,
  });
}

function bestPeer(results, count, key) {
  const measured = PEERS.filter((peer) => medianOf(results, peer, count, key) !== null);
  const ranked = measured.sort((a, b) => medianOf(results, a, count, key) - medianOf(results, b, count, key));
  return ranked[0] ?? null;
}

function rowsOf(results, { sizes }) {
  return sizes.flatMap((count) =>
    METRICS.flatMap((metric) => {
      const best = bestPeer(results, count, metric.key);
      const durable = { library: DURABLE, peer: best, peerName: best && `the best: ${best}` };
      return [...PEERS.map((peer) => ({ library: MEMORY, peer })), durable].map((pair) =>
        comparison(results, { ...pair, count, metric }),
      );
    }),
  );
}

export async function run({ isQuick, isFull }) {
  if (!hasProc()) return { rows: [], notes: ["scheduler: not measured, because this system has no /proc."] };
  const settings = { ...LIMITS, ...(isQuick ? QUICK : FULL), ...(isFull ? { sizes: FULL.sizes } : {}) };
  const notes = [...NOTES];
  if (isQuick) {
    notes.push(
      "D1-D4, quick: tasks are due at the next free second instead of the next minute (peers by their seconds field, Kron by its injected clock), so that no minute passes in vain.",
    );
  }
  const results = new Map();
  for (const library of [MEMORY, DURABLE, ...PEERS]) {
    results.set(library, await measureLibrary(library, settings, notes));
  }
  return { rows: rowsOf(results, settings), notes };
}
