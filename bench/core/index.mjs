/** P1: next occurrence, side by side with every JavaScript library of the field. P2: full decisions on one core. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { median, pinned, roundsOf, spread } from "../lib/measure.mjs";
import { row } from "../lib/report.mjs";
import { ZONES } from "./mix.mjs";
import { measureRobfig } from "./robfig.mjs";
import { STEPPERS } from "./steppers.mjs";

const worker = fileURLToPath(new URL("./next-worker.mjs", import.meta.url));

function measureNext(library, zone, { rounds, roundMs }) {
  const [command, args] = pinned(process.execPath, [worker, library, zone, String(rounds), String(roundMs)]);
  try {
    const out = execFileSync(command, args, {
      encoding: "utf8",
      env: { ...process.env, TZ: zone },
      stdio: ["ignore", "pipe", "pipe"],
    });
    return JSON.parse(out).values;
  } catch (error) {
    return {
      failure:
        String(error.stderr || error.message)
          .split("\n")
          .find((line) => /^\w*Error: /.test(line)) ?? "failed",
    };
  }
}

function nextRows(settings, notes) {
  const rows = [];
  const robfig = measureRobfig(settings);
  if (robfig.reason) notes.push(`Go's robfig/cron was not measured: ${robfig.reason}.`);
  for (const zone of ZONES) {
    const ours = measureNext("kron", zone, settings);
    if (ours.failure) throw new Error(`bench: Kron itself failed: ${ours.failure}`);
    for (const peer of Object.keys(STEPPERS).filter((name) => name !== "kron")) {
      const theirs = measureNext(peer, zone, settings);
      if (theirs.failure) notes.push(`P1 ${zone}: ${peer} could not be measured: ${theirs.failure}`);
      const peerValue = theirs.failure ? null : median(theirs);
      rows.push(
        row({
          id: "P1",
          name: `next occurrence, ${zone}`,
          value: median(ours),
          unit: "ops/s",
          peer,
          peer_value: peerValue,
          spread: spread(ours),
        }),
      );
    }
    const go = robfig.zones?.get(zone);
    if (go) {
      rows.push(
        row({
          id: "P1",
          name: `next occurrence, ${zone}`,
          value: median(ours),
          unit: "ops/s",
          peer: "robfig/cron (Go)",
          peer_value: median(go),
          spread: spread(ours),
        }),
      );
    }
  }
  return rows;
}

async function decideRows(settings) {
  const { compileRule, decide, readJobDefinition, toDecisionRecord } = await import("../../dist/index.js");
  const { createHash } = await import("node:crypto");
  const read = readJobDefinition({
    identity: "prod/db-backup",
    schedule: "0 * * * *",
    window: { mode: "after", duration: "1h" },
    seed: { salt: "backup" },
    command: ["/usr/bin/backup"],
  });
  const job = compileRule(read.value);
  const first = Date.UTC(2026, 0, 1);
  const HOUR_MS = 3_600_000;
  const versions = { tzVersion: process.versions.tz, engineVersion: "bench" };
  let sink = 0;
  const decisions = roundsOf((count) => {
    for (let i = 0; i < count; i += 1) sink += decide(job, first + (i % 100_000) * HOUR_MS).chosenAt;
  }, settings);
  const records = roundsOf((count) => {
    for (let i = 0; i < count; i += 1)
      sink += toDecisionRecord(job, decide(job, first + (i % 100_000) * HOUR_MS), versions).attempts;
  }, settings);
  const hashes = roundsOf((count) => {
    for (let i = 0; i < count; i += 1) {
      sink += createHash("sha256")
        .update(`prod/db-backup\n2026-01-01T00:00:00Z${i % 10}\nbackup`)
        .digest("hex").length;
    }
  }, settings);
  const limit = { unit: "ops/s", peer: "createHash sha256 of the same bytes alone", peer_value: median(hashes) };
  return [
    row({
      id: "P2",
      name: "decide: period id, hash, draw, window",
      value: median(decisions),
      spread: spread(decisions),
      ...limit,
    }),
    row({
      id: "P2",
      name: "decide and the whole decision record",
      value: median(records),
      spread: spread(records),
      ...limit,
      checksum: sink % 2,
    }),
  ];
}

export async function run({ isQuick }) {
  const settings = isQuick ? { rounds: 3, roundMs: 60 } : { rounds: 5, roundMs: 600 };
  const notes = Object.entries(STEPPERS)
    .filter(([, stepper]) => stepper.note)
    .map(([name, stepper]) => `${name}: ${stepper.note}.`);
  const rows = [...nextRows(settings, notes), ...(await decideRows(settings))];
  return { rows, notes };
}
