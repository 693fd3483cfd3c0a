/** kron runs and kron stats, asked of a real daemon. */
import { describe, expect, test } from "vitest";
import { RUN_STATUSES } from "../../../src/cli/commands/specs/runs.js";
import { STATS_WINDOWS } from "../../../src/cli/commands/specs/stats.js";
import { followed, newest, type RunPage } from "../../../src/cli/endpoints/run-pages.js";
import { RUN_RESULTS } from "../../../src/core/endpoint/ended-run.js";
import { WINDOW_NAMES } from "../../../src/core/endpoint/health.js";
import type { RunAnswer } from "../../../src/operations/endpoints/shapes.js";
import { type Desk, desks } from "./place.js";

const desk = desks();
type Row = Readonly<Record<string, unknown>>;

/** Two that answer as they do, of two jobs. */
async function withRuns(): Promise<Desk> {
  const here = await desk();
  for (const [name, at] of [
    ["billing", "good"],
    ["other", "bad"],
  ] as const) {
    await here.kron("job", "create", name);
    await here.kron("endpoint", "create", `${name}/${at}`, "--url", here.server.url + at, "--every", "1h");
    await here.kron("endpoint", "run", `${name}/${at}`, "--wait");
  }
  await here.kron("endpoint", "run", "other/bad", "--wait");
  return here;
}

test("statuses and windows are those that there are", () => {
  expect(RUN_STATUSES).toEqual(["running", ...RUN_RESULTS]);
  expect(STATS_WINDOWS).toEqual(WINDOW_NAMES);
});

