/**
 * What one event costs, in nanoseconds, when there is more of something: of jobs, of past, of a gap, of a window. Every
 * measurement gives its rounds.
 */
import { join } from "node:path";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const FIRST_AT = Date.UTC(2026, 0, 1);
const FILL_GROUP = 10_000;
/** Jobs that are due together are committed together. */
const COMMIT_GROUP = 500;
const IDENTITY_DIGITS = 7;
const REGISTERED_A_ROUND = 50_000;
const LEDGER_TEXT = JSON.stringify({ outcome: "started", reason: "eligible", pad: "x".repeat(200) });

/** Pseudo-random, the same in every run. */
function generator() {
  let state = 0x2545f491;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Processor time: what others do on the machine meanwhile is none of it. */
function cpuNs() {
  const { user, system } = process.cpuUsage();
  return (user + system) * 1_000;
}

/** Nanoseconds of processor time for each of the things that `batch(count)` does `count` of. */
function cpuRounds(batch, { rounds, roundMs }) {
  const timeOf = (count) => {
    const startedNs = cpuNs();
    batch(count);
    return cpuNs() - startedNs;
  };
  let count = 1_000;
  // As many that a round takes its time; growing warms up.
  while (timeOf(count) < (roundMs * 1e6) / 2) count *= 2;
  return Array.from({ length: rounds }, () => timeOf(count) / count);
}

function ruleOf(kron, schedule, duration) {
  const window = { mode: "after", duration };
  const read = kron.readJobDefinition({ identity: "bench/job", schedule, window, command: ["/bin/true"] });
  if (!read.ok) throw new Error(`bench: ${read.error[0]?.message}`);
  return kron.compileRule(read.value);
}

/** The earliest is taken out and planned anew, as a job that has run is. */
function timeline({ kron, size, rounds, roundMs }) {
  const random = generator();
  const heap = new kron.Timeline(size);
  for (let handle = 0; handle < size; handle += 1) heap.set(handle, FIRST_AT + random(DAY_MS), 0);
  const batch = (count) => {
    for (let i = 0; i < count; i += 1) {
      const at = heap.peekAt();
      const [handle] = heap.popDue(at, 1);
      heap.set(handle, at + 1 + random(DAY_MS), 0);
    }
  };
  return cpuRounds(batch, { rounds, roundMs });
}

async function openStore(kron, directory) {
  const term = kron.acquireDirectoryLock(directory);
  if (!term.ok) throw term.error;
  const store = await kron.openLmdbStore(term.value);
  if (!store.ok) throw store.error;
  return { store: store.value, commit: (batch) => store.value.commit(term.value, batch) };
}

function identityOf(index) {
  return `bench/job-${String(index).padStart(IDENTITY_DIGITS, "0")}`;
}

/** A document of about the size that a job in use has. */
function documentOf(kron, identity) {
  const document = kron.newDocument(identity);
  return { key: kron.documentKey(identity), text: kron.serialiseDocument(document) };
}

async function fillDocuments(kron, commit, size) {
  const all = Array.from({ length: size }, (_, index) => documentOf(kron, identityOf(index)));
  all.sort((a, b) => (a.key < b.key ? -1 : 1));
  for (let from = 0; from < size; from += FILL_GROUP) {
    await commit({ documents: all.slice(from, from + FILL_GROUP), ledger: [] });
  }
}

/** Reads and durably writes the documents of a group, round after round; nanoseconds for each. */
async function commitRounds({ kron, store, commit, rounds, roundMs, identitiesOf }) {
  const values = [];
  let at = FIRST_AT + 1_000 * DAY_MS;
  // The first round warms up.
  for (let round = 0; round <= rounds; round += 1) {
    const startedMs = performance.now();
    let events = 0;
    while (performance.now() - startedMs < roundMs) {
      const identities = identitiesOf();
      at += MINUTE_MS;
      const documents = [];
      const ledger = [];
      for (const identity of identities) {
        const entry = await store.get(identity);
        documents.push({ key: kron.documentKey(identity), text: entry.text });
        ledger.push({ identity, at, kind: "period", text: LEDGER_TEXT });
      }
      await commit({ documents, ledger });
      events += identities.length;
    }
    values.push(((performance.now() - startedMs) * 1e6) / events);
  }
  return values.slice(1);
}

async function manyIdentities({ kron, directory, size, ...settings }) {
  const random = generator();
  const { store, commit } = await openStore(kron, join(directory, `identities-${size}`));
  await fillDocuments(kron, commit, size);
  const identitiesOf = () => [...new Set(Array.from({ length: COMMIT_GROUP }, () => identityOf(random(size))))];
  return commitRounds({ kron, store, commit, identitiesOf, ...settings });
}

/** The same 500 jobs, with so many records of the past between them. */
async function longHistory({ kron, directory, size, ...settings }) {
  const { store, commit } = await openStore(kron, join(directory, `history-${size}`));
  await fillDocuments(kron, commit, COMMIT_GROUP);
  const identities = Array.from({ length: COMMIT_GROUP }, (_, index) => identityOf(index));
  for (let from = 0; from < size; from += FILL_GROUP) {
    const records = Array.from({ length: Math.min(FILL_GROUP, size - from) }, (_, index) => {
      const run = from + index;
      const at = FIRST_AT + Math.floor(run / COMMIT_GROUP) * MINUTE_MS;
      return { identity: identityOf(run % COMMIT_GROUP), at, kind: "period", text: LEDGER_TEXT };
    });
    await commit({ documents: [], ledger: records });
  }
  return commitRounds({ kron, store, commit, identitiesOf: () => identities, ...settings });
}

/** What a job of every minute does first after so many minutes in which nobody was there. */
function longGap({ kron, size, rounds, roundMs }) {
  const rule = ruleOf(kron, "* * * * *", "30s");
  let sink = 0;
  const batch = (count) => {
    for (let i = 0; i < count; i += 1) {
      const lastHandledAt = FIRST_AT + (i % 1_000) * MINUTE_MS;
      const now = lastHandledAt + size * MINUTE_MS + 1_000;
      sink += kron.planOnReturn(rule, { lastHandledAt, definedAt: FIRST_AT - DAY_MS }, now).liveAt;
    }
  };
  const values = cpuRounds(batch, { rounds, roundMs });
  if (!Number.isFinite(sink)) throw new Error("bench: no period was found after the gap");
  return values;
}

/** `size` is the window in seconds. */
function wideWindow({ kron, size, rounds, roundMs }) {
  const rule = ruleOf(kron, "0 0 1 1 *", `${size}s`);
  const nominal = Array.from({ length: 50 }, (_, year) => Date.UTC(2026 + year, 0, 1));
  let sink = 0;
  const batch = (count) => {
    for (let i = 0; i < count; i += 1) sink += kron.decide(rule, nominal[i % nominal.length]).chosenAt;
  };
  const values = cpuRounds(batch, { rounds, roundMs });
  if (!Number.isFinite(sink)) throw new Error("bench: a decision gave no instant");
  return values;
}

async function registrationNs(kron, size) {
  const list = Array.from({ length: size }, (_, i) => [`task ${i}`, `${i % 60} ${i % 24} * * *`, async () => {}, 0]);
  const scheduler = kron.createScheduler({ store: kron.memoryStore() });
  const startedNs = cpuNs();
  await scheduler.initialize(list);
  const tookNs = cpuNs() - startedNs;
  await scheduler.stop();
  return tookNs;
}

/** One task of a list, from the call to the moment it is on duty. Rounds of small lists register many of them. */
async function registration({ kron, size, rounds }) {
  const lists = Math.ceil(REGISTERED_A_ROUND / size);
  const values = [];
  // The first round warms up.
  for (let round = 0; round <= rounds; round += 1) {
    let tookNs = 0;
    for (let i = 0; i < lists; i += 1) tookNs += await registrationNs(kron, size);
    values.push(tookNs / (lists * size));
  }
  return values.slice(1);
}

/** Nanoseconds of a microsecond. */
export const US_NS = 1_000;

const COUNTS = [1_000, 10_000, 100_000];
const FULL_COUNTS = [...COUNTS, 1_000_000];
const DAY_MINUTES = 1_440;
const YEAR_MINUTES = 525_600;

/** `grows`: by the logarithm of the size, or not at all. */
export const CURVES = {
  timeline: {
    label: "timeline: take out, plan anew",
    of: "jobs",
    grows: "log",
    sizes: FULL_COUNTS,
    fullSizes: FULL_COUNTS,
    measure: timeline,
  },
  store: {
    label: "store: read, write, sync a job",
    of: "jobs",
    grows: "log",
    sizes: COUNTS,
    fullSizes: FULL_COUNTS,
    measure: manyIdentities,
  },
  history: {
    label: "store: the same with a past",
    of: "records of the past",
    grows: "not",
    sizes: COUNTS,
    fullSizes: FULL_COUNTS,
    measure: longHistory,
  },
  gap: {
    label: "plan after a gap",
    of: "missed minutes",
    grows: "not",
    sizes: [DAY_MINUTES, 30 * DAY_MINUTES, YEAR_MINUTES, 10 * YEAR_MINUTES],
    fullSizes: [DAY_MINUTES, 30 * DAY_MINUTES, YEAR_MINUTES, 10 * YEAR_MINUTES],
    measure: longGap,
  },
  window: {
    label: "decide in a window",
    of: "seconds of the window",
    grows: "not",
    sizes: [60, 3_600, 86_400, 2_678_400],
    fullSizes: [60, 3_600, 86_400, 2_678_400],
    measure: wideWindow,
  },
  registration: {
    label: "scheduler: register a task",
    of: "tasks",
    grows: "log",
    sizes: COUNTS,
    fullSizes: FULL_COUNTS,
    measure: registration,
  },
};
