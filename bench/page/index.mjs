/**
 * P16: 1,000 jobs chosen for one second while somebody looks on. One daemon, and by turns nobody who looks, two pages in
 * Chromium (Now, and the inspector of everything), and the same streams read by nobody who draws them. How late the commands
 * begin, how late the daemon's loop is, what it costs the daemon itself, and whether the pages can be used meanwhile. The
 * browser has the same cores: what it takes from the commands is no cost of the daemon's, which the readers show.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Krond } from "../krond/daemon.mjs";
import { stampsOf } from "../krond/fire-peers.mjs";
import { assertChosen, dueJob, jsonLines } from "../krond/jobs.mjs";
import { loopDelayMs } from "../krond/metrics.mjs";
import { nativePrograms } from "../krond/native.mjs";
import { compared, thousands } from "../krond/rows.mjs";
import { latenessOf } from "../krond/stamps.mjs";
import { inWorkplace, until } from "../lib/workplace.mjs";
import { browserPath, Windows } from "./browser.mjs";
import { Readers } from "./readers.mjs";

const COUNT = 1_000;
/** Rounds of each kind. */
const FULL = { rounds: 5 };
const QUICK = { rounds: 2 };
const SPACING_MS = 24_000;
const FIRST_LEAD_MS = 30_000;
const BOOT_LIMIT_MS = 120_000;
/** Before processes are made ready ahead of their second. */
const CALM_MS = 5_500;
const DEADLINE_MS = 30_000;
const ENDS_LIMIT_MS = 8_000;
const SETTLE_MS = 250;
const PLACES = [
  ["/", "Now"],
  ["/inspector", "Inspector"],
];

const ALONE = "nobody looks on";
const PAGES = "two pages in Chromium look on";
const READERS = "the same streams, read and not drawn";

async function writeJobs(file, dueAts, commandOf) {
  const jobs = dueAts.flatMap((dueAt, round) =>
    Array.from({ length: COUNT }, (_, index) => dueJob(`bench/round-${round}/job-${index}`, dueAt, commandOf(round))),
  );
  for (const [round, dueAt] of dueAts.entries()) await assertChosen(jobs[round * COUNT], dueAt);
  writeFileSync(file, jsonLines(jobs));
}

/** From before processes are made ready until all have ended. */
async function measured(krond, { dueAt, file }) {
  await until(dueAt - CALM_MS);
  await krond.metrics();
  const cpuBeforeMs = krond.ownCpuMs();
  const stamps = await stampsOf(file, COUNT, DEADLINE_MS + CALM_MS);
  const first = await krond.metrics();
  const giveUpAt = Date.now() + ENDS_LIMIT_MS;
  while ((await krond.metrics()).get("kron_active") > 0 && Date.now() < giveUpAt) await wait(SETTLE_MS);
  return {
    ...latenessOf(stamps, dueAt),
    cpuMs: (krond.ownCpuMs() - cpuBeforeMs) / COUNT,
    loop: loopDelayMs(first, "0.99"),
    loopMax: loopDelayMs(first, "1"),
  };
}

/** Who looks on in a round: what is opened before it, and what is known of it afterwards. */
function lookers({ krond, origin, browser }) {
  const linkOf = () => krond.command("kron", "open").trim();
  const key = JSON.parse(krond.command("krond", "keys", "create", "--scope", "write", "-o", "json")).key;
  const nobody = async (round) => ({ ...(await round()), seen: null });
  const pages = async (round) => {
    const windows = await Windows.open(browser, origin);
    try {
      await windows.show(PLACES, linkOf);
      await windows.begin();
      const told = await round();
      return { ...told, seen: await windows.seen() };
    } finally {
      await windows.close();
    }
  };
  const readers = async (round) => {
    const reading = new Readers(origin, key);
    try {
      return { ...(await round()), seen: null, bytes: reading.bytes };
    } finally {
      reading.close();
    }
  };
  return [[ALONE, nobody], [READERS, readers], ...(browser === null ? [] : [[PAGES, pages]])];
}

async function rounds(directory, programs, { rounds: ofEach, browser }) {
  const count = ofEach * (browser === null ? 2 : 3);
  const firstAt = Math.ceil((Date.now() + FIRST_LEAD_MS) / 1_000) * 1_000;
  const dueAts = Array.from({ length: count }, (_, round) => firstAt + round * SPACING_MS);
  const files = dueAts.map((_, round) => join(directory, `stamps-${round}`));
  const config = join(directory, "jobs.jsonl");
  await writeJobs(config, dueAts, (round) => programs.stamp(files[round]));
  const krond = new Krond({ config, state: join(directory, "state"), hasMetrics: true, hasPage: true });
  const done = new Map();
  try {
    const { api } = await krond.ready(BOOT_LIMIT_MS);
    const kinds = lookers({ krond, origin: `http://${api}`, browser });
    for (const [round, dueAt] of dueAts.entries()) {
      const [name, look] = kinds[round % kinds.length];
      process.stderr.write(`bench: page, round ${round + 1} of ${count}, ${name} ...\n`);
      const told = await look(() => measured(krond, { dueAt, file: files[round] }));
      if (told.early > 0) throw new Error(`bench: krond started ${told.early} commands before their chosen second`);
      done.set(name, [...(done.get(name) ?? []), told]);
    }
    return done;
  } finally {
    await krond.stop();
  }
}

const WHAT = `${thousands(COUNT)} jobs chosen for one second`;

function rowsOf(done) {
  const alone = { name: ALONE, rounds: done.get(ALONE) };
  const watched = [PAGES, READERS].filter((name) => done.has(name));
  return watched.flatMap((name) => {
    const ours = done.get(name);
    const against = (key, what, unit) =>
      compared({ id: "P16", name: `${what}, ${WHAT}, ${name}`, key, unit, ours, peer: alone });
    return [
      against("p50", "start lateness p50", "ms"),
      against("p99", "start lateness p99", "ms"),
      against("loop", "delay of the event loop p99", "ms"),
      against("loopMax", "delay of the event loop, at most", "ms"),
      against("cpuMs", "processor time of the daemon itself a start", "ms"),
      ...(name === PAGES ? seenRows(ours) : []),
    ];
  });
}

/** What it is like to look at them meanwhile. */
function seenRows(ours) {
  const none = { name: null, rounds: [] };
  return PLACES.flatMap(([, title]) => {
    const seen = ours.map((round) => round.seen.get(title));
    const rowOf = (key, what) =>
      compared({ id: "P16", name: `page ${title}: ${what}, ${WHAT}`, key, unit: "ms", ours: seen, peer: none });
    return [rowOf("frame", "from one frame to the next, p99"), rowOf("task", "longest task")];
  });
}

export async function run({ isQuick }) {
  const settings = isQuick ? QUICK : FULL;
  return inWorkplace("page", async (directory) => {
    const programs = nativePrograms(directory);
    const browser = browserPath();
    const done = await rounds(directory, programs, { ...settings, browser });
    const notes = [
      "P16: by turns in one daemon. Chromium draws on the same cores as the commands run on; the readers take the same streams and draw nothing, so that what differs between them is the browser's.",
    ];
    if (browser === null) notes.push("P16: there is no Chromium here: nobody has looked at a page.");
    if (programs.reason !== null) notes.push(`P16: commands are shell scripts: ${programs.reason}.`);
    return { rows: rowsOf(done), notes };
  });
}
