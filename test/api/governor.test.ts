/** The governor's table from end to end: asked over HTTP, on a virtual clock, what is next and why, and then what came of it. */
import { describe, expect, test } from "vitest";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../src/core/time/instant.js";
import type { DeskOptions } from "../operations/endpoints/desk.js";
import { deskApi } from "./support/desk-api.js";

interface Setup {
  readonly cron?: string;
  readonly everyMs?: number;
  readonly minMs?: number;
  readonly maxMs?: number;
  /** It has run; otherwise it counts from when it was made. */
  readonly hasRun?: true;
  /** How long before that moment everything else is said. */
  readonly agoMs?: number;
  readonly hintMs?: number;
  readonly hintTtlMinutes?: number;
  /** From the moment that everything counts from. */
  readonly oneshotMs?: number;
  readonly pauseMs?: number;
  /** What passes between what is said and what is asked. */
  readonly laterMs?: number;
  readonly status?: number;
}

/** When it runs next, from the moment that everything counts from or at an instant, and why. */
type Row = readonly [title: string, setup: Setup, next: number | string, source: string];

const M = MINUTE_MS;
const HOURLY = "0 * * * *";
const ROWS: readonly Row[] = [
  ["interval 5m, never run", { everyMs: 5 * M, agoMs: 3 * M }, 5 * M, "baseline-interval"],
  ["interval 5m, run 2m ago", { everyMs: 5 * M, hasRun: true, agoMs: 2 * M }, 5 * M, "baseline-interval"],
  ["hourly cron", { cron: HOURLY, hasRun: true }, "2026-03-01T01:00:00Z", "baseline-cron"],
  ["hourly cron, exactly on the slot", { cron: HOURLY, agoMs: HOUR_MS }, "2026-03-01T02:00:00Z", "baseline-cron"],
  [
    "a pause is never clamped",
    { everyMs: HOUR_MS, maxMs: M, hasRun: true, pauseMs: 6 * HOUR_MS },
    6 * HOUR_MS,
    "paused",
  ],
  [
    "a pause goes before a one-shot",
    { everyMs: HOUR_MS, hasRun: true, pauseMs: HOUR_MS, oneshotMs: 30 * M },
    HOUR_MS,
    "paused",
  ],
  [
    "an interval hint that has expired",
    { everyMs: 5 * M, hasRun: true, hintMs: 2 * M, hintTtlMinutes: 1, laterMs: M },
    5 * M,
    "baseline-interval",
  ],
  [
    "hourly cron, interval hint 90s",
    { cron: HOURLY, hasRun: true, hintMs: 90 * SECOND_MS },
    90 * SECOND_MS,
    "ai-interval",
  ],
  ["hint 10s, min 1m", { everyMs: HOUR_MS, minMs: M, hasRun: true, hintMs: 10 * SECOND_MS }, M, "clamped-min"],
  ["hint 2h, max 15m", { everyMs: HOUR_MS, maxMs: 15 * M, hasRun: true, hintMs: 2 * HOUR_MS }, 15 * M, "clamped-max"],
  ["interval 5m, one-shot in 30m", { everyMs: 5 * M, hasRun: true, oneshotMs: 30 * M }, 30 * M, "ai-oneshot"],
  [
    "a one-shot goes before an interval hint",
    { everyMs: HOUR_MS, hasRun: true, oneshotMs: 2 * M, hintMs: 2 * M },
    2 * M,
    "ai-oneshot",
  ],
  [
    "a one-shot beyond max",
    { everyMs: HOUR_MS, maxMs: 10 * M, hasRun: true, oneshotMs: 45 * M },
    10 * M,
    "clamped-max",
  ],
  [
    "a one-shot within min",
    { everyMs: HOUR_MS, minMs: M, hasRun: true, agoMs: 2 * M, oneshotMs: 2 * M + 10 * SECOND_MS },
    2 * M + 10 * SECOND_MS,
    "ai-oneshot",
  ],
  ["hourly cron, max 10m", { cron: HOURLY, maxMs: 10 * M, hasRun: true }, 10 * M, "clamped-max"],
  [
    "interval 10s, min 1m, run 5s ago",
    { everyMs: 10 * SECOND_MS, minMs: M, hasRun: true, agoMs: 5 * SECOND_MS },
    M,
    "clamped-min",
  ],
  ["no hidden back-off", { everyMs: M, hasRun: true, agoMs: 3 * M, status: 500 }, M, "baseline-interval"],
];