describe("kron runs", () => {
  test("shows what was sent, of one, of a job or of all, newest first, and what went wrong", async () => {
    const here = await withRuns();
    const all = await here.json<Row[]>("runs");
    expect(all.map(({ endpoint }) => endpoint)).toEqual(["other/bad", "other/bad", "billing/good"]);
    expect(all[0]).toMatchObject({ status: "failure", http_status: 503, was_sent: true, source: "manual" });
    const table = await here.kron("runs", "--count", "1");
    expect(table.out).toMatch(/^ENDPOINT +SCHEDULED \(UTC\) +STATUS +HTTP +TOOK +BY +ERROR\n/);
    expect(table.out).toMatch(
      /\nother\/bad +20\S+Z +failure +503 +\S+ +manual +status-503: the answer had the status 503\n$/,
    );
    const count = async (...args: string[]) => (await here.json<Row[]>("runs", ...args)).length;
    expect(await count("other/bad")).toBe(2);
    expect(await count("bad", "--job", "other", "-n", "1")).toBe(1);
    expect([await count("--job", "billing"), await count("--job", "other")]).toEqual([1, 2]);
    expect([await count("--failed"), await count("billing/good", "--failed")]).toEqual([2, 0]);
    expect([await count("--status", "success,timeout"), await count("other/bad", "--status", "success")]).toEqual([
      1, 0,
    ]);
    expect([await count("--since", "1h"), await count("other/bad", "--since", "1h")]).toEqual([3, 2]);
    expect([await count("--since", "+1h"), await count("other/bad", "--since", "+1h")]).toEqual([0, 0]);
    expect((await here.kron("runs", "billing/good", "--status", "running")).out).toMatch(/^SCHEDULED .*\n$/);
  });

  test("one run in full, by its id or by its time; what the other side says cannot speak to the terminal", async () => {
    const here = await withRuns();
    const [newestRun] = await here.json<{ id: string; scheduled_for: string }[]>("runs", "other/bad");
    const { exitCode, out } = await here.kron("runs", newestRun?.id ?? "");
    expect(exitCode).toBe(0);
    expect(out).toMatch(/^other\/bad@20\S+: failure\nid +run_/);
    expect(out).toMatch(/^answer +HTTP 503, \d+ bytes\nerror +status-503: .*\nfailed before +1$/m);
    expect(out).toMatch(/the answer begins:\n {2}come .?\[31mback\n {2}later\n$/);
    expect(out).not.toContain("\u001b");
    expect((await here.kron("runs", `other/bad@${newestRun?.scheduled_for}`)).out).toBe(out);
    const full = await here.json("runs", newestRun?.id ?? "");
    expect(full).toMatchObject({ endpoint: "other/bad", failure_count: 1, hints: [], response_bytes: 20 });
  });

  test("bad input is told", async () => {
    const here = await withRuns();
    const rows: readonly (readonly [readonly string[], RegExp])[] = [
      [["a", "b"], /runs takes one endpoint/],
      [["billing/goo"], /no endpoint "billing\/goo"\n {2}did you mean "billing\/good"\?/],
      [["--status", "failed"], /--status: "failed" is not one of running, success, /],
      [["--status", "failure", "--failed"], /--failed is --status failure,timeout,unknown/],
      [["--status", "running"], /--status running is about one endpoint/],
      [["--count", "0"], /--count: "0" is not a whole number/],
      [["--since", "someday"], /--since: /],
      [["--follow", "-o", "json"], /use -o jsonl/],
      [["--follow", "--since", "1h"], /--since looks back/],
      [["billing/good@2001-01-01T00:00:00Z"], /no run of billing\/good was scheduled for 2001-01-01T00:00:00Z/],
      [["billing/good@25:99"], /the time: /],
      [[`run_${"0".repeat(16)}_${"0".repeat(16)}_0_cron`], /no run "run_0/],
      [["--job", "biling"], /no job "biling"\n {2}did you mean "billing"\?/],
    ];
    for (const [args, message] of rows) {
      const { exitCode, out, err } = await here.kron("runs", ...args);
      expect({ args, exitCode, out, err }).toEqual({ args, exitCode: 1, out: "", err: expect.stringMatching(message) });
    }
  });
});

describe("kron stats", () => {
  test("tells the health of one, and of all of them in a line each", async () => {
    const here = await withRuns();
    const one = await here.kron("stats", "other/bad");
    expect(one.out).toMatch(
      /^other\/bad: every 1h; 2 failures in a row since 20\S+\nWINDOW +RUNS +SUCCESS +ERRORS +IDLE +P50 +P95\n/,
    );
    expect(one.out).toMatch(/^1h +2 +0% +2 +0 +\S+ +\S+\n4h +2 .*\n24h +2 .*\n30d +2 .*\nlast errors:\n/m);
    expect(one.out).toMatch(/^ {2}20\S+ {2}status-503: come .*back later$/m);
    expect(one.out).not.toContain("\u001b");
    expect(await here.json("stats", "billing/good")).toMatchObject({
      endpoint: "billing/good",
      windows: { "1h": { runs: 1, success_rate: 1 }, "24h": { successes: 1, errors: 0 } },
      streak: { failures: 0, successes: 1 },
      last_errors: [],
    });
    const all = await here.kron("stats", "--window", "1h");
    expect(all.out).toMatch(/^ENDPOINT +RUNS \(1h\) +SUCCESS +P50 +P95 +STREAK +LAST ERROR\n/);
    expect(all.out).toMatch(/^billing\/good +1 +100% +\S+ +\S+ +1 ok$/m);
    expect(all.out).toMatch(/^other\/bad +2 +0% +\S+ +\S+ +2 failed +status-503: /m);
    const named = async (...args: string[]) =>
      (await here.json<Row[]>("stats", ...args)).map(({ endpoint }) => endpoint);
    expect([await named("--job", "billing"), await named("--failed")]).toEqual([["billing/good"], ["other/bad"]]);
    expect(await named("-n", "1")).toHaveLength(1);
    await here.kron("endpoint", "create", "billing/new", "--url", here.server.url, "--every", "1h");
    const fresh = await here.kron("stats", "billing/new");
    expect(fresh.out).toMatch(/^billing\/new: every 1h; no run yet\n.*\n1h +0 +- +0 +0 +- +-$/m);
  });

  test("bad input is told", async () => {
    const here = await desk();
    const rows: readonly (readonly [readonly string[], RegExp])[] = [
      [["a/b", "c"], /stats takes one endpoint/],
      [["a/b"], /no endpoint "a\/b"\n {2}'kron job list' shows them/],
      [["a/b", "--window", "1h"], /--window is for several endpoints/],
      [["--window", "2h"], /--window: "2h" is not one of 1h, 4h, 24h, 30d/],
      [["--job", "none"], /no job "none"/],
    ];
    for (const [args, message] of rows) {
      const { exitCode, out, err } = await here.kron("stats", ...args);
      expect({ args, exitCode, out, err }).toEqual({ args, exitCode: 1, out: "", err: expect.stringMatching(message) });
    }
  });
});

/** A record that grows between looks; pages are as large as they are asked for. */
function recordOf(count: number) {
  const rows: RunAnswer[] = [];
  const add = (id: number, status: RunAnswer["status"] = "success"): void => {
    const scheduledFor = new Date(id * 1_000).toISOString();
    const known = rows.findIndex((row) => row.id === `${id}`);
    const row = { id: `${id}`, status, scheduledFor } as RunAnswer;
    if (known >= 0) rows[known] = row;
    else rows.unshift(row);
  };
  for (let id = 1; id <= count; id++) add(id);
  const fetch = async (cursor: string | null, limit: number): Promise<RunPage> => {
    const from = cursor === null ? 0 : rows.findIndex(({ id }) => id === cursor) + 1;
    const page = rows.slice(from, from + limit);
    return { rows: page, next: from + limit < rows.length ? (page.at(-1)?.id ?? null) : null };
  };
  return { add, fetch };
}

async function shown(looks: AsyncIterator<readonly RunAnswer[]>): Promise<string[]> {
  const { value } = (await looks.next()) as { value: readonly RunAnswer[] };
  return value.map(({ id, status }) => `${id} ${status}`);
}

describe("runs that come in pages", () => {
  test("are looked through until there are enough, or they are too old", async () => {
    const { fetch } = recordOf(1_200);
    const all = async (count: number, since?: string, isWanted = (_: RunAnswer): boolean => true) => {
      const found: string[] = [];
      for await (const rows of newest(fetch, count, since, isWanted)) found.push(...rows.map(({ id }) => id));
      return found;
    };
    expect(await all(3)).toEqual(["1200", "1199", "1198"]);
    expect(await all(5_000)).toHaveLength(1_200);
    expect(await all(5_000, new Date(1_198_000).toISOString())).toEqual(["1200", "1199", "1198"]);
    expect(await all(2, undefined, ({ id }) => Number(id) % 600 === 0)).toEqual(["1200", "600"]);
  });

  test("--follow shows the last ones, and then each that comes or ends, once and in order", async () => {
    const { add, fetch } = recordOf(5);
    const looks = followed(fetch, 2, () => true);
    expect(await shown(looks)).toEqual(["4 success", "5 success"]);
    expect(await shown(looks)).toEqual([]);
    add(6, "running");
    add(7);
    expect(await shown(looks)).toEqual(["6 running", "7 success"]);
    add(6, "failure");
    expect(await shown(looks)).toEqual(["6 failure"]);
    for (let id = 8; id <= 1_300; id++) add(id);
    expect(await shown(looks)).toHaveLength(1_293);
    expect(await shown(looks)).toEqual([]);
    await looks.return(undefined);
  });
});
