/**
 * Durable transitions through the state store, and the same bytes through lmdb with nothing of ours in between, turn and
 * turn about in one process. Settings come as one JSON argument; the rounds go to standard output.
 */
import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { open } from "lmdb";

const { store: storeModule, directory, identities, perRound, rounds, group, pastRuns } = JSON.parse(process.argv[2]);
const { acquireDirectoryLock, documentKeyOf, openLmdbStore, recordKey, transitionsOf } = await import(storeModule);

/** Long enough for a million; every identity has the same length, so that every round writes as many bytes. */
const DIGITS = 7;
const FILL_GROUP = 10_000;
const FIRST_DAY = 100;

function identityOf(index) {
  return `bench/job-${String(index).padStart(DIGITS, "0")}`;
}

const PATTERN = identityOf(0);

/** One identity is taken through its transitions for real; of the others only the name differs. */
function templatesOf(day) {
  return transitionsOf(PATTERN, day, pastRuns);
}

function batchOf(template, indexes) {
  const documents = [];
  const ledger = [];
  const claims = [];
  for (const index of indexes) {
    const identity = identityOf(index);
    documents.push({ key: documentKeyOf(identity), text: template.text.replace(PATTERN, identity) });
    for (const record of template.ledger) {
      ledger.push({ ...record, identity, text: record.text.replaceAll(PATTERN, identity) });
    }
    // Versions before claims were the store's business wrote none.
    for (const { key, token } of template.claims ?? []) claims.push({ key: { ...key, identity }, token });
  }
  return { documents, ledger, claims };
}

/** The same entries as bytes: keys, and values without checksums. */
function rawOf({ documents, ledger }) {
  return {
    documents: documents.map(({ key, text }) => [key, Buffer.from(text)]),
    ledger: ledger.map(({ identity, at, kind, text }) => [
      recordKey(identity, at, kind),
      Buffer.from(`${identity}\n${text}`),
    ]),
  };
}

async function openOurs() {
  const term = acquireDirectoryLock(join(directory, "ours"));
  if (!term.ok) throw term.error;
  const store = await openLmdbStore(term.value);
  if (!store.ok) throw store.error;
  return {
    prepare: (batch) => batch,
    write: (batch) => store.value.commit(term.value, batch),
    close: () => store.value.close(),
  };
}

/** As fast as lmdb is when each write must be on disk before the next is begun. */
function openRaw() {
  mkdirSync(join(directory, "raw"), { recursive: true });
  const options = { noSubdir: true, overlappingSync: false, eventTurnBatching: false, maxDbs: 2 };
  const root = open({ path: join(directory, "raw/data.mdb"), ...options });
  const documents = root.openDB("documents", { encoding: "binary" });
  const ledger = root.openDB("ledger", { encoding: "binary", keyEncoding: "binary" });
  return {
    prepare: rawOf,
    write: (batch) =>
      root.batch(() => {
        for (const [key, value] of batch.documents) documents.put(key, value);
        for (const [key, value] of batch.ledger) ledger.put(key, value);
      }),
    close: () => root.close(),
  };
}

function shuffled(values) {
  // The same order in every run.
  let state = 0x2545f491;
  for (let i = values.length - 1; i > 0; i -= 1) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const j = Math.floor((state / 2 ** 32) * (i + 1));
    [values[i], values[j]] = [values[j], values[i]];
  }
  return values;
}

function chunks(values, size) {
  return Array.from({ length: Math.ceil(values.length / size) }, (_, index) =>
    values.slice(index * size, (index + 1) * size),
  );
}

/** The order of the keys is that of the hashes of the identities. */
function sortedByKey(indexes) {
  const keys = new Map(indexes.map((index) => [index, createHash("sha256").update(identityOf(index)).digest("hex")]));
  return [...indexes].sort((a, b) => (keys.get(a) < keys.get(b) ? -1 : 1));
}

/** Every identity after its first runs, with the records of the last of them: what a store holds that is in use. */
async function fill(side, order) {
  const [started, ended] = templatesOf(FIRST_DAY);
  for (const part of chunks(order, FILL_GROUP)) {
    const batch = batchOf(ended, part);
    batch.ledger = [...batchOf(started, part).ledger, ...batch.ledger];
    await side.write(side.prepare(batch));
  }
}

/** Transitions a second: each group of jobs is started in one commit and completed in the next. */
async function round(side, day, indexes) {
  const templates = templatesOf(day);
  const batches = chunks(indexes, group).flatMap((part) =>
    templates.map((template) => side.prepare(batchOf(template, part))),
  );
  const startedMs = performance.now();
  for (const batch of batches) await side.write(batch);
  return (indexes.length * templates.length * 1000) / (performance.now() - startedMs);
}

const ours = await openOurs();
const raw = openRaw();
const all = sortedByKey(Array.from({ length: identities }, (_, index) => index));
await fill(ours, all);
await fill(raw, all);
const random = shuffled([...all]);
const results = { random: { ours: [], raw: [] }, sorted: { ours: [], raw: [] } };
let day = FIRST_DAY;
for (let index = 0; index < rounds; index += 1) {
  for (const order of ["random", "sorted"]) {
    day += 1;
    const start = (index * perRound) % identities;
    const taken = random.slice(start, start + perRound);
    const indexes = order === "random" ? taken : sortedByKey(taken);
    // Who comes first takes turns.
    const sides = index % 2 === 0 ? ["ours", "raw"] : ["raw", "ours"];
    for (const side of sides) results[order][side].push(await round(side === "ours" ? ours : raw, day, indexes));
  }
}
const [sample] = templatesOf(day);
await ours.close();
await raw.close();
process.stdout.write(JSON.stringify({ results, documentBytes: sample.text.length }));
process.exit(0);
