/** The house is kept as ARCHITECTURE.md says: what a reader relies on without looking. */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { unusedExports } from "./sources/exports.js";
import { longFiles, longFunctions, outOfOrder, uncalledMethods } from "./sources/rules.js";
import { cyclesIn, parse, readSources, type Sources } from "./sources/tree.js";

const ROOT = path.resolve(import.meta.dirname, "../..");
const MOST_LINES_OF_A_FILE = 500;
const MOST_LINES_OF_A_FUNCTION = 60;
const PORTS = [
  ["src/persist/store.ts", "StateStore"],
  ["src/persist/store.ts", "StateReader"],
  ["src/persist/backends.ts", "Backend"],
  ["src/actors/runner/runner-of.ts", "RunnerOf"],
  ["src/actors/clock.ts", "Clock"],
  ["src/actors/supervisor/port.ts", "Supervisor"],
] as const;

/**
 * Inner parts that tests look at by themselves: limits, so that a number is said once, and pure functions within larger ones.
 * Nothing else is exported for tests; what is here goes when a test no longer needs it.
 */
const LOOKED_AT: Readonly<Record<string, readonly string[]>> = {
  "actors/cluster/recovered-runs.ts": ["runsOfNode"],
  "actors/endpoints/analyst.ts": ["ANALYST_LIMITS"],
  "actors/messenger/tenants.ts": ["TENANT_PER_MINUTE"],
  "actors/process-identity.ts": ["parseStat"],
  "actors/runner/output-tail.ts": ["OUTPUT_TAIL_LIMITS"],
  "actors/supervisor/rows/job-entry.ts": ["scopeOf"],
  "actors/waker.ts": ["sleepMs"],
  "actors/workers/desk.ts": ["WAITING_WORKERS"],
  "api/http/onlookers.ts": ["ONLOOKER_LIMITS"],
  "api/web/bunches.ts": ["MOST_NAMES"],
  "cli/endpoints/fields.ts": ["OPTION_OF"],
  "cli/forecast/html.ts": ["escaped", "scriptData"],
  "cli/forecast/past-runs.ts": ["meanMs"],
  "cli/man/pages.ts": ["commandPage"],
  "core/base/errors/registry.ts": ["ERROR_CATEGORIES"],
  "core/config/lint/lint.ts": ["LINT_PERIODS_PER_JOB", "periodsAhead"],
  "core/config/yaml/pieces.ts": ["findJobList"],
  "core/decision/constraint/kind.ts": ["RANGES_PER_CLAUSE"],
  "core/endpoint/health.ts": ["WINDOWS"],
  "core/notify/trouble.ts": ["happeningOf"],
  "core/period/reasons.ts": ["MISSED_REASONS", "SKIPPED_REASONS", "GAP_REASONS", "OTHER_REASONS"],
  "core/state/retry.ts": ["delayMs"],
  "core/time/civil.ts": ["isLeapYear"],
  "krond/boot/room-for-gates.ts": ["taskRooms"],
  "krond/inspect/client.ts": ["CLIENT_LIMITS"],
  "krond/inspect/filter.ts": ["EVERYTHING"],
  "krond/inspect/server.ts": ["INSPECT_SERVER_LIMITS"],
  "krond/log/sink.ts": ["LOG_SINK_LIMITS", "DescriptorSink"],
  "krond/monitor/loop-watch.ts": ["LOOP_WATCH_LIMITS"],
  "krond/monitor/metric-registry.ts": ["METRIC_LIMITS"],
  "krond/monitor/vitals.ts": ["VITAL_LIMITS"],
  "machines/step.ts": ["createStepper"],
  "operations/now/run-ends.ts": ["RUN_WAITS"],
  "operations/planner/operations.ts": ["TRY_PLANNER", "LIST_SESSIONS", "GET_SESSION"],
  "operations/records/history.ts": ["rowsOf"],
  "operations/redaction.ts": ["LOG_FIELD_LIMITS"],
  "operator/events.ts": ["EVENT_LIMITS"],
  "persist/files/open.ts": ["openFilesStoreOn"],
  "persist/postgres/address.ts": ["TLS_MODES"],
};

const sources = readSources(ROOT, "src");

