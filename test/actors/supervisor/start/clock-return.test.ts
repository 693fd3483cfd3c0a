import { describe, expect, test } from "vitest";
import type { SupervisorPorts } from "../../../../src/actors/supervisor/port.js";
import { planHere } from "../../../../src/actors/supervisor/start/plan-here.js";
import type { JobDefinition } from "../../../../src/core/job/definition.js";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../../src/core/time/instant.js";
import { job, World } from "../world.js";

type Plan = NonNullable<SupervisorPorts["plan"]>;

/** Counts what is read of single jobs, and lets a test stand in the way of the look at all of them. */
class Looks {
  readonly read: string[] = [];
  readonly aborted: boolean[] = [];
  plan: Plan = planHere;

  between = (ports: SupervisorPorts): SupervisorPorts => {
    const get = ports.store.get.bind(ports.store);
    const watched = (identity: string) => {
      this.read.push(identity);
      return get(identity);
    };
    const plan: Plan = async (store, options) => {
      await this.plan(store, options);
      this.aborted.push(options.signal?.aborted ?? false);
    };
    return { ...ports, store: Object.assign(ports.store, { get: watched }), plan };
  };
}

/** Due at minute 30 of the hour; the first is due every five minutes. */
function jobs(): JobDefinition[] {
  const later = Array.from({ length: 40 }, (_, index) => job(`later-${index}`, "30 * * * *"));
  return [job("often", "*/5 * * * *", { policy: { deadline: "30s" } }), ...later];
}

async function started(looks: Looks): Promise<World> {
  const world = new World({ between: looks.between });
  await world.boot(jobs());
  await world.pass(7 * MINUTE_MS);
  expect(world.starts("often")).toEqual(["2026-03-01T00:05:00"]);
  looks.read.length = 0;
  looks.aborted.length = 0;
  return world;
}

const LATER = "later-7";
/** With nothing due within the minute the clock is looked at every thirty seconds. */
const NOTICED_MS = 31 * SECOND_MS;

describe("S6, S13: after the clock was moved", () => {
  test("only jobs that have something to say about it are woken, and all others wait for their new instant", async () => {
    const looks = new Looks();
    const world = await started(looks);
    world.clock.jump(12 * MINUTE_MS + 10 * SECOND_MS);
    await world.pass(NOTICED_MS);
    // 00:10 was passed over and 00:15 is too late; the others lost nothing.
    expect(new Set(looks.read)).toEqual(new Set(["often"]));
    expect(world.told("often").slice(-2)).toEqual(["periods_not_evaluated", "missed_deadline"]);
    await world.pass(12 * MINUTE_MS);
    expect(world.starts(LATER)).toEqual(["2026-03-01T00:30:00"]);
    expect(world.starts("often").slice(1)).toEqual([
      "2026-03-01T00:20:00",
      "2026-03-01T00:25:00",
      "2026-03-01T00:30:00",
    ]);
  });

  test("back over a period that ran: nothing runs again, and what comes runs at its new instant", async () => {
    const looks = new Looks();
    const world = await started(looks);
    world.clock.jump(-5 * MINUTE_MS);
    await world.pass(NOTICED_MS);
    expect(looks.read.filter((identity) => identity !== "often")).toEqual([]);
    await world.pass(29 * MINUTE_MS);
    expect(world.starts(LATER)).toEqual(["2026-03-01T00:30:00"]);
    expect(world.starts("often").filter((at) => at === "2026-03-01T00:05:00")).toHaveLength(1);
  });

  test("what a job hears meanwhile stands, whatever was read before", async () => {
    const looks = new Looks();
    const world = await started(looks);
    looks.plan = async (store, options) => {
      const pages: Parameters<typeof options.onPage>[0][] = [];
      await planHere(store, { ...options, onPage: async (page) => void pages.push(page) });
      await world.supervisor.pause(LATER, world.clock.now() + HOUR_MS, "lunch");
      for (const page of pages) await options.onPage(page);
    };
    world.clock.jump(12 * MINUTE_MS);
    await world.pass(20 * MINUTE_MS);
    expect(world.starts(LATER)).toEqual([]);
    expect(world.starts("later-8")).toEqual(["2026-03-01T00:30:00"]);
  });

  test("a second time while all are being looked at: the second look counts", async () => {
    const looks = new Looks();
    const world = await started(looks);
    let hasJumped = false;
    looks.plan = async (store, options) => {
      const pages: Parameters<typeof options.onPage>[0][] = [];
      await planHere(store, { ...options, onPage: async (page) => void pages.push(page) });
      if (!hasJumped) {
        hasJumped = true;
        world.clock.jump(2 * HOUR_MS);
        world.clock.advance(NOTICED_MS);
      }
      for (const page of pages) await options.onPage(page);
    };
    world.clock.jump(12 * MINUTE_MS);
    await world.pass(NOTICED_MS);
    expect(looks.aborted).toEqual([true, false]);
    await world.pass(20 * MINUTE_MS);
    // 02:19 by now: 00:30 and 01:30 were passed over.
    expect(world.starts(LATER)).toEqual(["2026-03-01T02:30:00"]);
    expect(world.told(LATER)).toContain("periods_not_evaluated");
  });

  test("when nothing can be read in one go, each job is woken by itself", async () => {
    const looks = new Looks();
    const world = await started(looks);
    looks.plan = () => Promise.reject(new Error("no threads"));
    world.clock.jump(12 * MINUTE_MS);
    await world.pass(NOTICED_MS);
    expect(new Set(looks.read).size).toBe(41);
    await world.pass(12 * MINUTE_MS);
    expect(world.starts(LATER)).toEqual(["2026-03-01T00:30:00"]);
  });

  test("S29: an end meanwhile waits for nothing", async () => {
    const looks = new Looks();
    const world = await started(looks);
    looks.plan = (_, { signal }) =>
      new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(new Error("aborted"))));
    world.clock.jump(12 * MINUTE_MS);
    world.clock.advance(NOTICED_MS);
    await world.supervisor.stop({ graceful: true });
    expect(world.fatal).toBeNull();
    expect(looks.read.filter((identity) => identity !== "often")).toEqual([]);
  });
});
