import { describe, expect, test } from "vitest";
import { turnOfLoop } from "../../../src/actors/turns.js";
import { MINUTE_MS } from "../../../src/core/time/instant.js";
import {
  CREATE_ENDPOINT,
  DELETE_ENDPOINT,
  GET_ENDPOINT,
  LIST_ENDPOINTS,
  UPDATE_ENDPOINT,
  UPSERT_ENDPOINT,
} from "../../../src/operations/endpoints/endpoints.js";
import { SET_LIMITS } from "../../../src/operations/endpoints/health.js";
import {
  ARCHIVE_JOB,
  CREATE_JOB,
  DELETE_JOB,
  GET_JOB,
  LIST_JOBS,
  PAUSE_JOB,
  RESUME_JOB,
  UPDATE_JOB,
} from "../../../src/operations/endpoints/jobs.js";
import { PAUSE_ENDPOINTS, RESUME_ENDPOINTS } from "../../../src/operations/endpoints/many.js";
import { PAUSE_ENDPOINT } from "../../../src/operations/endpoints/standing.js";
import { OperationError } from "../../../src/operations/operation.js";
import { job } from "../../actors/supervisor/world.js";
import { Desk } from "./desk.js";

function identityOf({ jobId, id }: { jobId: string; id: string }, tenant = "acme"): string {
  return `endpoint:${tenant}/${jobId}/${id}`;
}

async function refusal(asked: Promise<unknown>): Promise<{ kind: string; fields: string[] }> {
  const error = await asked.then(
    (answer) => new Error(`it was done: ${JSON.stringify(answer)}`),
    (reason: unknown) => reason,
  );
  if (!(error instanceof OperationError)) throw error;
  return { kind: error.kind, fields: error.problems.map(({ path }) => path.join(".")) };
}

