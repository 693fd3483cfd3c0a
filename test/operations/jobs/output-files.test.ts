/** A file of output is there before its run: what is only made ready is no run yet. */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { outputDirectoryOf } from "../../../src/actors/supervisor/run/arm-request.js";
import { outputIn } from "../../../src/operations/jobs/log.js";
import { type Begun, OutputFiles } from "../../../src/operations/jobs/output-files.js";
import type { StoredRecord } from "../../../src/persist/store.js";
import { builtPrograms, krondProcesses } from "../../support/krond.js";
import { placesIn } from "../../support/place.js";
import { temporaryDirectories } from "../../support/temporary.js";

const temporary = temporaryDirectories();

const LOUD = "2026-03-01T000000Z.a1.log";
const SILENT = "2026-03-01T000100Z.interval.a2.log";
const ARMED = "2026-03-01T000200Z.interval.a3.log";

function written(files: Readonly<Record<string, string>>): string {
  const directory = temporary();
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(directory, name), text);
  return directory;
}

describe("which files are of runs that began", () => {
  test.each<[string, Record<string, string>, Begun, readonly string[]]>([
    ["what has printed something, whatever is on record", { [LOUD]: "x", [SILENT]: "y" }, new Set(), [LOUD, SILENT]],
    ["not what is only made ready", { [LOUD]: "x", [ARMED]: "" }, new Set(["a1"]), [LOUD]],
    ["what runs and is silent", { [LOUD]: "x", [SILENT]: "", [ARMED]: "" }, new Set(["a1", "a2"]), [LOUD, SILENT]],
    ["nothing, if the first is made ready", { [ARMED]: "" }, new Set(), []],
    ["all of a job that is on no record", { [LOUD]: "x", [SILENT]: "" }, null, [LOUD, SILENT]],
  ])("%s", async (_title, files, begun, expected) => {
    const found = new OutputFiles(written(files), null, async () => begun);
    expect(await found.all()).toEqual(expected);
    expect(await found.newest()).toBe(expected.at(-1) ?? null);
  });

  test("of one period only its own", async () => {
    const found = new OutputFiles(written({ [LOUD]: "x", [SILENT]: "y" }), Date.UTC(2026, 2, 1), async () => null);
    expect(await found.all()).toEqual([LOUD]);
  });

  test("the page's output and that of other nodes: the newest run that began", async () => {
    const state = temporary();
    const directory = outputDirectoryOf(path.join(state, "output"), "t/a");
    fs.mkdirSync(directory, { recursive: true });
    for (const [name, text] of Object.entries({ [LOUD]: "said\n", [ARMED]: "" })) {
      fs.writeFileSync(path.join(directory, name), text);
    }
    const at = Date.UTC(2026, 2, 1);
    const text = JSON.stringify({ period_id: "2026-03-01T00:00:00Z", source: null, attempt_id: "a1", pid: 1 });
    const record = { identity: "t/a", at, kind: "run", text, isIntact: true } as StoredRecord;
    const answer = await outputIn(state, { identity: "t/a", bytes: 100 }, { ledgerLatest: async () => [record] });
    expect(answer).toMatchObject({ file: LOUD, text: "said\n" });
  });
});

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporary, programs);

test("kron logs, of a job whose next run is always made ready already", async () => {
  const here = place(`  - { identity: t/often, every: 4s, shell: true, command: 'echo said' }\n`);
  const krond = startKrond(here.config, here.state);
  await krond.ready();
  here.kron("run", "t/often", "--wait");
  const directory = outputDirectoryOf(path.join(here.state, "output"), "t/often");
  while (!fs.readdirSync(directory).some((name) => fs.statSync(path.join(directory, name)).size === 0)) {
    await krond.event("completed", {}, krond.lines.length);
  }
  expect(here.kron("logs", "t/often").out).toBe("said\n");
  const [row] = JSON.parse(here.kron("history", "t/often", "-o", "json").out) as { attempt_id: string }[];
  expect(row?.attempt_id).toMatch(/^\w+/);
});
