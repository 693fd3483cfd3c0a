/**
 * P6: durable transitions a second, next to what lmdb alone does with the same bytes, the same number of puts and a store
 * of the same size.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { bundle } from "../lib/bundle.mjs";
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

function rowsOf(identities, { results }) {
  return Object.entries(results).map(([order, { ours, raw }]) =>
    compared({
      id: "P6",
      name: `durable transitions, ${thousands(identities)} identities, ${order} order`,
      key: "rate",
      unit: "transitions/s",
      ours: ours.map((rate) => ({ rate })),
      peer: { name: "lmdb alone, same bytes and puts", rounds: raw.map((rate) => ({ rate })) },
    }),
  );
}

export async function run({ isQuick, isFull }) {
  const sizes = isFull ? [SMALL, LARGE] : [SMALL];
  const rounds = 5;
  return inWorkplace("commit", async (directory) => {
    const store = pathToFileURL(await bundle(ENTRY, directory, "store")).href;
    const rows = [];
    const notes = [];
    for (const identities of sizes) {
      process.stderr.write(`bench: commit, ${thousands(identities)} identities ...\n`);
      const perRound = isQuick ? SMALL / 2 : SMALL;
      const place = join(directory, String(identities));
      const measured = measure({
        store,
        directory: place,
        identities,
        perRound,
        rounds,
        group: GROUP,
        pastRuns: PAST_RUNS,
      });
      rows.push(...rowsOf(identities, measured));
      notes.push(
        `P6, ${thousands(identities)} identities: documents of ${measured.documentBytes} bytes, ${thousands(GROUP)} jobs a commit.`,
      );
    }
    return { rows, notes };
  });
}