describe("jobs", () => {
  test("are made, named once, listed page by page and changed", async () => {
    const desk = await Desk.open();
    const made = await desk.job("sync");
    expect(made).toMatchObject({ name: "sync", status: "active", version: 1 });
    expect(await refusal(desk.job("sync"))).toEqual({ kind: "conflict", fields: ["name"] });
    await desk.job("other");
    const first = await desk.ask(LIST_JOBS, { cursor: null, limit: 1 });
    const second = await desk.ask(LIST_JOBS, { cursor: first.next, limit: 1 });
    expect([...first.rows, ...second.rows].map(({ name }) => name).sort()).toEqual(["other", "sync"]);
    expect(second.next).toBeNull();
    const renamed = await desk.ask(UPDATE_JOB, { jobId: made.id, name: "Sync", ifMatch: 1 });
    expect(renamed).toMatchObject({ name: "Sync", version: 2 });
    expect(await refusal(desk.ask(UPDATE_JOB, { jobId: made.id, name: "x", ifMatch: 1 }))).toMatchObject({
      kind: "stale",
    });
    // The name of before is free again.
    expect((await desk.job("sync")).name).toBe("sync");
  });

  test("are found by name, and so are the endpoints of each", async () => {
    const desk = await Desk.open();
    const [one, other] = [await desk.job("sync"), await desk.job("a/b ü")];
    const made = await desk.endpoint(one.id);
    await desk.endpoint(other.id);
    const first = { cursor: null, limit: 9 };
    const jobs = async (name: string, tenant?: string) =>
      (await desk.ask(LIST_JOBS, { ...first, name }, tenant)).rows.map(({ id }) => id);
    expect([await jobs("sync"), await jobs("a/b ü"), await jobs("syn"), await jobs("sync", "other")]).toEqual([
      [one.id],
      [other.id],
      [],
      [],
    ]);
    const endpoints = async (more: object) => (await desk.ask(LIST_ENDPOINTS, { ...first, ...more })).rows;
    expect((await endpoints({ jobId: one.id, name: "users" })).map(({ id }) => id)).toEqual([made.id]);
    expect(await endpoints({ jobId: one.id, name: "user" })).toEqual([]);
    expect(await refusal(endpoints({ name: "users" }))).toEqual({ kind: "bad-request", fields: ["jobId"] });
    await desk.ask(DELETE_JOB, { jobId: one.id, force: true });
    expect(await jobs("sync")).toEqual([]);
  });

  test("of a hundred that want one name at once one has it", async () => {
    const desk = await Desk.open();
    const made = await Promise.allSettled(Array.from({ length: 100 }, () => desk.job("one")));
    expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  test("a paused or archived job holds all its endpoints, those that come to it as well; resumed, they go on", async () => {
    for (const hold of [PAUSE_JOB, ARCHIVE_JOB]) {
      const desk = await Desk.open();
      const { id: jobId } = await desk.job();
      const one = await desk.endpoint(jobId, { baselineCron: "* * * * *", baselineIntervalMs: null });
      await desk.ask(hold, { jobId });
      const two = await desk.endpoint(jobId, { name: "two", baselineIntervalMs: 60_000 });
      await desk.world.pass(5 * MINUTE_MS);
      expect(desk.asked).toEqual([]);
      expect(await desk.ask(GET_ENDPOINT, { endpointId: one.id })).toMatchObject({ status: "held", nextRunAt: null });
      await desk.ask(RESUME_JOB, { jobId });
      await desk.world.pass(2 * MINUTE_MS);
      // What is still within its deadline is run, as by a job of a configuration; older ones are not made up for.
      const ran = desk.asked.filter(({ identity }) => identity === identityOf(one)).map(({ periodId }) => periodId);
      expect(ran).toEqual(["05", "06", "07"].map((minute) => `2026-03-01T00:${minute}:00Z`));
      expect(desk.asked.some(({ identity }) => identity === identityOf(two))).toBe(true);
    }
  });

  test("are deleted with their endpoints only where that is said", async () => {
    const desk = await Desk.open();
    const { id: jobId } = await desk.job();
    const { id: endpointId } = await desk.endpoint(jobId);
    expect(await refusal(desk.ask(DELETE_JOB, { jobId }))).toMatchObject({ kind: "refused" });
    await desk.ask(DELETE_JOB, { jobId, force: true });
    expect(await refusal(desk.ask(GET_JOB, { jobId }))).toMatchObject({ kind: "not-found" });
    expect(await refusal(desk.ask(GET_ENDPOINT, { endpointId }))).toMatchObject({ kind: "not-found" });
    const left = `gone/001772323201000/acme/${jobId}/${endpointId}`;
    expect([...desk.world.disk.objects.keys()]).toEqual([left]);
    expect(desk.world.supervisor.status().jobs).toBe(0);
  });
});

describe("endpoints", () => {
  test("are made with what they are when nobody says it, and run by their baseline", async () => {
    const desk = await Desk.open();
    const { id: jobId } = await desk.job();
    const made = await desk.endpoint(jobId, { baselineIntervalMs: 60_000 });
    expect(made).toMatchObject({ method: "GET", timezone: "UTC", version: 1, status: "active", failureCount: 0 });
    expect(made).toMatchObject({ nextRunAt: "2026-03-01T00:01:01Z", nextSource: "baseline-interval" });
    await desk.world.pass(MINUTE_MS + 10_000);
    const ran = await desk.ask(GET_ENDPOINT, { endpointId: made.id });
    expect(ran).toMatchObject({ lastRunAt: "2026-03-01T00:01:01Z", lastStatus: "success" });
  });

  test("what is wrong is told at its field, and nothing of it is kept", async () => {
    const desk = await Desk.open();
    const { id: jobId } = await desk.job();
    const before = [...desk.world.disk.objects.keys()];
    const wrong: [Record<string, unknown>, string][] = [
      [{ baselineCron: "* * * * *" }, "baselineIntervalMs"],
      [{ baselineIntervalMs: null }, "baselineCron"],
      [{ baselineIntervalMs: null, baselineCron: "61 * * * *" }, "baselineCron"],
      [{ baselineIntervalMs: null, baselineCron: "* * * * *", timezone: "Mars/Base" }, "timezone"],
      [{ windowMs: 60_000 }, "windowMs"],
      [{ minIntervalMs: 600_000, maxIntervalMs: 60_000 }, "minIntervalMs"],
      [{ url: "ftp://hooks.test" }, "url"],
      [{ url: "https://user:pw@hooks.test" }, "url"],
      [{ body: "x" }, "body"],
      [{ headers: { "bad header": "x" } }, "headers.bad header"],
      [{ headers: { Host: "evil" } }, "headers.Host"],
      [{ headers: { A: "sealed:v1:AAAA" } }, "headers.A"],
      [{ successStatuses: ["9xx"] }, "successStatuses.0"],
      [{ tags: ["a\nb"] }, "tags.0"],
    ];
    for (const [more, field] of wrong) {
      expect([more, await refusal(desk.endpoint(jobId, more))]).toEqual([
        more,
        { kind: "bad-request", fields: [field] },
      ]);
    }
    expect([...desk.world.disk.objects.keys()]).toEqual(before);
    expect(desk.world.supervisor.status().jobs).toBe(0);
  });

  test("secrets are sent, kept sealed, and never told", async () => {
    const desk = await Desk.open();
    const { id: jobId } = await desk.job();
    const made = await desk.endpoint(jobId, {
      baselineIntervalMs: 60_000,
      secretHeaders: { Authorization: "Bearer top" },
    });
    expect(made.secretHeaders).toEqual(["Authorization"]);
    const kept = JSON.stringify([
      ...desk.world.disk.objects,
      ...(desk.world.disk.definitions.get(identityOf(made)) ?? []),
    ]);
    expect(kept).not.toContain("top");
    await desk.world.pass(2 * MINUTE_MS);
    expect(desk.secretOf(desk.asked[0]?.target.headers["Authorization"])).toBe("Bearer top");
    // What is not named stays, null keeps what there is, and a new value takes its place.
    const changes = [
      {},
      { secretHeaders: { Authorization: null } },
      { secretHeaders: { Authorization: "Bearer new" } },
    ];
    const values: (string | null)[] = [];
    for (const change of changes) {
      await desk.ask(UPDATE_ENDPOINT, { endpointId: made.id, description: "x", ...change });
      desk.asked.length = 0;
      await desk.world.pass(2 * MINUTE_MS);
      values.push(desk.secretOf(desk.asked[0]?.target.headers["Authorization"]));
    }
    expect(values).toEqual(["Bearer top", "Bearer top", "Bearer new"]);
    expect((await desk.ask(UPDATE_ENDPOINT, { endpointId: made.id, secretHeaders: {} })).secretHeaders).toEqual([]);
    expect(await refusal(desk.ask(UPDATE_ENDPOINT, { endpointId: made.id, secretHeaders: { B: null } }))).toEqual({
      kind: "bad-request",
      fields: ["secretHeaders.B"],
    });
  });

  test("a change says what it changes, is judged by the version it was made for, and leaves the rest as it was", async () => {
    const desk = await Desk.open();
    const { id: jobId } = await desk.job();
    const made = await desk.endpoint(jobId, { method: "POST", body: "{}", tags: ["a"] });
    const changed = await desk.ask(UPDATE_ENDPOINT, { endpointId: made.id, timeoutMs: 5_000, ifMatch: 1 });
    expect(changed).toMatchObject({ method: "POST", body: "{}", tags: ["a"], timeoutMs: 5_000, version: 2 });
    expect(await refusal(desk.ask(UPDATE_ENDPOINT, { endpointId: made.id, ifMatch: 1 }))).toMatchObject({
      kind: "stale",
    });
    const other = await desk.endpoint(jobId, { name: "other" });
    expect(await refusal(desk.ask(UPDATE_ENDPOINT, { endpointId: other.id, name: "users" }))).toEqual({
      kind: "conflict",
      fields: ["name"],
    });
    expect((await desk.ask(UPDATE_ENDPOINT, { endpointId: made.id, name: "people" })).name).toBe("people");
    expect((await desk.ask(UPDATE_ENDPOINT, { endpointId: other.id, name: "users" })).name).toBe("users");
    // From cron to interval takes both fields, in one change.
    const cron = { endpointId: made.id, baselineCron: "0 3 * * *", baselineIntervalMs: null };
    expect(await desk.ask(UPDATE_ENDPOINT, cron)).toMatchObject({ nextRunAt: "2026-03-01T03:00:00Z" });
  });

  test("by name it is made or changed, whichever it takes; a rehearsal changes nothing", async () => {
    const desk = await Desk.open();
    const { id: jobId } = await desk.job();
    const wish = { jobId, name: "users", url: "https://hooks.test/users", baselineIntervalMs: 60_000 };
    const rehearsed = await desk.ask(UPSERT_ENDPOINT, { ...wish, dryRun: true });
    expect([rehearsed.name, desk.world.supervisor.status().jobs]).toEqual(["users", 0]);
    const made = await desk.ask(UPSERT_ENDPOINT, wish);
    const changed = await desk.ask(UPSERT_ENDPOINT, { ...wish, method: "POST" });
    expect([changed.id, changed.version, changed.method]).toEqual([made.id, 2, "POST"]);
    expect(await refusal(desk.ask(CREATE_ENDPOINT, { ...wish, name: "other", dryRun: true, url: "x" }))).toMatchObject({
      kind: "bad-request",
    });
    // What a full description does not name is not kept.
    expect((await desk.ask(UPSERT_ENDPOINT, wish)).method).toBe("GET");
  });

  test("fifty renamed, upserted and deleted at once, in all directions, come to an end", async () => {
    const desk = await Desk.open();
    const { id: jobId } = await desk.job();
    const made = await Promise.all(["a", "b", "c"].map((name) => desk.endpoint(jobId, { name })));
    const asked = Array.from({ length: 50 }, (_, index) => {
      const name = "abcde"[index % 5] ?? "a";
      const endpointId = made[index % 3]?.id;
      if (index % 3 === 0) return desk.ask(UPDATE_ENDPOINT, { endpointId, name });
      if (index === 49) return desk.ask(DELETE_ENDPOINT, { endpointId });
      return desk.ask(UPSERT_ENDPOINT, { jobId, name, url: "https://hooks.test/", baselineIntervalMs: 60_000 });
    });
    await Promise.allSettled(asked);
    const { rows } = await desk.ask(LIST_ENDPOINTS, { cursor: null, limit: 100, jobId });
    const names = rows.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    const named = [...desk.world.disk.objects].filter(([key]) => key.startsWith("named/"));
    expect(named.map(([, id]) => id).sort()).toEqual([jobId, ...rows.map(({ id }) => id)].sort());
    expect(desk.world.supervisor.status().jobs).toBe(rows.length);
  });

  test("are deleted, and their names are free", async () => {
    const desk = await Desk.open();
    const { id: jobId } = await desk.job();
    const { id: endpointId } = await desk.endpoint(jobId);
    await desk.ask(DELETE_ENDPOINT, { endpointId });
    expect(await refusal(desk.ask(DELETE_ENDPOINT, { endpointId }))).toMatchObject({ kind: "not-found" });
    expect((await desk.endpoint(jobId)).name).toBe("users");
  });
});

describe("tenants see nothing of each other", () => {
  test("what is another's is not there, whatever is asked", async () => {
    const desk = await Desk.open();
    const { id: jobId } = await desk.job();
    const { id: endpointId } = await desk.endpoint(jobId);
    const foreign = [
      desk.ask(GET_JOB, { jobId }, "evil"),
      desk.ask(GET_ENDPOINT, { endpointId }, "evil"),
      desk.ask(UPDATE_ENDPOINT, { endpointId, name: "x" }, "evil"),
      desk.ask(DELETE_ENDPOINT, { endpointId }, "evil"),
      desk.ask(PAUSE_JOB, { jobId }, "evil"),
      desk.endpoint(jobId, {}, "evil"),
      desk.ask(LIST_ENDPOINTS, { cursor: null, limit: 9, jobId }, "evil"),
    ];
    for (const asked of foreign) expect(await refusal(asked)).toEqual({ kind: "not-found", fields: [] });
    expect(await desk.ask(LIST_JOBS, { cursor: null, limit: 9 }, "evil")).toEqual({ rows: [], next: null });
    // Names of one tenant are free for another, also where one is the beginning of the other.
    expect((await desk.job("sync", "acme-2")).name).toBe("sync");
    expect((await desk.ask(LIST_JOBS, { cursor: null, limit: 9 })).rows).toHaveLength(1);
  });
});

test("R2: a crash at any commit of a job's pause leaves endpoints that the next start brings in line", async () => {
  for (let crashAt = 1; crashAt <= 4; crashAt += 1) {
    for (const isDurable of [true, false]) {
      const desk = await Desk.open({ configured: [job("configured", "0 0 1 1 *")] });
      const { id: jobId } = await desk.job();
      for (const name of ["a", "b", "c"]) await desk.endpoint(jobId, { name });
      const { disk } = desk.world;
      const from = disk.commits;
      disk.faults = (commit) => (commit === from + crashAt ? { kind: "crash", isDurable } : null);
      const crashed = new Promise<void>((resolve) => {
        disk.onCrash = () => {
          desk.world.kill();
          resolve();
        };
      });
      // Who was killed in the middle is never answered.
      await Promise.race([desk.ask(PAUSE_JOB, { jobId }).catch(() => undefined), crashed]);
      await turnOfLoop();
      disk.faults = () => null;
      if (!desk.world.isRunning) await desk.boot();
      const { status } = await desk.ask(GET_JOB, { jobId });
      const { rows } = await desk.ask(LIST_ENDPOINTS, { cursor: null, limit: 9 });
      const wanted = status === "paused" ? "held" : "active";
      expect([crashAt, isDurable, rows.map((row) => row.status)]).toEqual([
        crashAt,
        isDurable,
        [wanted, wanted, wanted],
      ]);
      desk.world.kill();
    }
  }
});

test("one endpoint that cannot be read keeps neither its siblings from what holds for their job, nor a start", async () => {
  const desk = await Desk.open();
  const [broken, fine] = [await desk.job("broken"), await desk.job("fine")];
  const made = await Promise.all(["a", "b", "c"].map((name) => desk.endpoint(broken.id, { name })));
  const [first, ...siblings] = made.map(({ id }) => id).sort();
  const stored = `endpoint/acme/${first}`;
  const kept = (await desk.ports.reader.object(stored))?.text ?? "";
  await desk.ports.write([{ key: stored, text: "{}" }]);
  const told = { code: "object-unreadable", message: `${stored} cannot be read` };
  await expect(desk.ask(PAUSE_JOB, { jobId: broken.id })).rejects.toMatchObject(told);
  const statuses = async (ids: readonly string[]) =>
    Promise.all(ids.map(async (endpointId) => (await desk.ask(GET_ENDPOINT, { endpointId })).status));
  expect(await statuses(siblings)).toEqual(["held", "held"]);
  desk.world.kill();
  await desk.boot();
  expect(desk.failures).toMatchObject([told]);
  expect(await statuses(siblings)).toEqual(["held", "held"]);
  expect((await desk.endpoint(fine.id)).status).toBe("active");
  // Put right, it is brought in line when that is asked again, or by the next start, and nothing is left to do.
  for (const isStart of [false, true]) {
    await desk.ports.write([{ key: stored, text: "{}" }]);
    await expect(desk.ask(isStart ? RESUME_JOB : PAUSE_JOB, { jobId: broken.id })).rejects.toMatchObject(told);
    await desk.ports.write([{ key: stored, text: kept }]);
    if (isStart) {
      desk.world.kill();
      await desk.boot();
    } else {
      expect(await desk.ask(PAUSE_JOB, { jobId: broken.id })).toMatchObject({ status: "paused", version: 2 });
    }
    const wanted = isStart ? "active" : "held";
    expect(await statuses([first ?? "", ...siblings])).toEqual([wanted, wanted, wanted]);
    expect(await desk.ports.reader.objects({ prefix: "unsettled/", limit: 9 })).toEqual([]);
  }
  expect(desk.failures).toHaveLength(1);
});

test("one that cannot be read is held with its job, and by itself, and can be taken out; then its name is free", async () => {
  const desk = await Desk.open();
  const { id: jobId } = await desk.job();
  const { id: endpointId } = await desk.endpoint(jobId, { baselineIntervalMs: 60_000 });
  const starts = () => desk.world.starts(identityOf({ jobId, id: endpointId })).length;
  const stored = `endpoint/acme/${endpointId}`;
  await desk.ports.write([{ key: stored, text: "{}" }]);
  await desk.world.pass(2 * MINUTE_MS + 5_000);
  expect(starts()).toBe(2);
  const unreadable = { code: "object-unreadable" };
  await expect(desk.ask(PAUSE_JOB, { jobId })).rejects.toMatchObject(unreadable);
  await desk.world.pass(5 * MINUTE_MS);
  expect(starts()).toBe(2);
  await expect(desk.ask(RESUME_JOB, { jobId })).rejects.toMatchObject(unreadable);
  await desk.world.pass(2 * MINUTE_MS);
  const resumed = starts();
  expect(resumed).toBeGreaterThan(2);
  const wish = { endpointId, pausedUntil: "2026-03-02T00:00:00Z" };
  await expect(desk.ask(PAUSE_ENDPOINT, wish, "evil")).rejects.toMatchObject({ kind: "not-found" });
  await expect(desk.ask(PAUSE_ENDPOINT, wish)).rejects.toMatchObject(unreadable);
  await desk.world.pass(5 * MINUTE_MS);
  expect(starts()).toBe(resumed);
  await desk.ask(RESUME_ENDPOINTS, { jobId });
  const { pausedUntil } = wish;
  expect(await desk.ask(PAUSE_ENDPOINTS, { jobId, pausedUntil })).toEqual({ matched: 1, changed: 1 });
  await expect(desk.ask(DELETE_ENDPOINT, { endpointId, ifMatch: 1 })).rejects.toMatchObject(unreadable);
  await desk.ask(DELETE_ENDPOINT, { endpointId });
  expect((await desk.endpoint(jobId)).name).toBe("users");
  expect(desk.world.supervisor.status().jobs).toBe(1);
});

test("what is made is there after a restart, and a job is not made twice by its name", async () => {
  const desk = await Desk.open();
  const { id: jobId } = await desk.job();
  const made = await desk.endpoint(jobId, { baselineIntervalMs: 60_000 });
  desk.world.kill();
  await desk.boot();
  expect(await desk.ask(GET_ENDPOINT, { endpointId: made.id })).toMatchObject({ name: "users", status: "active" });
  expect(await refusal(desk.ask(CREATE_JOB, { name: "sync" }))).toMatchObject({ kind: "conflict" });
  await desk.world.pass(2 * MINUTE_MS);
  expect(desk.asked.length).toBeGreaterThan(0);
});

describe("R2: an endpoint that is written while its job, or a limit of its tenant, changes", () => {
  const changes = [
    { change: DELETE_JOB, inputOf: (jobId: string) => ({ jobId, force: true }), left: [] },
    { change: PAUSE_JOB, inputOf: (jobId: string) => ({ jobId }), left: ["held"] },
    { change: SET_LIMITS, inputOf: () => ({ tenant: "acme", minIntervalMs: 3_600_000 }), left: ["active"] },
  ];

  test.each(changes)("$change.name reaches it, also when a crash is in between", async ({ change, inputOf, left }) => {
    for (const isCrash of [false, true]) {
      const desk = await Desk.open();
      const { id: jobId } = await desk.job();
      const { supervisor } = desk.world;
      const define = supervisor.define.bind(supervisor);
      let changed: Promise<unknown> = Promise.resolve();
      const isWritten = new Promise<void>((resolve) => {
        // The job has been read as active by now, the tenant as unbounded.
        supervisor.define = async (...wish) => {
          supervisor.define = define;
          changed = desk.ask<unknown>(change, inputOf(jobId));
          changed.catch(() => undefined);
          for (let turn = 0; turn < 20; turn += 1) await new Promise((next) => setImmediate(next));
          await define(...wish);
          resolve();
          if (isCrash) await new Promise(() => undefined);
        };
      });
      const made = desk.endpoint(jobId, { baselineIntervalMs: 60_000 });
      made.catch(() => undefined);
      await isWritten;
      if (isCrash) {
        desk.world.kill();
        await desk.boot();
      } else {
        await changed;
        const told = await made.then(
          () => "made",
          ({ kind }: OperationError) => kind,
        );
        expect(told).toBe(left.length > 0 ? "made" : "not-found");
      }
      const { rows } = await desk.ask(LIST_ENDPOINTS, { cursor: null, limit: 9 });
      expect([isCrash, rows.map(({ status }) => status)]).toEqual([isCrash, left]);
      await desk.world.pass(10 * MINUTE_MS);
      expect(desk.asked).toEqual([]);
      desk.world.kill();
    }
  });
});
