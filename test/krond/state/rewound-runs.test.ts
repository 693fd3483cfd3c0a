import { expect, test } from "vitest";
import { newDocument } from "../../../src/core/state/document.js";
import { serialiseDocument } from "../../../src/core/state/serialise.js";
import { rewindJob } from "../../../src/krond/state/tools.js";
import { readHistory } from "../../../src/operations/records/history.js";
import { documentKey } from "../../../src/persist/keys.js";
import { acquireMemoryLock } from "../../../src/persist/lock.js";
import { MemoryDisk } from "../../../src/persist/memory/disk.js";
import { openMemoryStore } from "../../../src/persist/memory/store.js";
import { job } from "../../actors/supervisor/world.js";
import { requireOk } from "../../support/results.js";
import { at } from "../../support/scheduling.js";

const NOW = at("2026-03-01T12:00:30Z");
const BEHIND = "2026-03-01T11:00:00Z";
const AHEAD = ["2027-03-01T08:00:00Z", "2027-03-01T09:00:00Z"] as const;

function ran(periodId: string, kind = "run") {
  const content = { period_id: periodId, source: null, pid: 7, attempt_id: `of ${periodId}`, ended_at: periodId };
  return { identity: "a", at: at(periodId), kind, text: JSON.stringify(content) };
}

test("S23, S32: what ran while the clock was ahead can be claimed again after a rewind, and stays on record", async () => {
  const term = requireOk(acquireMemoryLock(new MemoryDisk()));
  const store = requireOk(openMemoryStore(term, new MemoryDisk()));
  const marks = { LastHandledPeriodID: AHEAD[1], LastChosenTime: AHEAD[1], LastNominalTime: AHEAD[1] };
  const document = { ...newDocument("a"), ...marks, LastOutcome: "executed" } as const;
  await store.commit(term, {
    documents: [{ key: documentKey("a"), text: serialiseDocument(document) }],
    ledger: [ran(BEHIND), ...AHEAD.map((periodId) => ran(periodId))],
    definitions: [{ identity: "a", definedAt: 1, text: "{}" }],
  });
  const request = { identity: "a", definition: job("a", "0 * * * *"), by: "root", now: NOW };
  requireOk(await rewindJob(store, term, request));
  const claimed = [BEHIND, ...AHEAD].map((periodId) => {
    const { identity, at, kind } = ran(periodId);
    return { ledger: [ran(periodId)], claims: [{ key: { identity, at, kind }, token: "again" }] };
  });
  const answers = await Promise.all(claimed.map((batch) => store.commit(term, batch)));
  expect(answers.map((refused) => refused.length)).toEqual([1, 0, 0]);
  const rows = (await readHistory(store, { identity: "a", limit: 9, beforeAt: null })) ?? [];
  const told = rows.map(({ period_id, source }) => `${period_id} ${source}`);
  expect(told).toEqual([...AHEAD].reverse().map((periodId) => `${periodId} rewound`));
});