describe("the sources", () => {
  test("none imports itself by way of others, types included", () => {
    expect(cyclesIn(sources)).toEqual([]);
  });

  test("each folder of core knows only those before it", () => {
    expect(outOfOrder(sources)).toEqual([]);
  });

  test(`no file has more than ${MOST_LINES_OF_A_FILE} lines`, () => {
    expect(longFiles(sources, MOST_LINES_OF_A_FILE)).toEqual([]);
  });

  test(`no function has more than ${MOST_LINES_OF_A_FUNCTION} lines`, () => {
    expect(longFunctions(sources, MOST_LINES_OF_A_FUNCTION)).toEqual([]);
  });

  test("what is exported is imported by another source, or is one of the parts that tests look at", () => {
    const text = (name: string): string => fs.readFileSync(path.join(ROOT, name), "utf8");
    const unused = unusedExports(sources, {
      others: new Map([...readSources(ROOT, "web/src"), ...readSources(ROOT, "bench")]),
      tests: readSources(ROOT, "test"),
      entries: text("tsup.config.ts").match(/\bsrc\/[\w/-]+\.ts\b/g) ?? [],
      scripts: text("scripts/build-man.mjs") + text("scripts/chart-layouts.mjs"),
    });
    const allowed = Object.entries(LOOKED_AT).flatMap(([file, names]) => names.map((name) => `src/${file}: ${name}`));
    expect(
      unused.filter((name) => !allowed.includes(name)),
      "take the export away",
    ).toEqual([]);
    expect(
      allowed.filter((name) => !unused.includes(name)),
      "take it off the list",
    ).toEqual([]);
  });

  test("every method of a port has a caller", () => {
    expect(uncalledMethods(sources, PORTS)).toEqual([]);
  });
});

function written(files: Readonly<Record<string, string>>): Sources {
  return new Map(Object.entries(files).map(([file, text]) => [file, parse(file, text)]));
}

describe("which would be noticed", () => {
  test("a cycle of types", () => {
    const a = 'import type { B } from "./b.js";\nexport type A = B;\n';
    const b = 'export type { A as B } from "./a.js";\n';
    expect(cyclesIn(written({ "src/a.ts": a, "src/b.ts": b }))).toEqual(["src/a.ts → src/b.ts → src/a.ts"]);
  });

  test("a folder that knows a later one", () => {
    const text = 'import type { Why } from "../why/why.js";\nexport type X = Why;\n';
    expect(outOfOrder(written({ "src/core/time/x.ts": text }))).toEqual(["src/core/time/x.ts → src/core/why/why.ts"]);
    expect(outOfOrder(written({ "src/core/new/x.ts": text }))).toHaveLength(1);
  });

  test("a long file and a long function", () => {
    const long = written({ "src/x.ts": `const f = () => {\n${"  f();\n".repeat(60)}};\nf();\n` });
    expect(longFunctions(long, MOST_LINES_OF_A_FUNCTION)).toEqual(["src/x.ts:1"]);
    expect(longFunctions(long, 62)).toEqual([]);
    expect(longFiles(long, 62)).toEqual(["src/x.ts: 63 lines"]);
  });

  test("an export that nobody imports, also one that its own file uses or a test calls", () => {
    const files = {
      "src/x.ts": "export const a = 1;\nexport const b = a;\nexport interface C { a: typeof b }\nexport type D = C;\n",
      "src/y.ts": 'import { a } from "./x.js";\na;\n',
      "src/z.ts": 'export { a as e } from "./x.js";\n',
    };
    const tests = written({ "test/x.test.ts": 'import { b, type C } from "../src/x.js";\nb as unknown as C;\n' });
    expect(unusedExports(written(files))).toEqual(["src/x.ts: b", "src/x.ts: C", "src/x.ts: D", "src/z.ts: e"]);
    expect(unusedExports(written(files), { tests })).toEqual(["src/x.ts: b", "src/x.ts: D", "src/z.ts: e"]);
    const entry = { entries: ["src/z.ts"], scripts: "D" };
    expect(unusedExports(written(files), { tests, ...entry })).toEqual(["src/x.ts: b"]);
  });

  test.each([
    ["as a whole", 'import * as x from "./x.js";\nx.a;\n'],
    ["by and by", 'const { a } = await import("./x.js");\na;\n'],
    ["within a type", 'export type A = import("./x.js").a;\n'],
    ["to be passed on", 'export * from "./x.js";\nexport type { a } from "./x.js";\n'],
  ])("and not one that is imported %s", (_how, text) => {
    const files = written({ "src/x.ts": "export const a = 1;\n", "src/y.ts": text });
    expect(unusedExports(files, { entries: ["src/y.ts"] })).toEqual([]);
  });

  test("a method that nobody calls", () => {
    const port = {
      "src/p.ts": "export interface P { used(): void; idle(): void }\nexport const f = (p: P) => p.used();\n",
    };
    expect(uncalledMethods(written(port), [["src/p.ts", "P"]])).toEqual(["P.idle"]);
  });
});
