import { describe, expect, test } from "vitest";
import { CONFIG_MANIFEST_NOTE } from "../../src/actors/pool/load/manifest.js";
import { canonicalDefinitionText, readDefinitionInForce, readJobDefinition } from "../../src/core/job/schema.js";
import { BOOT_NOTE_KEY, type BootNote, bootNote, zoneDataChange } from "../../src/krond/boot/boot-note.js";
import { BACKENDS } from "../../src/persist/backends.js";
import { acquireDirectoryLock } from "../../src/persist/lock.js";
import type { Batch, StateStore } from "../../src/persist/store.js";
import { builtPrograms, krondProcesses } from "../support/krond.js";
import { job, placesIn } from "../support/place.js";
import { requireOk } from "../support/results.js";
import { at } from "../support/scheduling.js";
import { temporaryDirectories } from "../support/temporary.js";

const NOW = at("2026-03-01T00:00:00Z");
const ABOUT = { engine: "1.0.0", tz: "2025b", kept: [] };
const JOBS = new Map([
  ["Europe/Berlin", 2],
  ["UTC", 1],
  ["America/Sao_Paulo", 1],
]);

describe("S5: what a start notes of the zone data", () => {
  const note = bootNote(JOBS, ABOUT, NOW);

  test("the offsets of the zones in use, and nothing of others", () => {
    expect(Object.keys(note.zones)).toEqual(["America/Sao_Paulo", "Europe/Berlin", "UTC"]);
    expect(note.zones["UTC"]).toEqual([[note.fromAt, 0]]);
    expect(note.zones["Europe/Berlin"]?.slice(0, 3)).toEqual([
      [note.fromAt, 3_600_000],
      [at("2025-03-30T01:00:00Z"), 7_200_000],
      [at("2025-10-26T01:00:00Z"), 3_600_000],
    ]);
  });

  test("the same data, whatever its version: no change", () => {
    expect(zoneDataChange(JSON.parse(JSON.stringify(note)) as BootNote, JOBS, "2025c")).toBeNull();
  });

  test.each<[string, BootNote["zones"], readonly string[], number]>([
    ["a country gives up summer time", { "Europe/Berlin": [[note.fromAt, 3_600_000]] }, ["Europe/Berlin"], 2],
    ["a zone nobody uses any more", { "Asia/Tokyo": [[note.fromAt, 1]] }, ["Asia/Tokyo"], 0],
    ["a zone that is gone", { "Nowhere/Land": [[note.fromAt, 1]] }, ["Nowhere/Land"], 0],
    ["two zones", { "Europe/Berlin": [], UTC: [] }, ["Europe/Berlin", "UTC"], 3],
  ])("%s is told with the jobs concerned", (_title, zones, names, jobs) => {
    expect(zoneDataChange({ ...note, zones: { ...note.zones, ...zones } }, JOBS, "2025c")).toEqual({
      from: "2025b",
      to: "2025c",
      zones: expect.toSatisfy((found: readonly string[]) => [...found].sort().join() === names.join()),
      jobs,
    });
  });
});

describe("S16: a definition as an earlier version wrote it", () => {
  const raw = { identity: "a", schedule: "0 * * * *", command: ["x"], window: { mode: "after", duration: "1h" } };
  const sound = canonicalDefinitionText(requireOk(readJobDefinition(raw)));

  test("is read as it is", () => {
    expect(readDefinitionInForce(sound)).toMatchObject({ definition: { identity: "a" }, problems: [] });
  });

  test("what this version has against it is told; the definition stays what it was", () => {
    const read = readDefinitionInForce(sound.replace('"1h"', '"2h"'));
    expect(read?.problems).toMatchObject([{ code: "window-overlap" }]);
    expect(read?.definition.window.durationMs).toBe(7_200_000);
  });

  test.each([
    ["a schedule that it does not understand", sound.replace("0 * * * *", "0 * * * * LAST")],
    ["a window that it would have to change", sound.replace('"1h"', '"900h"')],
    ["a field that it does not know", sound.replace("{", '{"colour":"red",')],
  ])("%s cannot be kept", (_title, text) => {
    expect(readDefinitionInForce(text)).toBeNull();
  });
});

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const temporary = temporaryDirectories();
const place = placesIn(temporary, programs);

