/** Claims that were worked out ahead, in the second in which they are due: many of them, and what comes in between. */
import { describe, expect, test } from "vitest";
import type { SupervisorPorts } from "../../../../src/actors/supervisor/port.js";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../../src/core/time/instant.js";
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
  /** Three thousand need some dozens of turns of the loop to come together. */
  test.each([200, 3_000])("S31: %i of them are one commit", async (count) => {
    const commits: number[] = [];
    const between = committing((commit) => (term, batch) => {
      if (world.clock.now() === DUE_AT) commits.push(batch.documents?.length ?? 0);
      return commit(term, batch);
    });
    const world: World = new World({ between, maxArmed: count });
    const jobs = names(count).map((identity) => job(identity, "1 * * * *"));
    await world.boot(jobs, { maxArmed: count });
    await world.pass(DUE_AT - START);
    expect(commits).toEqual([count]);
    expect(names(count).filter((identity) => world.starts(identity).join() !== DUE)).toEqual([]);
  });

  test("S31: where each turn of the loop brings another claim, the first of them waits for eight", async () => {
    const [count, most] = [60, 9];
    const commits: number[] = [];
    const between = committing((commit) => (term, batch) => {
      if (batch.claims !== undefined) commits.push(batch.claims.length);
      return commit(term, batch);
    });
    const world = new World({ between });
    await world.boot(names(count).map((identity) => job(identity, "1 * * * *")));
    const begun = [];
    for (const identity of names(count)) {
      begun.push(world.supervisor.runNow(identity));
      await turns(1);
    }
    await world.settle();
    expect((await Promise.all(begun)).every(({ ok }) => ok)).toBe(true);
    expect(commits[0]).toBeGreaterThan(1);
    expect(commits[0]).toBeLessThanOrEqual(most);
    expect(commits.reduce((sum, each) => sum + each, 0)).toBe(count);
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

describe("slots that are no periods", () => {
  /** The seconds in which a document is read. */
  function reading() {
    const readIn: string[] = [];
    const between = (ports: SupervisorPorts): SupervisorPorts => {
      const get = ports.store.get.bind(ports.store);
      const watched = (identity: string) => {
        readIn.push(new Date(world.clock.now()).toISOString().slice(0, 19));
        return get(identity);
      };
      return { ...ports, store: Object.assign(ports.store, { get: watched }) };
    };
    const world: World = new World({ between });
    return { readIn, world };
  }

  test("S23: those of an interval are made ready ahead of their second", async () => {
    const { readIn, world } = reading();
    await world.boot([job("a", "@every 20s")]);
    await passTo(world, START + 5 * MINUTE_MS);
    const seconds = new Set(world.starts("a"));
    expect([seconds.size > 10, seconds.size]).toEqual([true, world.starts("a").length]);
    expect(readIn.length).toBeGreaterThan(10);
    // What is read in the second itself was not ready.
    expect(readIn.filter((second) => seconds.has(second))).toEqual([]);
  });

  test("S23: and as soon as it is known what comes next, where that is in less than five seconds", async () => {
    const world = new World({ behaviour: () => ({ runMs: 100 }) });
    await world.boot([job("a", "@every 2s")]);
    const armed: number[] = [];
    for (let at = START + 30 * SECOND_MS; at < START + MINUTE_MS; at += 2 * SECOND_MS) {
      await passTo(world, at, 100);
      await passTo(world, world.clock.now() + 1_500, 100);
      armed.push(world.supervisor.status().armed);
    }
    expect(new Set(armed)).toEqual(new Set([1]));
    expect(world.starts("a").length).toBeGreaterThan(20);
    expect(new Set(world.starts("a")).size).toBe(world.starts("a").length);
  });

  test("S41: what a hint plans is made ready; when another one is heard, its gate is closed and nothing of it is claimed", async () => {
    const world = new World();
    await world.boot([job("a", "0 0 1 1 *")]);
    const now = world.clock.now();
    const hint = (nextRunAt: number) =>
      ({ kind: "oneshot", nextRunAt, expiresAt: now + 10 * MINUTE_MS, reason: "" }) as const;
    expect(await world.supervisor.hint("a", hint(now + 30 * SECOND_MS))).toBe("set");
    await passTo(world, now + 27 * SECOND_MS);
    expect(world.supervisor.status().armed).toBe(1);
    expect(await world.supervisor.hint("a", hint(now + 60 * SECOND_MS))).toBe("set");
    await passTo(world, now + 40 * SECOND_MS);
    expect([world.supervisor.status().armed, world.starts("a")]).toEqual([0, []]);
    await passTo(world, now + 62 * SECOND_MS);
    expect(world.starts("a")).toHaveLength(1);
  });

  test("S43: a further attempt is made ready too, and is given up with its gate when the job is paused", async () => {
    const world = new World({ behaviour: () => ({ exitCode: 1 }) });
    await world.boot([job("a", "1 * * * *", { retry: { limit: 3, backoff: "20s" } })]);
    await passTo(world, DUE_AT + SECOND_MS);
    while (world.supervisor.status().armed === 0) await passTo(world, world.clock.now() + SECOND_MS);
    expect([world.starts("a").length, world.clock.now() > DUE_AT + 10 * SECOND_MS]).toEqual([1, true]);
    await world.supervisor.pause("a", DUE_AT + HOUR_MS, "lunch", false);
    await passTo(world, world.clock.now() + MINUTE_MS);
    expect([world.starts("a").length, world.supervisor.status().armed]).toEqual([1, 0]);
  });
});

test("S23: a job whose second comes while a message waits for its turn hears that first, and nobody ends", async () => {
  const world = new World();
  // So many that the last of them has to wait.
  const others = names(80);
  const jobs = others.map((identity) => job(identity, "0 0 1 1 *"));
  await world.boot([...jobs, job("x", "1 * * * *", { policy: { concurrency: "allow" } })]);
  await passTo(world, DUE_AT - 1);
  const asked = [...others, "x"].map((identity) => world.supervisor.runNow(identity));
  world.clock.advance(1);
  await passTo(world, DUE_AT + 2 * SECOND_MS, 100);
  expect([world.fatal, world.starts("x").length]).toEqual([null, 2]);
  expect((await Promise.all(asked)).every(({ ok }) => ok)).toBe(true);
});

test("S23: slots leave half of the room to what is due now", async () => {
  const world = new World({ maxArmed: 4 });
  const jobs = names(6).map((identity) => job(identity, "@every 5s"));
  await world.boot(jobs, { maxArmed: 4 });
  let most = 0;
  for (let step = 0; step < 200; step += 1) {
    await passTo(world, world.clock.now() + 100, 100);
    // Between their seconds, when nothing is being started.
    if (world.clock.now() % SECOND_MS === 500) most = Math.max(most, world.supervisor.status().armed);
  }
  expect(most).toBe(2);
  expect(names(6).every((identity) => world.starts(identity).length > 2)).toBe(true);
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
