import { expect, test, vi } from "vitest";
import { newDocument } from "../../../src/core/state/document.js";
import { serialiseDocument } from "../../../src/core/state/serialise.js";
import { formatInstant } from "../../../src/core/time/instant.js";
import { readHistory } from "../../../src/operations/records/history.js";
import { documentKey } from "../../../src/persist/keys.js";
import { acquireMemoryLock } from "../../../src/persist/lock.js";
import { MemoryDisk } from "../../../src/persist/memory/disk.js";
import { openMemoryStore } from "../../../src/persist/memory/store.js";
import type { StateReader } from "../../../src/persist/store.js";
import { requireOk } from "../../support/results.js";
import { at } from "../../support/scheduling.js";

const FIRST_AT = at("2026-03-01T00:00:00Z");
const PERIODS = 4_000;
/** Records that a reading may have: a few milliseconds of everybody's loop. */
const MOST_PER_READING = 500;

async function longLedger() {
  const term = requireOk(acquireMemoryLock(new MemoryDisk()));
  const store = requireOk(openMemoryStore(term, new MemoryDisk()));
  const ledger = Array.from({ length: PERIODS }, (_, index) => {
    const periodAt = FIRST_AT + index * 60_000;
    const content = { period_id: formatInstant(periodAt), outcome: index === 0 ? "missed" : "skipped", reason: null };
    return { identity: "a", at: periodAt, kind: "period", text: JSON.stringify(content) };
  });
  const document = { key: documentKey("a"), text: serialiseDocument(newDocument("a")) };
  await store.commit(term, { documents: [document], ledger });
  return store;
}

/** Tells of each reading how many turns the loop has had before it, and how many records it was asked for. */
function watched(store: StateReader) {
  let turns = 0;
  let isWatching = true;
  const tick = (): void => {
    turns += 1;
    if (isWatching) setImmediate(tick);
  };
  setImmediate(tick);
  const readings: { readonly turns: number; readonly size: number }[] = [];
  const read = store.ledgerLatest.bind(store);
  vi.spyOn(store, "ledgerLatest").mockImplementation((identity, size, before) => {
    readings.push({ turns, size });
    return read(identity, size, before);
  });
  const end = (): void => {
    isWatching = false;
  };
  return { readings, end };
}

test("a filter that lets one row of a long ledger through: everything else has its turn between readings", async () => {
  const store = await longLedger();
  const { readings, end } = watched(store);
  const wish = { identity: "a", limit: 2_000, beforeAt: null, outcomes: ["missed"] };
  const rows = await readHistory(store, wish);
  end();
  expect(rows?.map(({ period_id }) => period_id)).toEqual([formatInstant(FIRST_AT)]);
  expect(readings.length).toBeGreaterThan(PERIODS / MOST_PER_READING);
  expect(readings.filter(({ size }) => size > MOST_PER_READING)).toEqual([]);
  const turnsBefore = readings.map(({ turns }) => turns);
  expect(turnsBefore).toEqual([...new Set(turnsBefore)]);
});
