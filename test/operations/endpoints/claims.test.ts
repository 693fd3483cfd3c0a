/** AE-33, AE-34: runs that workers of a tenant carry out themselves, on a virtual clock. */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { WorkerDesk } from "../../../src/actors/workers/desk.js";
import type { Work } from "../../../src/actors/workers/work.js";
import { err } from "../../../src/core/base/result.js";
import { SETTINGS_DEFAULTS } from "../../../src/core/config/settings.js";
import type { HttpTarget } from "../../../src/core/job/definition.js";
import { readJobDefinition } from "../../../src/core/job/schema.js";
import type { Ending } from "../../../src/core/state/ending.js";
import { HOUR_MS, MINUTE_MS } from "../../../src/core/time/instant.js";
import { CLAIM_DUE_ENDPOINTS, COMPLETE_CLAIM } from "../../../src/operations/endpoints/claims.js";
import { GET_ENDPOINT, UPDATE_ENDPOINT } from "../../../src/operations/endpoints/endpoints.js";
import { HEALTH, LIMITS_OF_CALLER } from "../../../src/operations/endpoints/health.js";
import { LIST_RUNS, LIST_RUNS_OF_ENDPOINT } from "../../../src/operations/endpoints/runs.js";
import type { RunAnswer } from "../../../src/operations/endpoints/shapes.js";
import { requireOk } from "../../support/results.js";
import { temporaryDirectories } from "../../support/temporary.js";
import { Desk } from "./desk.js";

const directories = temporaryDirectories();

const WISH = { by: "worker", baselineIntervalMs: 60_000, timeoutMs: 20_000 };

async function opened(more: Record<string, unknown> = {}) {
  const desk = await Desk.open();
  const { id: jobId } = await desk.job();
  const { id: endpointId } = await desk.endpoint(jobId, { ...WISH, ...more });
  return { desk, jobId, endpointId };
}

async function take(desk: Desk, more: Record<string, unknown> = {}, tenant?: string): Promise<readonly Work[]> {
  const { rows } = await desk.ask<{ rows: Work[] }>(CLAIM_DUE_ENDPOINTS, { withinMs: 0, ...more }, tenant);
  return rows;
}

async function runsOf(desk: Desk, endpointId: string): Promise<readonly RunAnswer[]> {
  return (await desk.ask(LIST_RUNS_OF_ENDPOINT, { endpointId, cursor: null, limit: 50 })).rows;
}

