/** Who has wanted a hint or a pause is on record with it, and what people have said holds against planners. */
import { describe, expect, test } from "vitest";
import { plannerNamed } from "../../../src/core/governor/author.js";
import type { Hint } from "../../../src/core/governor/hint.js";
import { HOUR_MS, MINUTE_MS } from "../../../src/core/time/instant.js";
import { GET_ENDPOINT } from "../../../src/operations/endpoints/endpoints.js";
import { RUN_ENDPOINT } from "../../../src/operations/endpoints/run-now.js";
import {
  CLEAR_HINTS,
  HINT_INTERVAL,
  HINT_ONESHOT,
  PAUSE_ENDPOINT,
} from "../../../src/operations/endpoints/standing.js";
import { readWhy } from "../../../src/operations/records/why.js";
import { Desk, type DeskOptions } from "./desk.js";

const RULES = plannerNamed("rules");
const KEY = "k_1";

async function opened(options: DeskOptions = {}, more: Record<string, unknown> = {}) {
  const desk = await Desk.open(options);
  const { id: jobId } = await desk.job();
  const { id: endpointId } = await desk.endpoint(jobId, { baselineIntervalMs: 600_000, ...more });
  const identity = `endpoint:acme/${jobId}/${endpointId}`;
  const now = (): number => desk.world.clock.now();
  const slower = (): Hint => {
    return { kind: "interval", intervalMs: 1_200_000, expiresAt: now() + HOUR_MS, reason: "failure-streak", by: RULES };
  };
  return { desk, endpointId, identity, slower, now };
}

describe("who wanted it", () => {
  test("a key, whoever runs the daemon and a planner, each told beside what it wanted", async () => {
    const { desk, endpointId, identity, slower } = await opened();
    const wish = { endpointId, intervalMs: 60_000, ttlMinutes: 5, reason: "errors" };
    expect((await desk.ask(HINT_INTERVAL, wish, "acme", KEY)).interval).toMatchObject({ by: KEY });
    expect((await desk.ask(HINT_INTERVAL, wish)).interval).toMatchObject({ by: null });
    await desk.ask(CLEAR_HINTS, { endpointId });
    expect(await desk.world.supervisor.hint(identity, slower())).toBe("set");
    expect((await desk.ask(GET_ENDPOINT, { endpointId })).hints.interval).toMatchObject({ by: RULES });
    const pause = { endpointId, pausedUntil: "2026-03-01T01:00:00Z" };
    expect(await desk.ask(PAUSE_ENDPOINT, pause, "acme", KEY)).toMatchObject({ pausedBy: KEY });
  });

  test("why names it, of a run and of a period that a hint stood in for", async () => {
    const { desk, identity, slower, now } = await opened(
      {},
      { baselineIntervalMs: null, baselineCron: "*/10 * * * *" },
    );
    const why = async (at: string) => {
      const asked = { identity, periodAt: Date.parse(at), now: now(), ledger: desk.ports.ledger() };
      return (await readWhy(desk.ports.reader, asked))?.text;
    };
    await desk.world.supervisor.hint(identity, slower());
    await desk.world.pass(25 * MINUTE_MS);
    expect(desk.world.starts(identity)).toEqual(["2026-03-01T00:20:01"]);
    expect(await why("2026-03-01T00:20:01Z")).toContain("by an interval hint of planner:rules");
    expect(await why("2026-03-01T00:10:00Z")).toContain(", by planner:rules: failure-streak");
    const { supervisor } = desk.world;
    await supervisor.clearHints(identity, "all");
    expect(await supervisor.pause(identity, now() + HOUR_MS, "upstream is down", false, RULES)).toBe(true);
    await desk.world.pass(25 * MINUTE_MS);
    expect(await why("2026-03-01T00:40:00Z")).toContain(", by planner:rules (upstream is down)");
  });

  test("it is still known after a restart", async () => {
    const { desk, identity, endpointId, slower } = await opened();
    await desk.world.supervisor.hint(identity, slower());
    desk.world.kill();
    await desk.boot();
    expect((await desk.ask(GET_ENDPOINT, { endpointId })).hints.interval).toMatchObject({ by: RULES });
  });
});

describe("a person's word holds", () => {
  test("a planner's hint, pause and clearing stand back behind it, and nothing has changed", async () => {
    const { desk, endpointId, identity, slower, now } = await opened();
    await desk.ask(HINT_INTERVAL, { endpointId, intervalMs: 60_000, ttlMinutes: 30 }, "acme", KEY);
    const before = desk.world.document(identity);
    const { supervisor } = desk.world;
    expect(await supervisor.hint(identity, slower())).toBe("held");
    const once: Hint = { kind: "oneshot", nextRunAt: now() + 1, expiresAt: now() + 2, reason: "", by: RULES };
    expect(await supervisor.hint(identity, once)).toBe("held");
    expect(await supervisor.pause(identity, now() + HOUR_MS, "", false, RULES)).toBe(false);
    expect(await supervisor.clearHints(identity, "interval", RULES)).toBe(false);
    expect(desk.world.document(identity)).toEqual(before);
    await desk.world.pass(31 * MINUTE_MS);
    expect(await supervisor.hint(identity, slower())).toBe("set");
  });

  test("a person's hint takes the place of a planner's, and lifts its pause", async () => {
    const { desk, endpointId, identity, slower, now } = await opened();
    const { supervisor } = desk.world;
    await supervisor.hint(identity, slower());
    await desk.ask(HINT_INTERVAL, { endpointId, intervalMs: 60_000, ttlMinutes: 5 }, "acme", KEY);
    expect((await desk.ask(GET_ENDPOINT, { endpointId })).hints.interval).toMatchObject({ by: KEY });
    await desk.ask(CLEAR_HINTS, { endpointId });
    expect(await supervisor.pause(identity, now() + HOUR_MS, "", false, RULES)).toBe(true);
    expect(await supervisor.pause(identity, now() + 2 * HOUR_MS, "", false, RULES)).toBe(false);
    expect(await desk.ask(PAUSE_ENDPOINT, { endpointId, pausedUntil: null })).toMatchObject({ status: "active" });
  });

  test("one that a person has asked for stays beside a planner's interval", async () => {
    const { desk, endpointId, identity, slower } = await opened();
    await desk.world.supervisor.hint(identity, slower());
    const wish = { endpointId, nextRunAt: "2026-03-01T00:30:00Z", ttlMinutes: 60 };
    await desk.ask(HINT_ONESHOT, wish, "acme", KEY);
    expect(await desk.world.supervisor.hint(identity, slower())).toBe("held");
    expect((await desk.ask(GET_ENDPOINT, { endpointId })).hints).toMatchObject({
      interval: { by: RULES },
      oneshot: { by: KEY },
    });
  });

  test("one that a planner sets in the middle of a run counts from its end on, and is not lost", async () => {
    const { desk, endpointId, identity, slower } = await opened({ answer: () => ({ answerMs: 20_000 }) });
    await desk.ask(RUN_ENDPOINT, { endpointId });
    await desk.world.pass(5_000);
    expect(await desk.world.supervisor.hint(identity, slower())).toBe("set");
    await desk.world.pass(MINUTE_MS);
    expect((await desk.ask(GET_ENDPOINT, { endpointId })).hints.interval).toMatchObject({ by: RULES });
    expect(await desk.ask(GET_ENDPOINT, { endpointId })).toMatchObject({ nextRunAt: "2026-03-01T00:20:01Z" });
  });
});
