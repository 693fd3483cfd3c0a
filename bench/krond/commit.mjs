/**
 * P6: durable transitions a second, next to what lmdb alone does with the same bytes, the same number of puts and a store
 * of the same size.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { bundle } from "../lib/bundle.mjs";
import { previousName } from "../lib/previous.mjs";
import { inWorkplace } from "../lib/workplace.mjs";
import { compared, thousands } from "./rows.mjs";

const ENTRY = fileURLToPath(new URL("./store-entry.ts", import.meta.url));
const WORKER = fileURLToPath(new URL("./commit-worker.mjs", import.meta.url));
const HEAP_MIB = 8_192;
const SMALL = 10_000;
const LARGE = 1_000_000;
/** Jobs that are due together, and so committed together. */
const GROUP = 1_000;
/** Enough history for a document of about 1.5 kB. */
const PAST_RUNS = 6;

function measure(settings) {
  const args = [`--max-old-space-size=${HEAP_MIB}`, WORKER, JSON.stringify(settings)];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }));
}

function rowsOf(identities, { results }, before) {
  return Object.entries(results).flatMap(([order, { ours, raw }]) => {
    const peers = [{ name: "lmdb alone, same bytes and puts", rates: raw }];
    if (before !== null) peers.push({ name: before.name, rates: before.results[order].ours });
    const what = `durable transitions, ${thousands(identities)} identities, ${order} order`;
    return peers.map(({ name, rates }) =>
      compared({
        id: "P6",
        name: what,
        key: "rate",
        unit: "transitions/s",
        ours: ours.map((rate) => ({ rate })),
        peer: { name, rounds: rates.map((rate) => ({ rate })) },
      }),
    );
  });
}

/** Another version's own way of making its transitions, if it has one. */
function entryOf(against) {
  const own = join(against, "bench/krond/store-entry.ts");
  return existsSync(own) ? own : ENTRY;
}

export async function run({ isQuick, isFull, against = null }) {
  const sizes = isFull ? [SMALL, LARGE] : [SMALL];
  const rounds = 5;
  return inWorkplace("commit", async (directory) => {
    const store = pathToFileURL(await bundle(ENTRY, directory, "store")).href;
    const other = against === null ? null : await bundle(entryOf(against), directory, "against", { root: against });
    const rows = [];
    const notes = [];
    for (const identities of sizes) {
      process.stderr.write(`bench: commit, ${thousands(identities)} identities ...\n`);
      const perRound = isQuick ? SMALL / 2 : SMALL;
      const place = join(directory, String(identities));
      const settings = { identities, perRound, rounds, group: GROUP, pastRuns: PAST_RUNS };
      const measured = measure({ ...settings, store, directory: place });
      const before =
        other === null
          ? null
          : {
              name: previousName(against),
              ...measure({ ...settings, store: pathToFileURL(other).href, directory: `${place}-against` }),
            };
      rows.push(...rowsOf(identities, measured, before));
      notes.push(
        `P6, ${thousands(identities)} identities: documents of ${measured.documentBytes} bytes, ${thousands(GROUP)} jobs a commit.`,
      );
    }
    return { rows, notes };
  });
}
