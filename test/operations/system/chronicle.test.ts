/** What the daemon remembers of itself. */
import { describe, expect, test } from "vitest";
import type { PlanReport } from "../../../src/actors/supervisor/port.js";
import type { SupervisorEvent } from "../../../src/actors/supervisor/write/events.js";
import { Chronicle } from "../../../src/operations/system/chronicle.js";
import { CHRONICLE } from "../../../src/operations/system/system.js";
import { Desk } from "../endpoints/desk.js";

class Hands {
  ms = 1_000;
  readonly now = (): number => this.ms;
  readonly monotonicMs = (): number => this.ms;
}

const PLAN: PlanReport = { added: ["a", "b"], removed: ["c"], changed: [], unchanged: 7 };

function jump(at: number, jumpMs: number): SupervisorEvent {
  return { at, event: "clock_jump", component: "scheduler", level: "warn", fields: { jump_ms: jumpMs } };
}

describe("the chronicle", () => {
  test("has each reload with what it changed and how long it took, and one that failed with why; newest first", async () => {
    const clock = new Hands();
    const chronicle = new Chronicle(clock);
    const done = { plan: PLAN, kept: ["d"], findings: ["x", "y"] };
    const given = await chronicle.noting(async () => {
      clock.ms += 250;
      return done;
    });
    expect(given).toBe(done);
    const failing = chronicle.noting(() => Promise.reject(new Error("no such file")));
    await expect(failing).rejects.toThrow("no such file");
    const counts = { added: 2, removed: 1, changed: 0, unchanged: 7, kept: 1, problems: 2 };
    const none = { added: 0, removed: 0, changed: 0, unchanged: 0, kept: 0, problems: 0 };
    expect(chronicle.reloads).toEqual([
      { at: 1_250, tookMs: 0, ...none, failure: "no such file" },
      { at: 1_000, tookMs: 250, ...counts, failure: null },
    ]);
  });

  test("S6: has the jumps of the clock, and of nothing more than the newest twenty", () => {
    const chronicle = new Chronicle(new Hands());
    chronicle.tell({ ...jump(0, 5), event: "config_reloaded" });
    for (let at = 1; at <= 21; at++) chronicle.tell(jump(at, at % 2 === 0 ? 2_000 : -2_000));
    expect(chronicle.clockJumps).toHaveLength(20);
    expect(chronicle.clockJumps.slice(0, 2)).toEqual([
      { at: 21, jumpMs: -2_000 },
      { at: 20, jumpMs: 2_000 },
    ]);
  });

  test("S33: is told with the lock that is held, and the zone data that schedules are computed with", async () => {
    const desk = await Desk.open();
    const told = await desk.ask(CHRONICLE, {});
    expect(told).toMatchObject({
      bootedAt: expect.any(Number),
      lock: { place: desk.ports.term.place, isHeld: true },
      storeBytes: null,
      zoneData: process.versions["tz"],
      reloads: [],
      clockJumps: [],
    });
  });
});
