/** What is no baseline of an endpoint is refused wherever one is written, and what was taken for one before harms nobody. */
import { describe, expect, test } from "vitest";
import { MINUTE_MS } from "../../../src/core/time/instant.js";
import { putEndpoint, settleAll } from "../../../src/operations/endpoints/change.js";
import {
  CREATE_ENDPOINT,
  DELETE_ENDPOINT,
  GET_ENDPOINT,
  LIST_ENDPOINTS,
  UPDATE_ENDPOINT,
  UPSERT_ENDPOINT,
} from "../../../src/operations/endpoints/endpoints.js";
import { LIMITS_OF_CALLER, SET_LIMITS } from "../../../src/operations/endpoints/health.js";
import { PAUSE_JOB } from "../../../src/operations/endpoints/jobs.js";
import { PREVIEW_ENDPOINT } from "../../../src/operations/endpoints/preview.js";
import { endpointWrite, readEndpoint } from "../../../src/operations/endpoints/records.js";
import { GET_RUN, LIST_RUNS_OF_ENDPOINT } from "../../../src/operations/endpoints/runs.js";
import { OperationError } from "../../../src/operations/operation.js";
import { Desk } from "./desk.js";

/** What the schedule of a job may be, and the baseline of an endpoint is not. */
const NO_CRON = [
  ["@every 5s", "leave it out, and set baselineIntervalMs to 5000"],
  [
    "@at 2026-12-01T03:00",
    "write an expression of five fields; one run at a time of its own is what a one-shot hint is for",
  ],
  ["@reboot", "write an expression of five fields; an endpoint has no boot"],
] as const;
const URL = "https://hooks.test/users";

async function refusalOf(asked: Promise<unknown>): Promise<unknown> {
  const error = await asked.catch((reason: unknown) => reason);
  if (!(error instanceof OperationError)) throw new Error(`not refused: ${String(error)}`);
  return [error.kind, error.problems.map(({ code, path, hint }) => [code, path.join("."), hint])];
}

describe("an expression that is none of cron", () => {
  test.each(NO_CRON)(
    "%s is refused with its field and a way out, and nothing is changed",
    async (baselineCron, hint) => {
      const desk = await Desk.open();
      const { id: jobId } = await desk.job();
      const made = await desk.endpoint(jobId, { name: "there" });
      const wish = { name: "new", url: URL, baselineCron };
      const bounded = { ...wish, minIntervalMs: 60_000 };
      const asked = [
        desk.ask(CREATE_ENDPOINT, { jobId, ...wish }),
        desk.ask(CREATE_ENDPOINT, { jobId, ...bounded, dryRun: true }),
        desk.ask(UPSERT_ENDPOINT, { jobId, ...bounded }),
        desk.ask(UPSERT_ENDPOINT, { jobId, ...wish, name: "there" }),
        desk.ask(UPDATE_ENDPOINT, { endpointId: made.id, baselineCron, baselineIntervalMs: null }),
        desk.ask(PREVIEW_ENDPOINT, wish),
        desk.ask(PREVIEW_ENDPOINT, bounded),
      ];
      const refused = ["bad-request", [["cron-syntax", "baselineCron", hint]]];
      expect(await Promise.all(asked.map(refusalOf))).toEqual(asked.map(() => refused));
      const { rows } = await desk.ask(LIST_ENDPOINTS, { cursor: null, limit: 9 });
      expect(rows).toEqual([made]);
    },
  );

  test.each(["@hourly", "@daily", "0 3 * * 1-5"])("%s is one", async (baselineCron) => {
    const desk = await Desk.open();
    const { id: jobId } = await desk.job();
    expect(await desk.endpoint(jobId, { baselineIntervalMs: null, baselineCron })).toMatchObject({ baselineCron });
  });
});

test("a preview judges the address that stands in a URL, and looks up no name", async () => {
  const desk = await Desk.open();
  const preview = async (more: object) =>
    (await desk.ask(PREVIEW_ENDPOINT, { name: "x", baselineIntervalMs: 60_000, url: URL, ...more })).address;
  expect(await preview({ url: "https://9.9.9.9/" })).toBe("allowed");
  expect(await preview({})).toBe("judged-when-sent");
  expect(await preview({ url: "http://10.0.0.1/", by: "worker" })).toBe(null);
  expect(await refusalOf(preview({ url: "http://10.0.0.1/" }))).toMatchObject([
    "bad-request",
    [[expect.any(String), "url", expect.anything()]],
  ]);
});

test("names that are places in a path, or turn text over, are refused; one from before is found and kept", async () => {
  const desk = await Desk.open();
  const { id: jobId } = await desk.job();
  const unseen = ["a\u200Bb", "a\u200Db", "\u200E", "a\uFEFF", "a\u00ADb", "a\u2060b"];
  for (const name of [".", "..", " ", "a\u202Eb", "a\u2066b", "a\u2028b", "a\nb", "", ...unseen]) {
    await expect(desk.endpoint(jobId, { name })).rejects.toThrow(OperationError);
    await expect(desk.job(name)).rejects.toThrow(OperationError);
  }
  for (const name of ["...", ".a", "a..b", "ä 👩‍💻"]) await desk.endpoint(jobId, { name });
  const { id: endpointId } = await desk.endpoint(jobId);
  const known = await readEndpoint(desk.ports.reader, "acme", endpointId);
  if (known === null) throw new Error("it is not there");
  const old = { ...known, spec: { ...known.spec, name: ".." } };
  await putEndpoint(desk.ports, "acme", old, [endpointWrite("acme", old)]);
  expect(await desk.ask(GET_ENDPOINT, { endpointId })).toMatchObject({ name: ".." });
  expect(await desk.ask(UPDATE_ENDPOINT, { endpointId, timeoutMs: 5_000 })).toMatchObject({ name: ".." });
});

