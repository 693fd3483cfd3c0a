/** What is asked of many endpoints at once, and of one that is not there yet. */
import { describe, expect, test } from "vitest";
import type { Reply } from "./support/client.js";
import { deskApi } from "./support/desk-api.js";

const URL = "https://hooks.test/users";

async function desk() {
  const api = await deskApi();
  const { key } = await api.key({ scope: "write" });
  const ask = (method: string, path: string, body?: object): Promise<Reply> =>
    api.send(method, `/api/v1${path}`, { key, ...(body && { body }) });
  return { api, ask };
}

describe("preview", () => {
  test.each([
    [
      "an expression by the clock of a place",
      { baselineCron: "30 2 * * *", timezone: "Europe/Berlin", count: 3 },
      [
        "2026-03-01T01:30:00Z baseline-cron",
        "2026-03-02T01:30:00Z baseline-cron",
        "2026-03-03T01:30:00Z baseline-cron",
      ],
    ],
    [
      "an interval, from now on",
      { baselineIntervalMs: 3_600_000, count: 2 },
      ["2026-03-01T01:00:01Z baseline-interval", "2026-03-01T02:00:01Z baseline-interval"],
    ],
    [
      "a bound that asks for more",
      { baselineCron: "0 * * * *", maxIntervalMs: 1_800_000, count: 3 },
      ["2026-03-01T01:00:00Z baseline-cron", "2026-03-01T01:30:00Z clamped-max", "2026-03-01T02:00:00Z baseline-cron"],
    ],
    ["an expression that never comes", { baselineCron: "0 0 30 2 *" }, null],
  ])("%s", async (_name, wish, runs) => {
    const { api, ask } = await desk();
    const before = [...api.desk.world.disk.objects];
    const { status, body } = await ask("POST", "/endpoints/preview", { name: "x", url: URL, ...wish });
    if (runs === null) expect([status, body.code]).toEqual([400, "input-invalid"]);
    else expect(body.rows.map((row: { at: string; source: string }) => `${row.at} ${row.source}`)).toEqual(runs);
    expect([...api.desk.world.disk.objects]).toEqual(before);
  });

  test("judges what would be made, and asks for nothing but a key that may look", async () => {
    const { api, ask } = await desk();
    const wish = { name: "x", url: URL, baselineIntervalMs: 1_000 };
    const wrong = [
      { ...wish, url: "http://10.0.0.1/" },
      { ...wish, baselineCron: "* * * * *" },
      { ...wish, count: 101 },
    ];
    for (const body of wrong) expect((await ask("POST", "/endpoints/preview", body)).status).toBe(400);
    const { key } = await api.key({ scope: "read" });
    const secret = { ...wish, secretHeaders: { Authorization: "Bearer x" } };
    const reply = await api.send("POST", "/api/v1/endpoints/preview", { key, body: secret });
    expect([reply.status, reply.body.rows.length]).toEqual([200, 10]);
  });
});