describe("a worker", () => {
  test("has alone what it claimed, and says how it ended", async () => {
    const { desk, jobId, endpointId } = await opened({
      method: "POST",
      body: "{}",
      headers: { Accept: "text/plain" },
      secretHeaders: { Authorization: "Bearer hush" },
    });
    expect(await take(desk)).toEqual([]);
    await desk.world.pass(61_000);
    const [claim] = await take(desk);
    if (claim === undefined) throw new Error("nothing is due");
    expect(claim).toMatchObject({
      jobId,
      endpointId,
      scheduledFor: "2026-03-01T00:01:01Z",
      until: "2026-03-01T00:01:22Z",
      request: { url: "https://hooks.test/users", method: "POST", body: "{}", secretHeaders: ["Authorization"] },
    });
    expect(claim.request.headers).toMatchObject({ accept: "text/plain", "x-kron-identity": claim.identity });
    expect(claim.request.headers["idempotency-key"]).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(claim)).not.toMatch(/hush|sealed:/);
    expect(await take(desk)).toEqual([]);
    await desk.world.pass(2_000);
    await desk.ask(COMPLETE_CLAIM, { claimId: claim.claimId, httpStatus: 200, responseExcerpt: "done" });
    await desk.world.pass(MINUTE_MS);
    const [second] = await take(desk);
    await desk.ask(COMPLETE_CLAIM, { claimId: second?.claimId ?? "", httpStatus: 500 });
    await desk.world.pass(MINUTE_MS);
    const [third] = await take(desk);
    await desk.ask(COMPLETE_CLAIM, { claimId: third?.claimId ?? "", error: "no route to it", wasSent: false });
    await desk.world.pass(1_000);
    const runs = await runsOf(desk, endpointId);
    expect(runs).toMatchObject([
      { status: "failure", wasSent: false, error: { code: "worker-failed", message: "no route to it" } },
      { status: "failure", httpStatus: 500 },
      { status: "success", httpStatus: 200, durationMs: 2_000, responseExcerpt: "done", responseBytes: 4 },
    ]);
    expect((await desk.ask(HEALTH, { endpointId })).streak.failures).toBe(2);
    expect(desk.asked).toEqual([]);
  });

  test("waits for what becomes due within its time, and begins nothing before its instant", async () => {
    const { desk } = await opened();
    await desk.world.pass(58_000);
    const waiting = take(desk, { withinMs: 5_000 });
    let has: readonly Work[] | null = null;
    void waiting.then((rows) => {
      has = rows;
    });
    await desk.world.pass(1_500);
    expect(has).toBeNull();
    await desk.world.pass(2_000);
    expect((await waiting).map(({ scheduledFor }) => scheduledFor)).toEqual(["2026-03-01T00:01:01Z"]);
    const none = take(desk, { withinMs: 5_000 });
    await desk.world.pass(6_000);
    expect(await none).toEqual([]);
  });

  test("that never says a word has it until its time is over; what it says later is nobody's", async () => {
    const { desk, endpointId } = await opened();
    await desk.world.pass(61_000);
    const [claim] = await take(desk);
    await desk.world.pass(21_000);
    expect(await runsOf(desk, endpointId)).toMatchObject([{ status: "timeout", wasSent: true }]);
    await expect(desk.ask(COMPLETE_CLAIM, { claimId: claim?.claimId ?? "", httpStatus: 200 })).rejects.toMatchObject({
      kind: "not-found",
    });
  });

  test("that does not come leaves a failure that says so, and no request", async () => {
    const { desk, endpointId } = await opened();
    await desk.world.pass(83_000);
    expect(await take(desk)).toEqual([]);
    const error = { code: "worker-absent", message: expect.any(String) };
    expect(await runsOf(desk, endpointId)).toMatchObject([{ status: "failure", wasSent: false, error }]);
    // The next one is a new one.
    await desk.world.pass(MINUTE_MS);
    expect(await desk.ask(GET_ENDPOINT, { endpointId })).toMatchObject({ failureCount: 2 });
  });

  test("that does not come costs nothing of the quota (S48)", async () => {
    const { desk } = await opened();
    const { limits } = await desk.quotas.use("acme");
    await desk.quotas.setLimits("acme", { ...limits, executionsPerMonth: 2 });
    await desk.world.pass(5 * MINUTE_MS);
    expect(await take(desk)).toHaveLength(1);
    await desk.world.pass(2_000);
    expect((await desk.ask(LIMITS_OF_CALLER, {})).used.executionsThisMonth).toBe(1);
  });

  test("whose daemon is killed: nobody is given the run again (S29)", async () => {
    const { desk, endpointId } = await opened();
    await desk.world.pass(61_000);
    const [claim] = await take(desk);
    desk.world.kill();
    await desk.boot();
    await desk.world.pass(1_000);
    expect(await take(desk)).toEqual([]);
    expect(await runsOf(desk, endpointId)).toMatchObject([{ status: "unknown" }]);
    await expect(desk.ask(COMPLETE_CLAIM, { claimId: claim?.claimId ?? "", httpStatus: 200 })).rejects.toThrow(
      /no claim/,
    );
  });

  test("of another tenant finds nothing, and can end nothing", async () => {
    const { desk, endpointId } = await opened();
    await desk.world.pass(61_000);
    expect(await take(desk, {}, "evil")).toEqual([]);
    const [claim] = await take(desk);
    const asked = { claimId: claim?.claimId ?? "", httpStatus: 200 };
    const [foreign, unknown] = await Promise.all(
      [asked, { ...asked, claimId: claim?.claimId ?? "" }].map((one) =>
        desk.ask(COMPLETE_CLAIM, one, "evil").catch((error: Error) => error.message),
      ),
    );
    expect(foreign).toBe(unknown);
    expect(await runsOf(desk, endpointId)).toMatchObject([{ status: "running" }]);
  });

  test("may be sent where Kron itself may not go, which holds for nothing that Kron sends", async () => {
    const { desk, jobId, endpointId } = await opened({ url: "http://10.0.0.5/users" });
    await desk.endpoint(jobId, { ...WISH, name: "local", url: "http://localhost:9000/" });
    await desk.world.pass(61_000);
    expect((await take(desk)).map(({ request }) => request.url)).toContain("http://10.0.0.5/users");
    const problems = [{ code: "address-forbidden", path: ["url"] }];
    await expect(desk.ask(UPDATE_ENDPOINT, { endpointId, by: "krond" })).rejects.toMatchObject({ problems });
    await expect(desk.endpoint(jobId, { name: "own", url: "http://10.0.0.5/" })).rejects.toMatchObject({ problems });
  });

  test.each([
    ["an excerpt", { httpStatus: 200, responseExcerpt: "you sent Bearer hush-hush, and Bearer hush-hush" }],
    ["an excerpt that it is cut in", { httpStatus: 200, responseExcerpt: `${"x".repeat(503)}Bearer hush-hush` }],
    ["an error", { error: "refused: Bearer hush-hush" }],
  ])("gives no secret away in %s", async (_, said) => {
    const { desk, endpointId } = await opened({ secretHeaders: { Authorization: "Bearer hush-hush", A: "sh" } });
    await desk.world.pass(61_000);
    const [claim] = await take(desk);
    await desk.ask(COMPLETE_CLAIM, { claimId: claim?.claimId ?? "", ...said });
    await desk.world.pass(1_000);
    const told = JSON.stringify(await runsOf(desk, endpointId));
    expect(told).not.toMatch(/Bearer/);
    expect(told).toMatch(/\[redacted|x{100}/);
  });

  test("gives away no secret of a file or a variable that it knows too", async () => {
    const file = path.join(directories(), "token");
    fs.writeFileSync(file, "from-a-file-hush\n");
    const http = { url: "https://hooks.test/", by: "worker", header_files: { A: file }, header_env: { B: "TOKEN" } };
    const read = requireOk(readJobDefinition({ identity: "t/web", schedule: "* * * * *", http }));
    const clock = { now: () => 0, monotonicMs: () => 0, after: () => ({ cancel: () => undefined }) } as never;
    const desk = new WorkerDesk({ clock, unseal: () => err("none"), env: { TOKEN: "from-env-hush" } });
    const ends: Ending[] = [];
    desk.subscribe((event) => (event.kind === "ended" ? void ends.push(event.ending) : undefined));
    const about = { kind: "request", identity: "t/web", periodId: "p", scheduledFor: "p" } as const;
    for (const [attemptId, result] of [
      ["1", { kind: "failed", detail: "refused: from-a-file-hush, from-env-hush", isSent: true }],
      ["2", { kind: "answered", status: 200, bytes: 9, excerpt: "from-a-file-hush, from-env-hush" }],
    ] as const) {
      const request = { ...about, attemptId, target: read.target as HttpTarget, settings: SETTINGS_DEFAULTS.http };
      const armed = requireOk(await desk.arm(request));
      await desk.go(armed, 1_000);
      await desk.take("default", 1, 0);
      expect(desk.complete("default", attemptId, result)).toBe(true);
    }
    expect(ends).toMatchObject([{ detail: "refused: [redacted], [redacted]" }, { excerpt: "[redacted], [redacted]" }]);
  });

  test("is given no more than 4 MiB at once; what is left is given to whoever asks again", async () => {
    const [desk, mib] = [await Desk.open(), 1_048_576];
    const { id: jobId } = await desk.job();
    const body = "x".repeat(mib - 1_024);
    for (let n = 0; n < 9; n++) await desk.endpoint(jobId, { ...WISH, name: `e${n}`, method: "POST", body });
    await desk.world.pass(61_000);
    const given: number[] = [];
    for (let n = 0; n < 4; n++) given.push((await take(desk, { limit: 1_000 })).length);
    expect(given).toEqual([4, 4, 1, 0]);
  });

  test("says one thing: a status or an error", async () => {
    const { desk, endpointId } = await opened();
    await desk.world.pass(61_000);
    const [claim] = await take(desk);
    const claimId = claim?.claimId ?? "";
    for (const said of [{}, { httpStatus: 200, error: "both" }, { httpStatus: 700 }, { error: "" }]) {
      await expect(desk.ask(COMPLETE_CLAIM, { claimId, ...said })).rejects.toMatchObject({ kind: "bad-request" });
    }
    expect(await runsOf(desk, endpointId)).toMatchObject([{ status: "running" }]);
  });
});

