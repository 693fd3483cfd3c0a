/**
 * P10: the load of 10,000 jobs over a day, as a user gets it: process start, reading, deciding, printing. And what the
 * libraries of the field need only to list the nominal times of some of those jobs.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { median, spread } from "../lib/measure.mjs";
import { row } from "../lib/report.mjs";
import { jobs, jsonLines, yaml } from "./jobs.mjs";
import { LISTERS } from "./listers.mjs";

const KRON = fileURLToPath(new URL("../../dist/kron.js", import.meta.url));
const FROM = "2026-11-19T00:00:00Z";
const FROM_AT = Date.parse(FROM);
const DAY_MS = 86_400_000;
const BUDGET_S = 3;
const PEER_JOBS = 200;
const ROUND_S = 0.3;

function forecastSeconds(file, horizon) {
  const started = process.hrtime.bigint();
  const args = ["--from", FROM, "--horizon", horizon, "-o", "csv"];
  const { status, stderr } = spawnSync(process.execPath, [KRON, "forecast", file, ...args], {
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  if (status !== 0) throw new Error(`bench: kron forecast failed: ${stderr}`);
  return Number(process.hrtime.bigint() - started) / 1e9;
}

function commandRow({ name, file, horizon, budget }, rounds) {
  const values = Array.from({ length: rounds }, () => forecastSeconds(file, horizon));
  const value = median(values);
  const limit = budget === null ? {} : { peer: "budget", peer_value: budget, ratio: budget / value };
  return row({ id: "P10", name, value, unit: "s", spread: spread(values), ...limit });
}

/** Days are listed until enough time has passed to be measured. */
function ratePerSecond(listDay) {
  const started = process.hrtime.bigint();
  let starts = 0;
  for (;;) {
    starts += listDay();
    const tookS = Number(process.hrtime.bigint() - started) / 1e9;
    if (tookS >= ROUND_S) return starts / tookS;
  }
}

/** Nominal times of one day for each second that it takes to list them. */
async function listerRows(rounds, notes) {
  const set = [...jobs(PEER_JOBS)].map((job) => ({ ...job, timezone: "UTC" }));
  const measured = [];
  for (const { name, open } of LISTERS) {
    try {
      const count = await open(set);
      const starts = count(FROM_AT, FROM_AT + DAY_MS);
      const values = Array.from({ length: rounds }, () => ratePerSecond(() => count(FROM_AT, FROM_AT + DAY_MS)));
      measured.push({ name, starts, values });
    } catch (error) {
      notes.push(`P10: ${name} could not be measured: ${error.message.split("\n")[0]}`);
    }
  }
  const [ours, ...peers] = measured;
  if (ours?.name !== "kron") throw new Error("bench: Kron's own times could not be listed");
  for (const peer of peers.filter(({ starts }) => starts !== ours.starts)) {
    notes.push(`P10: ${peer.name} lists ${peer.starts} times where Kron lists ${ours.starts}.`);
  }
  const value = median(ours.values);
  return peers.map((peer) =>
    row({
      id: "P10",
      name: `nominal times of ${PEER_JOBS} jobs over a day, UTC (without windows)`,
      value,
      unit: "starts/s",
      peer: peer.name,
      peer_value: median(peer.values),
      spread: spread(ours.values),
    }),
  );
}

export async function run({ isQuick, isFull }) {
  const rounds = isQuick ? 3 : 5;
  const directory = mkdtempSync(join(tmpdir(), "kron-bench-forecast-"));
  const write = (name, text) => {
    const file = join(directory, name);
    writeFileSync(file, text);
    return file;
  };
  const notes = [];
  try {
    const lines = write("jobs.jsonl", jsonLines(10_000));
    const rows = [
      commandRow(
        { name: "kron forecast, 10,000 jobs × 24 h, JSON Lines", file: lines, horizon: "24h", budget: BUDGET_S },
        rounds,
      ),
      commandRow(
        {
          name: "kron forecast, 10,000 jobs × 24 h, YAML",
          file: write("jobs.yaml", yaml(10_000)),
          horizon: "24h",
          budget: BUDGET_S,
        },
        rounds,
      ),
    ];
    if (isFull) {
      const million = write("million.jsonl", jsonLines(1_000_000));
      rows.push(
        commandRow(
          { name: "kron forecast, 1,000,000 jobs × 1 h, JSON Lines", file: million, horizon: "1h", budget: null },
          1,
        ),
      );
    }
    rows.push(...(await listerRows(rounds, notes)));
    notes.push(
      `P10: seconds from process start to its end; the peers only list times, in a process that is already running.`,
    );
    return { rows, notes };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