describe("many endpoints at once", () => {
  test("of a job, with a tag, or both: counted first, held, and let go on", async () => {
    const { api, ask } = await desk();
    const made: { readonly id: string; readonly jobId: string }[] = [];
    for (const [job, tags] of [
      ["a", ["red"]],
      ["a", []],
      ["b", ["red", "big"]],
      ["b", ["big"]],
    ] as const) {
      const known = (await ask("GET", "/jobs")).body.rows.find((row: { name: string }) => row.name === job);
      const { id } = known ?? (await ask("POST", "/jobs", { name: job })).body;
      const wish = { name: `e${made.length}`, url: URL, baselineIntervalMs: 60_000, tags };
      made.push((await ask("POST", `/jobs/${id}/endpoints`, wish)).body);
    }
    const theirs = await api.desk.endpoint((await api.desk.job("c", "other")).id, { tags: ["red"] }, "other");
    const statuses = async () => {
      const all = await Promise.all(made.map(({ id }) => ask("GET", `/endpoints/${id}`)));
      return all.map(({ body }) => body.status);
    };
    const until = { pausedUntil: "2026-03-02T00:00:00Z", reason: "maintenance" };
    const counted = await ask("POST", "/endpoints/pause", { tag: "red", dryRun: true, ...until });
    expect(counted.body).toEqual({ matched: 2, changed: 0, dryRun: true });
    expect(await statuses()).toEqual(["active", "active", "active", "active"]);
    expect((await ask("POST", "/endpoints/pause", { tag: "red", ...until })).body).toEqual({ matched: 2, changed: 2 });
    expect(await statuses()).toEqual(["paused", "active", "paused", "active"]);
    await ask("POST", "/endpoints/pause", { jobId: made[2]?.jobId, tag: "big", ...until });
    expect(await statuses()).toEqual(["paused", "active", "paused", "paused"]);
    expect((await ask("POST", "/endpoints/resume", { jobId: made[0]?.jobId })).body).toEqual({
      matched: 2,
      changed: 2,
    });
    expect(await statuses()).toEqual(["active", "active", "paused", "paused"]);
    const other = await api.key({ tenant: "other", scope: "read" });
    const foreign = await api.send("GET", `/api/v1/endpoints/${theirs.id}`, { key: other.key });
    expect(foreign.body.status).toBe("active");
  });

  test("which ones must be said, and what cannot be is refused for all of them", async () => {
    const { api, ask } = await desk();
    const { id } = await api.desk.job();
    await api.desk.endpoint(id);
    const wrong: readonly (readonly [object, number])[] = [
      [{ pausedUntil: "2026-03-02T00:00:00Z" }, 400],
      [{ jobId: id, pausedUntil: "2020-03-02T00:00:00Z" }, 400],
      [{ jobId: id, pausedUntil: "soon" }, 400],
      [{ jobId: `job_${"0".repeat(16)}`, pausedUntil: "2026-03-02T00:00:00Z" }, 404],
    ];
    const one = (await ask("GET", "/endpoints")).body.rows[0].id;
    for (const body of [undefined, {}, { reason: "an outage" }]) {
      const { status, body: problem } = await ask("POST", `/endpoints/${one}/pause`, body);
      expect([status, problem.errors?.[0]]).toMatchObject([400, { pointer: "/pausedUntil", code: "field-missing" }]);
    }
    for (const [body, status] of wrong) expect((await ask("POST", "/endpoints/pause", body)).status).toBe(status);
    expect((await ask("POST", "/endpoints/resume", {})).status).toBe(400);
    expect((await ask("GET", "/endpoints")).body.rows[0].status).toBe("active");
  });
});

describe("hints for many endpoints at once", () => {
  test("are judged before anybody has one, counted first, set and taken back", async () => {
    const { api, ask } = await desk();
    const { id: jobId } = await api.desk.job();
    const made: { readonly id: string }[] = [];
    for (const name of ["a", "b", "c"]) {
      made.push(
        await api.desk.endpoint(jobId, { name, tags: name === "c" ? [] : ["red"], baselineIntervalMs: 3_600_000 }),
      );
    }
    const hint = { intervalMs: 60_000, ttlMinutes: 30, reason: "errors" };
    const intervals = async () => {
      const all = await Promise.all(made.map(({ id }) => ask("GET", `/endpoints/${id}`)));
      return all.map(({ body }) => body.hints.interval?.intervalMs ?? null);
    };
    const wrong = [
      { tag: "red", ...hint, intervalMs: -1 },
      { tag: "red", ...hint, nextRunAt: "2026-03-01T01:00:00Z" },
      { tag: "red", reason: "nothing" },
      hint,
    ];
    for (const body of wrong) expect((await ask("POST", "/endpoints/hints", body)).status).toBe(400);
    const counted = await ask("POST", "/endpoints/hints", { tag: "red", dryRun: true, ...hint });
    expect([counted.body, await intervals()]).toEqual([{ matched: 2, changed: 0, dryRun: true }, [null, null, null]]);
    expect((await ask("POST", "/endpoints/hints", { tag: "red", ...hint })).body).toEqual({ matched: 2, changed: 2 });
    expect(await intervals()).toEqual([60_000, 60_000, null]);
    await api.desk.world.pass(5 * 60_000);
    expect(api.desk.asked.length).toBeGreaterThanOrEqual(8);
    const cleared = await ask("POST", "/endpoints/hints/clear", { jobId, hintKind: "oneshot" });
    expect([cleared.body.matched, await intervals()]).toEqual([3, [60_000, 60_000, null]]);
    await ask("POST", "/endpoints/hints/clear", { jobId });
    expect(await intervals()).toEqual([null, null, null]);
  });

  test("once at an instant: of those that have had it none is counted as changed", async () => {
    const { api, ask } = await desk();
    const { id: jobId } = await api.desk.job();
    await api.desk.endpoint(jobId, { baselineIntervalMs: 3_600_000 });
    const hint = { jobId, nextRunAt: "2026-03-01T00:01:00Z" };
    expect((await ask("POST", "/endpoints/hints", hint)).body).toEqual({ matched: 1, changed: 1 });
    await api.desk.world.pass(90_000);
    const again = { ...hint, ttlMinutes: 10 };
    expect((await ask("POST", "/endpoints/hints", again)).body).toEqual({ matched: 1, changed: 0 });
    expect(api.desk.asked).toHaveLength(1);
  });
});

