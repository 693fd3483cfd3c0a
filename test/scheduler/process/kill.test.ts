import * as path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lmdbStore, type SchedulerEvent } from "../../../src/scheduler/index.js";
import { bundleEntry } from "../../support/bundle.js";
import { type TestProcess, testProcesses } from "../../support/process.js";
import { temporaryDirectories } from "../../support/temporary.js";
import { recordsOf } from "../support.js";

type Line = SchedulerEvent | { readonly type: "asleep" };

const start = testProcesses();
const temporary = temporaryDirectories();
let runner = "";
let remove = (): void => {};

beforeAll(async () => {
  const bundle = await bundleEntry(path.join(import.meta.dirname, "runner.ts"));
  runner = bundle.file;
  remove = () => bundle.remove();
});
afterAll(() => remove());

async function nextLine(running: TestProcess): Promise<Line | null> {
  const text = await running.line();
  return text === null ? null : (JSON.parse(text) as Line);
}

async function linesUntil(running: TestProcess, isLast: (lines: readonly Line[]) => boolean): Promise<readonly Line[]> {
  const lines: Line[] = [];
  while (!isLast(lines)) {
    const line = await nextLine(running);
    if (line === null) throw new Error("the process ended too early");
    lines.push(line);
  }
  return lines;
}

function said(type: Line["type"]): (lines: readonly Line[]) => boolean {
  return (lines) => lines.at(-1)?.type === type;
}

async function restOf(running: TestProcess): Promise<readonly Line[]> {
  const lines: Line[] = [];
  for (let line = await nextLine(running); line !== null; line = await nextLine(running)) lines.push(line);
  return lines;
}

function isA<Type extends Line["type"]>(type: Type): (line: Line) => line is Extract<Line, { type: Type }> {
  return (line): line is Extract<Line, { type: Type }> => line.type === type;
}

describe("kill -9", () => {
  test("during a callback: after the restart the orphan is run again, at once and once (R2, P19)", async () => {
    const directory = path.join(temporary(), "store");
    const first = start(runner, [directory, "2026-01-05T00:00:05Z", "1", "hang", "0 0 * * *", "report"]);
    await linesUntil(first, said("TaskRunStarted"));
    await first.kill("SIGKILL");

    const second = start(runner, [directory, "2026-01-05T00:10:00Z", "1", "end", "0 0 * * *", "report"]);
    const lines = await linesUntil(second, said("TaskRunCompleted"));
    second.child.stdin?.end();
    const rest = await restOf(second);
    expect(await second.ended).toBe(0);
    expect(lines.find(isA("Reconciled"))?.orphaned).toEqual(["report"]);
    const starts = [...lines, ...rest].filter(isA("TaskRunStarted"));
    expect(starts.map(({ name, cause }) => [name, cause])).toEqual([["report", "orphan"]]);

    const third = start(runner, [directory, "2026-01-05T00:20:00Z", "1", "end", "0 0 * * *", "report"]);
    const quiet = await linesUntil(third, said("asleep"));
    await third.kill("SIGKILL");
    expect(quiet.find(isA("Reconciled"))?.orphaned).toEqual([]);
    expect(quiet.filter(isA("TaskRunStarted"))).toEqual([]);
  });

  test("a process that is alive keeps a second one out", async () => {
    const directory = path.join(temporary(), "store");
    const first = start(runner, [directory, "2026-01-05T00:00:05Z", "1", "end", "5 0 * * *", "report"]);
    await linesUntil(first, said("asleep"));
    const second = start(runner, [directory, "2026-01-05T00:00:06Z", "1", "end", "5 0 * * *", "report"]);
    const lines = await restOf(second);
    expect(lines.map(({ type }) => type)).toEqual([
      "SchedulerInitializationStarted",
      "StoreFailed",
      "SchedulerInitializationFailed",
    ]);
    expect(await second.ended).toBe(3);
  });

  const KILLS = process.env["KRON_TEST_LONG"] === "1" ? 1000 : 16;

  test(`${KILLS} times at any point: no occurrence starts twice, and what was cut off is orphaned`, async () => {
    const directory = path.join(temporary(), "store");
    const names = Array.from({ length: 8 }, (_, i) => `task ${i}`);
    const started = new Set<string>();
    let cutOff: readonly string[] = [];
    const seen = { orphans: 0, ends: 0, starts: 0 };
    for (let kill = 0; kill < KILLS; kill++) {
      const at = new Date(Date.parse("2026-01-05T00:00:00Z") + kill * 3_600_000 + 30_000).toISOString();
      const running = start(runner, [directory, at, "1200", "brief", "* * * * *", ...names]);
      // Not at a certain time but after so many lines; the process runs on meanwhile.
      const first = await linesUntil(running, (lines) => lines.length > (kill * 29) % 67);
      running.child.kill("SIGKILL");
      const lines = [...first, ...(await restOf(running))];
      const reconciled = lines.find(isA("Reconciled"));
      expect(reconciled?.orphaned ?? cutOff).toEqual(expect.arrayContaining([...cutOff]));
      const starts = lines.filter(isA("TaskRunStarted"));
      const periods = starts.filter(({ cause }) => cause !== "orphan").map(({ name, dueAt }) => `${name} ${dueAt}`);
      expect(periods.filter((period) => started.has(period))).toEqual([]);
      expect(new Set(periods).size).toBe(periods.length);
      for (const period of periods) started.add(period);
      const ends = lines.filter(isA("TaskRunCompleted")).map(({ name, startedAt }) => `${name} ${startedAt}`);
      seen.orphans += starts.length - periods.length;
      seen.starts += starts.length;
      seen.ends += ends.length;
      if (reconciled === undefined) continue;
      cutOff = names.filter((name) => {
        const last = starts.findLast((entry) => entry.name === name);
        const wasCutOff = last !== undefined && !ends.includes(`${name} ${last.at}`);
        return wasCutOff || (last === undefined && reconciled.orphaned.includes(name));
      });
    }
    expect(Object.values(seen).every((count) => count > 0)).toBe(true);
    const store = lmdbStore(directory);
    expect((await recordsOf(store)).map(({ name }) => name).sort()).toEqual(names);
    await store.release?.();
  });
});