/** As earlier versions have made them: what a job file may say was taken here too. */
async function withOld(baselineCron: string, more: { readonly minIntervalMs?: number } = {}) {
  const desk = await Desk.open();
  const { id: jobId } = await desk.job();
  const { id: endpointId } = await desk.endpoint(jobId);
  const known = await readEndpoint(desk.ports.reader, "acme", endpointId);
  if (known === null) throw new Error("it is not there");
  const old = { ...known, spec: { ...known.spec, baselineIntervalMs: null, baselineCron, ...more } };
  await putEndpoint(desk.ports, "acme", old, [endpointWrite("acme", old)]);
  return { desk, jobId, endpointId };
}

describe("one that an earlier version has taken", () => {
  test("is read, runs by what it says, and may be changed", async () => {
    const { desk, endpointId } = await withOld("@every 30s", { minIntervalMs: 60_000 });
    const { rows } = await desk.ask(LIST_ENDPOINTS, { cursor: null, limit: 9 });
    expect(rows).toMatchObject([{ id: endpointId, baselineCron: "@every 30s", nextSource: "clamped-min" }]);
    await desk.world.pass(3 * MINUTE_MS);
    const runs = await desk.ask(LIST_RUNS_OF_ENDPOINT, { endpointId, cursor: null, limit: 9 });
    expect(runs.rows.length).toBeGreaterThanOrEqual(2);
    for (const { id } of runs.rows) await desk.ask(GET_RUN, { runId: id });
    expect(await desk.ask(UPDATE_ENDPOINT, { endpointId, timeoutMs: 5_000 })).toMatchObject({ timeoutMs: 5_000 });
    const mended = { endpointId, baselineCron: null, baselineIntervalMs: 90_000 };
    expect(await desk.ask(UPDATE_ENDPOINT, mended)).toMatchObject({ nextSource: "baseline-interval" });
  });

  test.each(NO_CRON)(
    "%s keeps nobody from what holds for all: limits, and a pause of its job",
    async (baselineCron) => {
      const { desk, jobId, endpointId } = await withOld(baselineCron);
      await desk.ask(SET_LIMITS, { tenant: "acme", minIntervalMs: 60_000 });
      expect((await desk.ask(LIMITS_OF_CALLER, {})).limits.minIntervalMs).toBe(60_000);
      await desk.ask(PAUSE_JOB, { jobId });
      expect(await desk.ask(GET_ENDPOINT, { endpointId })).toMatchObject({ status: "held", baselineCron });
      expect(await desk.ports.reader.objects({ prefix: "unsettled/", limit: 9 })).toEqual([]);
      desk.world.kill();
      await desk.boot();
      expect(desk.failures).toEqual([]);
      const { rows } = await desk.ask(LIST_ENDPOINTS, { cursor: null, limit: 9 });
      expect(rows).toMatchObject([{ id: endpointId, baselineCron }]);
    },
  );

  test("one that nobody would take at all is told as what cannot be read, and holds up no other", async () => {
    const { desk, jobId, endpointId } = await withOld("@reboot");
    const other = await desk.endpoint(jobId, { name: "other", baselineIntervalMs: 1_000 });
    const known = await readEndpoint(desk.ports.reader, "acme", endpointId);
    if (known === null) throw new Error("it is not there");
    const bad = { ...known, spec: { ...known.spec, minIntervalMs: 9_000 } };
    await desk.ports.write([endpointWrite("acme", bad)]);
    await expect(desk.ask(PAUSE_JOB, { jobId })).rejects.toThrow(/cannot be read/);
    expect(await desk.ask(GET_ENDPOINT, { endpointId: other.id })).toMatchObject({ status: "held" });
    const told: unknown[] = [];
    await settleAll(desk.ports, (error) => told.push(error));
    expect(told).toMatchObject([{ code: "object-unreadable" }]);
  });

  test("a limit that cannot be brought to each endpoint is kept for none; once that one is gone, it is", async () => {
    const { desk, jobId, endpointId } = await withOld("@reboot");
    const other = await desk.endpoint(jobId, { name: "other", baselineIntervalMs: 1_000 });
    await desk.ports.write([{ key: `endpoint/acme/${endpointId}`, text: "{}" }]);
    const wish = { tenant: "acme", minIntervalMs: 60_000 };
    for (const dryRun of [true, false]) {
      await expect(desk.ask(SET_LIMITS, { ...wish, dryRun })).rejects.toMatchObject({
        kind: "refused",
        message: expect.stringContaining("cannot be read: the limits stay as they are"),
      });
    }
    expect((await desk.ask(LIMITS_OF_CALLER, {})).limits.minIntervalMs).toBe(null);
    expect(await desk.ask(GET_ENDPOINT, { endpointId: other.id })).toMatchObject({ nextSource: "baseline-interval" });
    expect(await desk.ports.reader.objects({ prefix: "unsettled/", limit: 9 })).toEqual([]);
    // What is not about each of them is not in its way.
    await desk.ask(SET_LIMITS, { tenant: "acme", endpoints: 7 });
    await desk.ask(DELETE_ENDPOINT, { endpointId });
    await desk.ask(SET_LIMITS, wish);
    expect(await desk.ask(GET_ENDPOINT, { endpointId: other.id })).toMatchObject({ nextSource: "clamped-min" });
  });
});