test("a list of those with a tag has each of them once, page by page, of a job or of all", async () => {
  const { api, ask } = await desk();
  const jobs = [await api.desk.job("a"), await api.desk.job("b")];
  for (let index = 0; index < 30; index++) {
    const tags = index % 5 === 0 ? ["red"] : [];
    await api.desk.endpoint(jobs[index % 2]?.id ?? "", { name: `e${index}`, tags });
  }
  const names = async (query: string) => {
    const found: string[] = [];
    for (let cursor = ""; ; ) {
      const { status, body } = await ask("GET", `/endpoints?limit=2&tag=red${query}${cursor}`);
      expect([status, body.rows.length <= 2]).toEqual([200, true]);
      found.push(...body.rows.map(({ name }: { name: string }) => name));
      if (body.next === null) return found.sort();
      cursor = `&cursor=${body.next}`;
    }
  };
  expect(await names("")).toEqual(["e0", "e10", "e15", "e20", "e25", "e5"]);
  expect(await names(`&jobId=${jobs[0]?.id}`)).toEqual(["e0", "e10", "e20"]);
  expect((await ask("GET", "/endpoints?tag=blue")).body).toEqual({ rows: [], next: null });
  expect((await ask("GET", `/endpoints?tag=red&name=e1&jobId=${jobs[1]?.id}`)).body.rows).toEqual([]);
});

describe("tenants", () => {
  test("are whoever has a job, a limit or a key, each once, page by page; no tenant sees them", async () => {
    const { api } = await desk();
    const host = await api.key({ tenant: null, scope: "admin" });
    const ask = (path: string) => api.send("GET", `/api/v1${path}`, { key: host.key });
    const { id } = await api.desk.job("sync", "by-job");
    await api.desk.endpoint(id, {}, "by-job");
    await api.desk.job("sync", "by-job-2");
    await api.key({ tenant: "by-key", scope: "read" });
    const limits = { endpoints: 7 };
    await api.send("PUT", "/api/v1/tenants/by-limit/limits", { key: host.key, body: limits });
    const found: { tenant: string; used: { endpoints: number }; limits: { endpoints: number | null } }[] = [];
    for (let cursor = ""; ; ) {
      const { body } = await ask(`/tenants?limit=2${cursor}`);
      found.push(...body.rows);
      if (body.next === null) break;
      cursor = `&cursor=${body.next}`;
    }
    expect(found.map(({ tenant }) => tenant)).toEqual(["acme", "by-job", "by-job-2", "by-key", "by-limit", "default"]);
    expect(found.map(({ used }) => used.endpoints)).toEqual([0, 1, 0, 0, 0, 0]);
    expect(found[4]?.limits.endpoints).toBe(7);
    const { key } = await api.key({ scope: "admin" });
    expect((await api.send("GET", "/api/v1/tenants", { key })).status).toBe(403);
  });
});
