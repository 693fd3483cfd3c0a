import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { Cron } from "croner";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { nextOccurrence } from "../../src/scheduler/index.js";
import { temporaryDirectories } from "../support/temporary.js";
import { removeExamples, run } from "./testing/support/examples.js";

const ROOT = path.resolve(import.meta.dirname, "../..");
const PAIRS = path.join(ROOT, "examples/migration");
const PEERS = path.join(ROOT, "bench/node_modules");
const PAGE = fs.readFileSync(path.join(ROOT, "docs/migration.md"), "utf8");

interface Pair {
  readonly library: string;
  readonly cron: string;
  readonly timeZone: string;
}

const EXPECTED: readonly Pair[] = [
  { library: "bree", cron: "0,30 2 * * 0", timeZone: "UTC" },
  { library: "cron", cron: "0 6 1 1,4,7,10 *", timeZone: "Europe/London" },
  { library: "croner", cron: "30 3 * * *", timeZone: "America/New_York" },
  { library: "node-cron", cron: "0,15,30,45 9-17 * * 1-5", timeZone: "Europe/Berlin" },
  { library: "node-schedule", cron: "30 9 * * 1", timeZone: "Asia/Tokyo" },
];
const MISSING = EXPECTED.map(({ library }) => library).filter((name) => !fs.existsSync(path.join(PEERS, name)));

function programOf(library: string, half: "before" | "after"): string {
  return fs.readFileSync(path.join(PAIRS, library, `${half}.mjs`), "utf8");
}

/** The answers that are right when the question was asked between two instants. */
function answersBetween({ cron, timeZone }: Pair, from: number, to: number): readonly string[] {
  return [from, to].map((at) => new Date(nextOccurrence(cron, at, timeZone)).toISOString());
}

/** From a place where its imports are found: the peers are installed apart from everything else. */
function runBefore(library: string): string {
  const folder = path.join(PEERS, `.kron-migration-${process.pid}`);
  const file = path.join(folder, `${library}.mjs`);
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(file, programOf(library, "before"));
  try {
    const env = { ...process.env, TZ: "UTC" };
    const { stdout, stderr, status } = spawnSync(process.execPath, [file], { encoding: "utf8", env, timeout: 30_000 });
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    return stdout.trim();
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

describe("moving from another scheduler", () => {
  const temporary = temporaryDirectories();
  const home = process.cwd();
  // The default store lies in the working directory.
  beforeEach(() => process.chdir(temporary()));
  afterEach(() => process.chdir(home));
  afterAll(removeExamples);

  test("every pair has its expectation", () => {
    expect(fs.readdirSync(PAIRS).sort()).toEqual(EXPECTED.map(({ library }) => library));
  });

  test.each(EXPECTED)("$library: the page shows the programs that are run", ({ library }) => {
    const shown = (["before", "after"] as const).map((half) =>
      PAGE.includes(`\`\`\`js\n${programOf(library, half)}\`\`\``),
    );
    expect(shown).toEqual([true, true]);
  });

  test.each(EXPECTED)("$library, after: names the next occurrence and stops", async (pair) => {
    const from = Date.now();
    const printed = await run(`migration ${pair.library}`, { code: programOf(pair.library, "after"), prints: [] });
    expect(answersBetween(pair, from, Date.now())).toContain(printed.join("\n"));
  });

  const reason = MISSING.length === 0 ? "" : ` (NOT RUN: bench/node_modules lacks ${MISSING.join(", ")})`;
  test.skipIf(MISSING.length > 0).each(EXPECTED)(`$library, before: names the same occurrence${reason}`, (pair) => {
    const from = Date.now();
    const printed = runBefore(pair.library);
    expect(answersBetween(pair, from, Date.now())).toContain(printed);
  });

  const TABLE = [...PAGE.matchAll(/^\| (`.+`)(?: \(seconds first\))? \| `(.+)` \|$/gm)].flatMap(
    ([, left = "", right]) => left.split(", ").map((other) => ({ other: other.slice(1, -1), ours: String(right) })),
  );
  // Neither expression is one for croner: what they mean elsewhere is spelled out.
  const SPELLED_OUT = new Map([
    ["5/20 * * * *", "5-59/20 * * * *"],
    ["0 22-2 * * *", "0 22-23,0-2 * * *"],
  ]);

  test.each(TABLE)("$other is $ours", ({ other, ours }) => {
    const start = Date.parse("2026-01-01T00:00:00Z");
    const theirs = new Cron(SPELLED_OUT.get(other) ?? other, { timezone: "UTC", paused: true }).nextRuns(
      60,
      new Date(start),
    );
    const found: number[] = [];
    for (let at = start; found.length < theirs.length; ) {
      at = nextOccurrence(ours, at, "UTC");
      found.push(at);
    }
    expect(theirs.length).toBe(60);
    expect(found).toEqual(theirs.map((date) => date.getTime()));
  });

  test("the table of expressions is not empty", () => {
    expect(TABLE.length).toBeGreaterThan(15);
  });
});