/** What an earlier version of the program has left behind. */
async function rewrite(state: string, change: (store: StateStore) => Promise<Batch>): Promise<void> {
  const term = requireOk(acquireDirectoryLock(state));
  const store = requireOk(await BACKENDS.lmdb.open(term));
  await store.commit(term, await change(store));
  await store.close();
  term.release();
}

async function noteOf(store: StateStore): Promise<BootNote> {
  return JSON.parse((await store.meta(BOOT_NOTE_KEY)) ?? "null") as BootNote;
}

/** What it made of its files is of no use to another version, nor with other zone data. */
const noted = (note: BootNote): Batch => ({
  meta: [
    { key: BOOT_NOTE_KEY, text: JSON.stringify(note) },
    { key: CONFIG_MANIFEST_NOTE, text: null },
  ],
});

describe("a new version of the program", () => {
  const windowed = (duration: string): string =>
    `  - { identity: t/a, schedule: "0 * * * *", window: { mode: after, duration: ${duration} }, command: [/bin/true] }\n`;

  test("S16: warns of a definition in force that it would reject, at this start and at later ones; it refuses an edit", async () => {
    const here = place(windowed("1h") + job("t/b", "true"));
    const first = startKrond(here.config, here.state);
    await first.ready();
    await first.kill("SIGTERM");
    here.write(windowed("2h") + job("t/b", "true"));
    const edited = startKrond(here.config, here.state);
    expect(await edited.ended).toBe(2);
    expect(edited.stderr).toContain("exceeds the smallest gap");
    await rewrite(here.state, async (store) => {
      const version = await store.newestVersion("t/a");
      const text = (version?.text ?? "").replace('"1h"', '"2h"');
      const note = { ...(await noteOf(store)), engine: "0.0.1" };
      return { ...noted(note), definitions: [{ identity: "t/a", definedAt: (version?.definedAt ?? 0) + 1, text }] };
    });
    for (let start = 0; start < 2; start += 1) {
      const krond = startKrond(here.config, here.state);
      await krond.ready();
      const line = await krond.event("definition_kept", { identity: "t/a", level: "warn" });
      expect(line["message"]).toContain("exceeds the smallest gap");
      const rows = JSON.parse(here.kron("list", "-o", "json").out) as { identity: string }[];
      expect(rows.map(({ identity }) => identity)).toEqual(["t/a", "t/b"]);
      expect(here.kron("run", "t/a").status).toBe(0);
      expect(here.krond("reload").status).toBe(2);
      expect(here.kron("run", "t/a").status).toBe(0);
      await krond.kill("SIGTERM");
    }
    here.write(windowed("2h") + job("t/b", "true").replace("0 0 1 1 *", "61 * * * *"));
    expect(await startKrond(here.config, here.state).ended).toBe(2);
  });

  test("S5: warns of zone data that has changed for zones in use, once", async () => {
    const inBerlin = (identity: string): string => job(identity, "true", ", timezone: Europe/Berlin");
    const here = place(inBerlin("t/a") + inBerlin("t/b") + job("t/c", "true"));
    const first = startKrond(here.config, here.state);
    await first.ready();
    await first.kill("SIGTERM");
    await rewrite(here.state, async (store) => {
      const note = await noteOf(store);
      return noted({ ...note, tz: "1999a", zones: { ...note.zones, "Europe/Berlin": [[note.fromAt, 0]] } });
    });
    const second = startKrond(here.config, here.state);
    await second.ready();
    const line = second.lines.find(({ event }) => event === "zone_data_changed");
    expect(line).toMatchObject({
      level: "warn",
      from: "1999a",
      to: process.versions["tz"],
      zones: ["Europe/Berlin"],
      jobs: 2,
    });
    await second.kill("SIGTERM");
    const third = startKrond(here.config, here.state);
    await third.ready();
    expect(third.lines.filter(({ event }) => event === "zone_data_changed")).toEqual([]);
  });
});
