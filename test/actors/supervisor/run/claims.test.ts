/** Claims that were worked out ahead, in the second in which they are due: many of them, and what comes in between. */
import { describe, expect, test } from "vitest";
import type { SupervisorPorts } from "../../../../src/actors/supervisor/port.js";
import { MINUTE_MS, SECOND_MS } from "../../../../src/core/time/instant.js";
import { InspectHub } from "../../../../src/krond/inspect/hub.js";
import { clientOn, TestWire } from "../../../krond/inspect/wire.js";
import { job, START, World } from "../world.js";

const DUE_AT = Date.parse("2026-03-01T00:01:00Z");
const DUE = "2026-03-01T00:01:00";
const TOLD = ["reschedule", "before_definition", "trigger", "started"];

function names(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `j${String(index).padStart(4, "0")}`);
}

async function turns(count = 30): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** In steps, without waiting until all is done. */
async function passTo(world: World, at: number, stepMs = 500): Promise<void> {
  while (world.clock.now() < at) {
    world.clock.advance(Math.min(stepMs, at - world.clock.now()));
    await turns(20);
  }
}

type Commit = SupervisorPorts["store"]["commit"];

function committing(around: (commit: Commit) => Commit) {
  return (ports: SupervisorPorts): SupervisorPorts => {
    const commit = around(ports.store.commit.bind(ports.store));
    return { ...ports, store: Object.assign(ports.store, { commit }) };
  };
}

describe("a second with many claims", () => {
  test("S31: they are one commit", async () => {
    const commits: number[] = [];
    const between = committing((commit) => (term, batch) => {
      if (world.clock.now() === DUE_AT) commits.push(batch.documents?.length ?? 0);
      return commit(term, batch);
    });
    const world: World = new World({ between });
    await world.boot(names(200).map((identity) => job(identity, "1 * * * *")));
    await world.pass(DUE_AT - START);
    expect(commits).toEqual([200]);
    expect(names(200).filter((identity) => world.starts(identity).join() !== DUE)).toEqual([]);
  });

  test("S6: jobs that wait for gates when the clock is set back do not ask for them over and over", async () => {
    const isEarly = (): boolean => world.clock.now() < DUE_AT - 4_000;
    const refusal = { code: "fork-failed" as const, message: "no" };
    const world: World = new World({ behaviour: () => (isEarly() ? { refusal } : {}) });
    await world.boot(names(40).map((identity) => job(identity, "1 * * * *")));
    await passTo(world, DUE_AT - SECOND_MS);
    const before = world.requests.length;
    world.clock.advance(SECOND_MS);
    world.clock.jump(-10 * MINUTE_MS);
    await turns(200);
    await passTo(world, world.clock.now() + 2 * SECOND_MS, 100);
    expect(world.requests.length - before).toBeLessThan(200);
    expect(world.told()).toContain("clock_jump");
    world.kill();
  });
});

describe("while others are still being started", () => {
  /** The gate of `b` is ready a while after its second. */
  const slowly = ({ env }: { readonly env: Readonly<Record<string, string>> }) =>
    env["KRON_IDENTITY"] === "b" ? { armMs: 5_300 } : {};

  test("what has begun is in the log before the daemon ends, whatever else fails", async () => {
    let isBroken = false;
    const between = committing((commit) => (term, batch) => {
      return isBroken ? Promise.reject(new Error("disk")) : commit(term, batch);
    });
    const world = new World({ between, behaviour: slowly });
    await world.boot([job("a", "1 * * * *"), job("b", "1 * * * *")]);
    await passTo(world, DUE_AT);
    expect(world.starts("a")).toEqual([DUE]);
    expect(world.told("a")).not.toEqual(TOLD);
    isBroken = true;
    await passTo(world, DUE_AT + 450, 10);
    expect(world.fatal).not.toBeNull();
    expect(world.told("a")).toEqual(TOLD);
  });

  test("S36: what is due next lies ahead", async () => {
    const world = new World({ behaviour: slowly });
    await world.boot([job("a", "* * * * *"), job("b", "1 * * * *")]);
    await passTo(world, DUE_AT + 200, 100);
    expect(world.starts("a")).toEqual([DUE]);
    expect(world.supervisor.status().nextDueAt).toBe(DUE_AT + MINUTE_MS);
  });

  test("trouble with a start is told after the start", async () => {
    const world = new World({ behaviour: () => ({ isStartLost: true }) });
    await world.boot([job("a", "1 * * * *")]);
    await world.pass(DUE_AT - START + 2 * SECOND_MS);
    expect(world.told("a")).toEqual([...TOLD, "error", "completed"]);
  });
});

function watchedHub({ clock }: SupervisorPorts): InspectHub {
  const hub = new InspectHub(clock);
  hub.attach(clientOn(new TestWire(), ""));
  return hub;
}

describe("what is worked out ahead", () => {
  test.each([1_000, 10_000])("a minutely job that runs for half a minute is, where %i may wait", async (maxArmed) => {
    const world = new World({ behaviour: () => ({ runMs: 30_000 }), maxArmed });
    await world.boot([job("a", "* * * * *")], { maxArmed });
    await world.pass(3 * MINUTE_MS - 3 * SECOND_MS);
    expect(world.supervisor.status().armed).toBe(1);
  });

  test.each([
    ["there is no inspector", (_: SupervisorPorts) => null, []],
    ["there is one and nobody looks on", (ports: SupervisorPorts) => new InspectHub(ports.clock), []],
    ["somebody looks on", watchedHub, []],
  ])("when %s", async (_, observerOf, expected) => {
    const read: string[] = [];
    const between = (ports: SupervisorPorts): SupervisorPorts => {
      const get = ports.store.get.bind(ports.store);
      const watched = (identity: string) => {
        if (world.clock.now() >= DUE_AT) read.push(identity);
        return get(identity);
      };
      const store = Object.assign(ports.store, { get: watched });
      return { ...ports, store, observer: { current: observerOf(ports) } };
    };
    const world: World = new World({ between });
    await world.boot([job("a", "1 * * * *")]);
    await world.pass(DUE_AT - START);
    expect(world.starts("a")).toEqual([DUE]);
    expect(read).toEqual(expected);
  });
});

test("S31: told to stop while what was in no hurry is being written, the daemon stops", async () => {
  let release = (): void => expect.fail("nothing was written");
  let isSlow = false;
  const between = committing((commit) => async (term, batch) => {
    if (isSlow) {
      isSlow = false;
      await new Promise<void>((resolve) => (release = resolve));
    }
    return commit(term, batch);
  });
  const world = new World({ between, behaviour: () => ({ runMs: null }) });
  await world.boot([job("a", "1 * * * *")]);
  await world.pass(DUE_AT - START);
  isSlow = true;
  world.clock.advance(1_500);
  await turns();
  let isStopped = false;
  void world.supervisor.stop({ graceful: false }).then(() => (isStopped = true));
  await turns();
  release();
  await turns();
  expect(isStopped).toBe(true);
});