test("no two of many workers are given the same run, and every run has one", async () => {
  const [endpoints, minutes, workers] = [40, 30, 5];
  const desk = await Desk.open();
  const { id: jobId } = await desk.job();
  for (let n = 0; n < endpoints; n++) await desk.endpoint(jobId, { ...WISH, name: `e${n}` });
  const given = new Map<string, number>();
  let isOver = false;
  const work = async (): Promise<void> => {
    while (!isOver) {
      const rows = await take(desk, { limit: 7, withinMs: 5_000 });
      for (const { claimId, endpointId, scheduledFor } of rows) {
        const slot = `${endpointId} ${scheduledFor}`;
        given.set(slot, (given.get(slot) ?? 0) + 1);
        await desk.ask(COMPLETE_CLAIM, { claimId, httpStatus: 200 });
      }
    }
  };
  const all = Array.from({ length: workers }, work);
  await desk.world.pass(minutes * MINUTE_MS);
  isOver = true;
  await desk.world.pass(6_000);
  await Promise.all(all);
  expect([...given.values()].every((count) => count === 1)).toBe(true);
  let [cursor, runs]: [string | null, number] = [null, 0];
  do {
    const page: { rows: readonly RunAnswer[]; next: string | null } = await desk.ask(LIST_RUNS, { cursor, limit: 200 });
    expect(page.rows.every(({ status }) => status === "success")).toBe(true);
    runs += page.rows.length;
    cursor = page.next;
  } while (cursor !== null);
  expect([given.size, runs]).toEqual([endpoints * minutes, endpoints * minutes]);
});

test("by the clock as well", async () => {
  const { desk, endpointId } = await opened({ baselineIntervalMs: null, baselineCron: "0 * * * *" });
  await desk.world.pass(HOUR_MS + 25_000, 1_000);
  expect(await take(desk)).toEqual([]);
  expect(await runsOf(desk, endpointId)).toMatchObject([
    { status: "failure", source: "baseline-cron", wasSent: false },
  ]);
  await desk.world.pass(HOUR_MS - 23_000, 1_000);
  expect((await take(desk)).map(({ scheduledFor }) => scheduledFor)).toEqual(["2026-03-01T02:00:00Z"]);
});
