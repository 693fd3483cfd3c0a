import { describe, expect, test } from "vitest";
import { canonicalDefinitionText } from "../../../src/core/job/raw.js";
import { parseDocument } from "../../../src/core/state/parse.js";
import { MINUTE_MS, SECOND_MS } from "../../../src/core/time/instant.js";
import { fencingRules } from "../../../src/krond/state/tools.js";
import { documentKey } from "../../../src/persist/keys.js";
import type { LedgerRecord } from "../../../src/persist/store.js";
import { job, World } from "../../actors/supervisor/world.js";
import { requireOk } from "../../support/results.js";

const OFTEN = job("a", "* * * * *", { policy: { deadline: "50s" } });
const DAMAGED = '{"Version":"1","Ident';

/** The ledger of a job that ran at the beginning of this minute, and what a recovery makes of its lost document. */
async function recovered(keep: (record: LedgerRecord) => boolean) {
  const world = new World();
  await world.boot([OFTEN]);
  await world.pass(MINUTE_MS + 15 * SECOND_MS);
  world.kill();
  const records = [...(world.disk.ledger.get("a")?.values() ?? [])].filter(keep);
  const ledgerLatest = async () => records.map((record) => ({ ...record, isIntact: true }));
  const store = { ledgerLatest, newestVersion: async () => undefined };
  const rules = fencingRules([OFTEN], { isKept: () => false, keep: (key) => key }, world.clock.now());
  const key = documentKey("a");
  const fenced = await rules.fence({ key, identity: "a", text: DAMAGED }, store);
  if (fenced === null) throw new Error("nothing was written");
  return { document: requireOk(parseDocument(fenced.text, key)), ledger: fenced.ledger };
}

describe("krond state recover --fence", () => {
  test("SPEC-137, S32: a fence does not override an outcome that the ledger still has", async () => {
    const { document, ledger } = await recovered(() => true);
    expect(document).toMatchObject({ LastHandledPeriodID: "2026-03-01T00:01:00Z", LastOutcome: "executed" });
    expect(ledger).toEqual([]);
  });

  test("S32: without a record of the current period it is fenced, and the fence is on record", async () => {
    const { document, ledger } = await recovered(() => false);
    expect(document).toMatchObject({ LastHandledPeriodID: "2026-03-01T00:01:00Z", LastOutcome: "skipped" });
    expect(ledger.map(({ kind }) => kind)).toContain("period");
  });

  const orphan = async (text: string | null) => {
    const world = new World();
    await world.boot([OFTEN]);
    await world.pass(MINUTE_MS + 15 * SECOND_MS);
    world.kill();
    const key = documentKey("a");
    const version = { identity: "a", definedAt: 1, text, isIntact: true };
    const store = { ledgerLatest: async () => [], newestVersion: async () => version };
    const rules = fencingRules([], { isKept: () => false, keep: (it) => it }, world.clock.now() + MINUTE_MS);
    const fenced = await rules.fence({ key, identity: undefined, text: world.disk.documents.get(key)?.text }, store);
    return fenced === null ? null : requireOk(parseDocument(fenced.text, key));
  };

  test("S32: a job that no file names, and the store has in force, is fenced by what the store says", async () => {
    expect(await orphan(canonicalDefinitionText(OFTEN))).toMatchObject({
      ...{ LastHandledPeriodID: "2026-03-01T00:02:00Z", LastOutcome: "skipped" },
    });
    expect([await orphan(null), await orphan("{"), await orphan('{"later":true}')]).toEqual([null, null, null]);
  });
});
