/** S6, S12, S14, S32: what a start makes of a clock that is behind the record, and of a record that is not whole. */
import { describe, expect, test } from "vitest";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../../src/core/time/instant.js";
import { documentKey } from "../../../../src/persist/keys.js";
import { at } from "../../../support/scheduling.js";
import { job, World } from "../world.js";

const YEAR_AHEAD = "2027-03-01T00:00:10Z";

describe("a clock that was ahead", () => {
  test("S14: a job first seen then runs all the same, and somebody is told", async () => {
    const world = new World({ startAt: at(YEAR_AHEAD) });
    const often = job("a", "* * * * *", { policy: { deadline: "30s" } });
    await world.boot([often]);
    await world.pass(5 * SECOND_MS);
    world.kill();
    world.clock.jump(at("2026-03-01T00:00:50Z") - world.clock.now());
    world.events.length = 0;
    await world.boot([often]);
    await world.pass(20 * SECOND_MS);
    expect(world.starts("a")).toEqual(["2026-03-01T00:01:00"]);
    expect(world.document("a").DefinedAt).toBe("2026-03-01T00:00:50Z");
    const ahead = world.events.filter(({ event }) => event === "state_ahead_of_clock");
    expect(ahead).toMatchObject([{ level: "warn", identity: "a", fields: { defined_at: YEAR_AHEAD } }]);
  });

  test("S14: the same under a running daemon whose clock is put right", async () => {
    const world = new World({ startAt: at(YEAR_AHEAD) });
    await world.boot([job("a", "* * * * *", { policy: { deadline: "30s" } })]);
    await world.pass(5 * SECOND_MS);
    world.clock.jump(at("2026-03-01T00:00:40Z") - world.clock.now());
    await world.pass(50 * SECOND_MS);
    expect(world.starts("a")).toEqual(["2026-03-01T00:01:00"]);
    expect(world.told("a")).toContain("state_ahead_of_clock");
  });

  test("S6: a start behind the last sign of life says so, and by how much; one after it says nothing", async () => {
    const world = new World();
    await world.boot([job("a", "0 * * * *")]);
    await world.pass(2 * MINUTE_MS);
    world.kill();
    await world.boot([job("a", "0 * * * *")]);
    expect(world.told()).not.toContain("clock_jump");
    await world.pass(2 * MINUTE_MS);
    world.kill();
    world.clock.jump(-10 * MINUTE_MS);
    await world.boot([job("a", "0 * * * *")]);
    const [told] = world.events.filter(({ event }) => event === "clock_jump");
    expect(told).toMatchObject({ level: "warn", fields: { last_sign_of_life: "2026-03-01T00:04:01Z" } });
    expect(told?.fields?.["jump_ms"]).toBe(-10 * MINUTE_MS);
  });
});

describe("a record that is not whole", () => {
  test("STATE-52, S12: a period that is on record as running, and as nothing else, is never run again", async () => {
    const world = new World({ startAt: at("2026-03-01T00:10:00Z") });
    const slow = job("a", "0 * * * *", { policy: { deadline: "50m" } });
    await world.boot([slow]);
    world.kill();
    const key = documentKey("a");
    const { LastReason: _, ...known } = world.document("a");
    const running = { PeriodID: "2026-03-01T00:00:00Z", PID: 4_194_300, StartedAt: "2026-03-01T00:05:00Z" };
    const text = JSON.stringify({
      ...known,
      DefinedAt: "2026-02-01T00:00:00Z",
      LastHandledPeriodID: "2026-02-28T23:00:00Z",
      LastOutcome: "executed",
      LastChosenTime: "2026-02-28T23:00:00Z",
      LastNominalTime: "2026-02-28T23:00:00Z",
      ActiveExecution: { ...running, ChosenTime: "2026-03-01T00:05:00Z" },
      History: [],
    });
    const stored = world.disk.documents.get(key);
    if (stored === undefined) throw new Error("no document");
    world.disk.documents.set(key, { ...stored, text });
    await world.boot([slow]);
    await world.pass(5 * MINUTE_MS);
    expect(world.starts("a")).toEqual([]);
    expect(world.document("a")).toMatchObject({
      LastHandledPeriodID: "2026-03-01T00:00:00Z",
      LastOutcome: "executed",
      History: [{ PeriodID: "2026-03-01T00:00:00Z", Outcome: "executed" }],
    });
    await world.pass(HOUR_MS - 10 * MINUTE_MS, 10 * SECOND_MS);
    expect(world.starts("a")).toHaveLength(1);
  });

  test("STATE-95, S32: a fence does not override an outcome that the ledger still has", async () => {
    const world = new World();
    const often = job("a", "* * * * *", { policy: { deadline: "50s" } });
    await world.boot([often]);
    await world.pass(MINUTE_MS + 15 * SECOND_MS);
    world.kill();
    const before = world.ledger("a").filter(({ kind }) => kind === "period" || kind === "run");
    const key = documentKey("a");
    const stored = world.disk.documents.get(key);
    if (stored === undefined) throw new Error("no document");
    world.disk.documents.set(key, { ...stored, text: '{"Version":"1","Ident' });
    await world.boot([often]);
    await world.pass(SECOND_MS);
    expect(world.ledger("a").filter(({ kind }) => kind === "period" || kind === "run")).toEqual(before);
    expect(world.document("a")).toMatchObject({ LastHandledPeriodID: "2026-03-01T00:01:00Z", LastOutcome: "executed" });
    await world.pass(MINUTE_MS);
    expect(world.starts("a")).toEqual(["2026-03-01T00:01:00", "2026-03-01T00:02:00"]);
  });

  test("S32: where the ledger has nothing of the current period, it is fenced", async () => {
    const world = new World();
    const often = job("a", "*/10 * * * *", { policy: { deadline: "9m" } });
    await world.boot([often]);
    await world.pass(10 * MINUTE_MS + 30 * SECOND_MS);
    world.kill();
    world.clock.advance(10 * MINUTE_MS);
    const key = documentKey("a");
    const stored = world.disk.documents.get(key);
    if (stored === undefined) throw new Error("no document");
    world.disk.documents.set(key, { ...stored, text: "{" });
    await world.boot([often]);
    await world.pass(MINUTE_MS);
    expect(world.document("a")).toMatchObject({
      LastHandledPeriodID: "2026-03-01T00:20:00Z",
      LastOutcome: "skipped",
      LastReason: "state_recovered",
    });
    expect(world.told("a")).toContain("state_recovered");
    expect(world.starts("a")).toEqual(["2026-03-01T00:10:00"]);
  });
});