/** These are due when they are asked about: what is to be seen of them is the run. */
const DUE: readonly Row[] = [
  ["interval 5m, run an hour ago", { everyMs: 5 * M, hasRun: true, pauseMs: HOUR_MS }, HOUR_MS, "baseline-interval"],
  [
    "interval 1h, max 10m, run an hour ago",
    { everyMs: HOUR_MS, maxMs: 10 * M, hasRun: true, pauseMs: HOUR_MS },
    HOUR_MS,
    "clamped-max",
  ],
  [
    "a one-shot whose time is past, still fresh",
    { everyMs: 5 * M, hasRun: true, agoMs: 2 * M, oneshotMs: M },
    2 * M,
    "ai-oneshot",
  ],
];

const SETTLED_MS = 2 * SECOND_MS;

async function set({ status = 200, hasRun, agoMs = 0, laterMs = 0, ...setup }: Setup) {
  const answer: DeskOptions["answer"] = () => ({ status, answerMs: 1 });
  const api = await deskApi({ answer });
  const { key } = await api.key({});
  const ask = async (method: string, path: string, body?: object) => {
    const reply = await api.send(method, `/api/v1${path}`, { key, body });
    expect([path, reply.status < 300, reply.text]).toEqual([path, true, reply.text]);
    return reply.body;
  };
  const { id: jobId } = await ask("POST", "/jobs", { name: "sync" });
  const made = await ask("POST", `/jobs/${jobId}/endpoints`, {
    name: "users",
    url: "https://hooks.test/users",
    baselineCron: setup.cron ?? null,
    baselineIntervalMs: setup.everyMs ?? null,
    minIntervalMs: setup.minMs ?? null,
    maxIntervalMs: setup.maxMs ?? null,
  });
  const path = `/endpoints/${made.id}`;
  const told = async () => await ask("GET", path);
  if (hasRun) await ask("POST", `${path}/run`);
  await api.desk.world.settle();
  const begun = await told();
  const baseAt = Date.parse(hasRun ? begun.lastRunAt : made.createdAt);
  await api.desk.world.pass(agoMs);
  const instantOf = (ms: number) => new Date(baseAt + ms).toISOString();
  const { hintMs, hintTtlMinutes = 60, oneshotMs, pauseMs } = setup;
  if (pauseMs !== undefined) await ask("POST", `${path}/pause`, { pausedUntil: instantOf(pauseMs) });
  if (hintMs !== undefined)
    await ask("PUT", `${path}/hints/interval`, { intervalMs: hintMs, ttlMinutes: hintTtlMinutes });
  if (oneshotMs !== undefined)
    await ask("PUT", `${path}/hints/oneshot`, { nextRunAt: instantOf(oneshotMs), ttlMinutes: 60 });
  await api.desk.world.pass(laterMs);
  const runs = async () => (await ask("GET", `${path}/runs`)).rows;
  return { api, told, runs, baseAt };
}

function atOf(next: number | string, baseAt: number): number {
  return typeof next === "string" ? Date.parse(next) : baseAt + next;
}

describe("the table, over HTTP", () => {
  test.each(ROWS)("%s", async (_title, setup, next, source) => {
    const { api, told, runs, baseAt } = await set(setup);
    // What counts from a run counts from the newest.
    const lastRunAt = (await told()).lastRunAt;
    const fromAt = setup.hasRun && lastRunAt !== null ? Date.parse(lastRunAt) : baseAt;
    const dueAt = atOf(next, fromAt);
    const { nextRunAt, nextSource } = await told();
    expect([Math.round((Date.parse(nextRunAt) - dueAt) / SECOND_MS), nextSource]).toEqual([0, source]);
    if (source === "paused") return;
    await api.desk.world.pass(dueAt - api.desk.world.clock.now() + SETTLED_MS);
    const [run] = await runs();
    expect([Math.round((Date.parse(run.startedAt) - dueAt) / SECOND_MS), run.source]).toEqual([0, source]);
  });

  test.each(DUE)("%s: it runs at once", async (_title, setup, next, source) => {
    const { api, runs, baseAt } = await set(setup);
    const dueAt = atOf(next, baseAt);
    await api.desk.world.pass(dueAt - api.desk.world.clock.now() + SETTLED_MS);
    const [run] = await runs();
    expect([Math.round((Date.parse(run.startedAt) - dueAt) / SECOND_MS), run.source]).toEqual([0, source]);
  });

  test("an expression that cannot be read is refused, and cannot be paused", async () => {
    const { api } = await set({ everyMs: M });
    const { key } = await api.key({});
    const { body: jobs } = await api.send("GET", "/api/v1/jobs", { key });
    const wish = { name: "broken", url: "https://hooks.test/", baselineCron: "not a cron" };
    const { status, body } = await api.send("POST", `/api/v1/jobs/${jobs.rows[0].id}/endpoints`, { key, body: wish });
    expect([status, body.errors[0].pointer]).toEqual([400, "/baselineCron"]);
  });
});
