/** A state directory as a daemon would leave it, with runs of one job on record. */
import { ok } from "../../src/core/base/result.js";
import { withStore } from "../../src/krond/state/tools.js";
import { BACKENDS } from "../../src/persist/backends.js";
import { at } from "./schedules.js";

export type PastRun = readonly [period: string, startedAt: string, endedAt: string | null];

export async function stateWithRuns(directory: string, identity: string, runs: readonly PastRun[]): Promise<void> {
  const stored = await withStore({ backend: BACKENDS.files, at: directory }, async (store, term) => {
    await store.commit(term, {
      definitions: [{ identity, definedAt: 0, text: "{}" }],
      ledger: runs.flatMap(([period, started_at, ended_at]) => [
        { identity, at: at(period), kind: "period", text: JSON.stringify({ outcome: "executed", reason: null }) },
        { identity, at: at(period), kind: "run", text: JSON.stringify({ period_id: period, started_at, ended_at }) },
      ]),
    });
    return ok(null);
  });
  if (!stored.ok) throw stored.error;
}
