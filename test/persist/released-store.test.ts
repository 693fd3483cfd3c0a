/**
 * A store as version 0.1.0 has written it, kept as that version left it: nine jobs over four minutes, one of them paused, one
 * suspended, one run by hand, one changed, one taken out, and one whose run goes on. Whatever comes later opens it and goes on.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { SimulatedHost } from "../../src/actors/launcher/daemon/simulated-launcher.js";
import { SimulatedClock } from "../../src/actors/simulated-clock.js";
import { createSupervisor } from "../../src/actors/supervisor/supervisor-actor.js";
import type { SupervisorEvent } from "../../src/actors/supervisor/write/events.js";
import { SETTINGS_DEFAULTS } from "../../src/core/config/settings.js";
import { SECOND_MS } from "../../src/core/time/instant.js";
import { checkStore } from "../../src/krond/state/tools.js";
import { readHistory } from "../../src/operations/records/history.js";
import { documentOf, readWhy } from "../../src/operations/records/why.js";
import { BACKENDS } from "../../src/persist/backends.js";
import { DATA_FILE } from "../../src/persist/lmdb/environment.js";
import type { LockTerm } from "../../src/persist/lock.js";
import { MARKER_FILE } from "../../src/persist/marker.js";
import { openStateReader } from "../../src/persist/open.js";
import type { StateStore } from "../../src/persist/store.js";
import { at } from "../support/scheduling.js";
import { temporaryDirectories } from "../support/temporary.js";
import { must } from "./store-contract.js";

const KEPT = fileURLToPath(new URL("./fixtures/store-0.1.0/", import.meta.url));
const newDirectory = temporaryDirectories();

/** The store as it was left, in a directory of its own. */
function unpacked(): string {
  const directory = newDirectory();
  const data = gunzipSync(fs.readFileSync(path.join(KEPT, `${DATA_FILE}.gz`)));
  fs.writeFileSync(path.join(directory, DATA_FILE), data, { mode: 0o600 });
  fs.writeFileSync(path.join(directory, MARKER_FILE), fs.readFileSync(path.join(KEPT, MARKER_FILE)), { mode: 0o600 });
  return directory;
}

/** Two minutes after it was left. */
const AGAIN = "2026-11-19T00:56:05Z";

test("a store of version 0.1.0 is read as it was written", async () => {
  const reader = must(await openStateReader(unpacked()));
  const { problems, ...counts } = await checkStore(reader);
  expect([problems, counts]).toEqual([[], { documents: 9, ledger: expect.any(Number), definitions: 11 }]);
  const long = await documentOf(reader, "t/long");
  expect(long?.ActiveExecution).toMatchObject({ PeriodID: "2026-11-19T00:51:00Z", Confirmed: true });
  expect((await documentOf(reader, "t/paused"))?.Pause?.Reason).toBe("kept for later");
  expect([(await reader.newestVersion("t/gone"))?.text, (await reader.definitionVersions("t/changed")).length]).toEqual(
    [null, 2],
  );
  const rows = (await readHistory(reader, { identity: "t/fails", limit: 2, beforeAt: null })) ?? [];
  expect(rows.map(({ period_id, outcome, exit_code }) => [period_id, outcome, exit_code])).toEqual([
    ["2026-11-19T00:53:00Z", "executed", 3],
    ["2026-11-19T00:52:00Z", "executed", 3],
  ]);
  const request = { identity: "t/long", periodAt: at("2026-11-19T00:52:00Z"), now: at(AGAIN) };
  const why = await readWhy(reader, { ...request, ledger: SETTINGS_DEFAULTS.ledger, isAlive: false });
  expect(why).toMatchObject({ kind: "skipped", reason: "concurrency_forbid" });
  await reader.close();
});

/** A daemon of this version on the store, on a machine that was started anew since. */
async function goneOn(store: StateStore, term: LockTerm, seconds: number) {
  const clock = new SimulatedClock({ startAt: at(AGAIN) });
  const host = new SimulatedHost(clock, () => ({ runMs: SECOND_MS, exitCode: 0 }));
  const events: SupervisorEvent[] = [];
  const started: string[] = [];
  let ids = 0;
  const supervisor = createSupervisor({
    clock,
    store,
    term,
    runner: host.launcher(),
    copies: { isKept: () => false, keep: (key) => `${key}.corrupt` },
    bootId: host.bootId,
    versions: { tzVersion: "test", engineVersion: "test" },
    outputDirectory: "/nowhere",
    baseEnv: {},
    newId: () => `again-${++ids}`,
    onEvent: (event) => {
      events.push(event);
      if (event.event === "started") started.push(`${event.identity} ${event.periodId}`);
    },
  });
  await supervisor.start("as-stored", SETTINGS_DEFAULTS);
  for (let second = 0; second < seconds; second++) {
    clock.advance(SECOND_MS);
    await supervisor.whenIdle();
  }
  const list = await supervisor.list();
  await supervisor.stop({ graceful: false });
  return { list, events, started };
}

test("a daemon of this version goes on where version 0.1.0 has ended", async () => {
  const directory = unpacked();
  const term = must(await BACKENDS.lmdb.acquire(directory));
  const store = must(await BACKENDS.lmdb.open(term));
  const { list, events, started } = await goneOn(store, term, 120);
  const minutes = ["2026-11-19T00:57:00Z", "2026-11-19T00:58:00Z"];
  const expected = ["t/fails", "t/long", "t/often"].flatMap((identity) => minutes.map((it) => `${identity} ${it}`));
  const missedOne = ["t/often 2026-11-19T00:56:00Z"];
  expect([...started].sort()).toEqual([...expected, ...missedOne].sort());
  expect(list.map(({ identity, standing }) => [identity, standing])).toEqual([
    ["t/by-hand", "enabled"],
    ["t/changed", "enabled"],
    ["t/fails", "enabled"],
    ["t/long", "enabled"],
    ["t/often", "enabled"],
    ["t/paused", "paused"],
    ["t/suspended", "suspended"],
    ["t/window", "enabled"],
  ]);
  const adopted = events.filter(({ event }) => event === "adopted");
  expect(adopted).toMatchObject([{ identity: "t/long", fields: { outcome: "gone" } }]);
  const history = (await readHistory(store, { identity: "t/long", limit: 20, beforeAt: null })) ?? [];
  expect(history.find(({ period_id }) => period_id === "2026-11-19T00:51:00Z")).toMatchObject({ outcome: "executed" });
  expect((await store.ledgerLatest("t/gone", 9)).length).toBeGreaterThan(0);
  await store.close();
  term.release();
});
