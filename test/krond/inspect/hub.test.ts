import { afterEach, describe, expect, test } from "vitest";
import { SimulatedClock } from "../../../src/actors/simulated-clock.js";
import type { JobDefinition } from "../../../src/core/job/definition.js";
import { canonicalDefinitionText, readJobDefinition } from "../../../src/core/job/schema.js";
import { serialiseDocument } from "../../../src/core/state/serialise.js";
import { CLIENT_LIMITS, type InspectClient } from "../../../src/krond/inspect/client.js";
import { HUB_LIMITS, InspectHub } from "../../../src/krond/inspect/hub.js";
import { Listing } from "../../../src/krond/inspect/listing.js";
import { step } from "../../../src/machines/step.js";
import { documentKey } from "../../../src/persist/keys.js";
import { acquireMemoryLock } from "../../../src/persist/lock.js";
import { MemoryDisk } from "../../../src/persist/memory/disk.js";
import { openMemoryStore } from "../../../src/persist/memory/store.js";
import type { StateStore } from "../../../src/persist/store.js";
import { Scenario } from "../../machines/scenario.js";
import { requireOk } from "../../support/results.js";
import { at, IDENTITY } from "../../support/scheduling.js";
import { wordsOf } from "./story.js";
import { clientOn, TestWire } from "./wire.js";

const START = at("2026-03-01T09:30:00Z");
const T10 = "2026-03-01T10:00:00Z";

/** Everything that was put off has been done. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function definitionOf(identity: string, more: Record<string, unknown> = {}): JobDefinition {
  return requireOk(readJobDefinition({ identity, schedule: "0 * * * *", command: ["true"], ...more }));
}

/** The production step under a hub, as the supervisor would drive it. */
class Observed {
  readonly clock = new SimulatedClock({ startAt: START });
  readonly hub = new InspectHub(this.clock);
  readonly job = new Scenario({
    document: { LastHandledPeriodID: "2026-03-01T09:00:00Z" },
    step: (scope, before, event, moment) => {
      const taken = step(scope, before, event, moment);
      const { activation: after, ended } = taken;
      this.hub.stepped(IDENTITY, event, { before, after, ended, definition: definitionOf(IDENTITY) }, moment.now);
      return taken;
    },
  });

  activate(): void {
    this.hub.activated(definitionOf(IDENTITY), this.job.activation, START);
  }

  attach(wire: TestWire, query = ""): InspectClient {
    const client = clientOn(wire, query);
    this.hub.attach(client);
    return client;
  }
}

const words = ({ frames }: TestWire): readonly string[] => frames.map(wordsOf);

describe("who looks on", () => {
  test("hears of what happens after it came, in order, with an actor before what the actor does", async () => {
    const it = new Observed();
    it.activate();
    it.job.wake("2026-03-01T09:30:00Z");
    const wire = new TestWire();
    it.attach(wire);
    it.job.wake(T10);
    await turn();
    expect(words(wire)).toEqual([
      `+ ${IDENTITY} = standing.enabled+record+period.planned+runs.idle < supervisor`,
      `+ ${IDENTITY}@${T10} = planned < ${IDENTITY}`,
      `${IDENTITY} <- WAKE (supervisor)`,
      `+ a1 = arming < ${IDENTITY}@${T10}`,
      `${IDENTITY}@${T10} = eligible.starting`,
      `${IDENTITY} = standing.enabled+record+period.eligible+runs.idle`,
    ]);
  });

  test("a job that rests again is told of, and told of anew when it comes back", async () => {
    const it = new Observed();
    const wire = new TestWire();
    it.attach(wire);
    it.activate();
    it.hub.passivated(IDENTITY, at(T10));
    it.activate();
    await turn();
    expect(words(wire).map((line) => line.slice(0, 2 + IDENTITY.length))).toEqual([
      `+ ${IDENTITY}`,
      `${IDENTITY} =`,
      `+ ${IDENTITY}`,
    ]);
    expect(wire.frames[1]).toMatchObject({
      event: { type: "REST" },
      snapshot: { context: { isResting: true, wakeAt: T10 } },
    });
  });

  test("without clients nothing is made or kept but what lives", () => {
    const it = new Observed();
    it.activate();
    it.job.wake(T10);
    expect([...it.hub.live.keys()]).toEqual([IDENTITY]);
    it.hub.passivated(IDENTITY, null);
    expect(it.hub.live.size).toBe(0);
  });

  test("a client that has gone is told nothing more; what it was not told of is kept, in its order", async () => {
    const it = new Observed();
    const wire = new TestWire();
    const client = it.attach(wire);
    it.activate();
    it.hub.detach(client);
    expect(it.hub.live.size).toBe(1);
    it.hub.passivated(IDENTITY, null);
    await turn();
    expect(wire.frames).toEqual([]);
    expect(it.hub.live.size).toBe(0);
  });

  test.each([
    ["kind=period", ["period"]],
    ["kind=job", ["job"]],
    ["identity=other/*", []],
    ["identity=test/*&kind=execution", ["execution"]],
  ])("?%s", async (query, kinds) => {
    const it = new Observed();
    const wire = new TestWire();
    it.attach(wire, query);
    it.activate();
    it.job.wake(T10);
    await turn();
    const named = wire.frames.map(({ sessionId }) =>
      sessionId === IDENTITY ? "job" : sessionId === "a1" ? "execution" : "period",
    );
    expect([...new Set(named)]).toEqual(kinds);
  });

  test("definitions=once: the first actor of a kind comes with its chart, the others with its name", async () => {
    const it = new Observed();
    const wire = new TestWire();
    it.attach(wire, "definitions=once");
    it.activate();
    it.hub.activated(definitionOf("job/b"), new Scenario().activation, START);
    it.job.wake(T10);
    await turn();
    const charts = wire.frames.flatMap((frame) => (frame.type === "@xstate.actor" ? [[frame.sessionId, frame]] : []));
    const shown = charts.map(([session, frame]) => [
      session,
      (frame as { definition: string }).definition.length > 100,
    ]);
    expect(shown).toEqual([
      [IDENTITY, true],
      ["job/b", false],
      [`${IDENTITY}@${T10}`, true],
      ["a1", true],
    ]);
    expect(wire.frames[1]).toMatchObject({ definition: '{"id":"job"}' });
  });

  test("definitions=none: actors come without their charts", async () => {
    const it = new Observed();
    const [bare, full] = [new TestWire(), new TestWire()];
    it.attach(bare, "definitions=none");
    it.attach(full);
    it.activate();
    await turn();
    expect(bare.frames[0]).not.toHaveProperty("definition");
    expect(full.frames[0]).toHaveProperty("definition");
  });
});

describe("too much", () => {
  test("a slow client: what does not fit is left out, counted, and said when it has caught up", async () => {
    const it = new Observed();
    const [slow, quick] = [new TestWire(), new TestWire()];
    slow.isStalled = true;
    it.attach(slow);
    it.attach(quick);
    it.activate();
    await turn();
    slow.bufferedAmount += CLIENT_LIMITS.waitingBytes;
    it.job.wake("2026-03-01T09:30:00Z");
    it.job.wake(T10);
    await turn();
    const missed = quick.frames.length - slow.frames.length;
    expect(missed).toBe(7);
    slow.bufferedAmount -= CLIENT_LIMITS.waitingBytes;
    slow.isStalled = false;
    slow.take();
    expect(slow.events("FRAMES_LEFT_OUT")).toMatchObject([{ sessionId: "inspector", event: { frames: missed } }]);
    it.job.ready(T10, "a1");
    await turn();
    expect(slow.frames.at(-1)).toEqual(quick.frames.at(-1));
  });

  test("more happens than can be told: it is skipped at once and counted; what lives is right all the same", async () => {
    const it = new Observed();
    const wire = new TestWire();
    it.attach(wire);
    it.activate();
    for (let count = 0; count < HUB_LIMITS.waiting; count += 1) it.hub.passivated("other", null);
    it.job.wake(T10);
    await turn();
    it.clock.advance(HUB_LIMITS.pauseMs);
    expect(wire.events("FRAMES_LEFT_OUT")).toMatchObject([{ event: { frames: HUB_LIMITS.waiting } }]);
    expect(it.hub.live.get(IDENTITY)?.activation).toBe(it.job.activation);
    expect(words(wire).filter((line) => line.startsWith("+ a1"))).toHaveLength(1);
  });

  test("frames are made in slices, with the loop free in between", async () => {
    const clock = new TickingClock({ startAt: START });
    const hub = new InspectHub(clock);
    const wire = new TestWire();
    hub.attach(clientOn(wire));
    const { activation } = new Scenario();
    for (let count = 0; count < 20; count += 1) hub.activated(definitionOf(`job/${count}`), activation, START);
    await turn();
    const first = wire.frames.length;
    expect(first).toBeLessThanOrEqual(HUB_LIMITS.sliceMs);
    clock.advance(HUB_LIMITS.pauseMs);
    expect(wire.frames.length).toBeGreaterThan(first);
    hub.flush(1_000);
    expect(wire.frames.length).toBe(20);
  });
});

describe("while very much happens at once", () => {
  const BURST = HUB_LIMITS.burst + 1;

  function watched() {
    const clock = new SimulatedClock({ startAt: START });
    const hub = new InspectHub(clock);
    const wire = new TestWire();
    hub.attach(clientOn(wire));
    const { activation } = new Scenario();
    let count = 0;
    const happen = (times: number): void => {
      for (let more = times; more > 0; more -= 1) {
        count += 1;
        hub.activated(definitionOf(`job/${count}`), activation, START);
      }
    };
    return { clock, wire, happen };
  }

  test("frames are made when it is over, and all of them", async () => {
    const { clock, wire, happen } = watched();
    happen(BURST);
    await turn();
    expect(wire.frames).toHaveLength(0);
    happen(BURST);
    clock.advance(HUB_LIMITS.pauseMs);
    expect(wire.frames).toHaveLength(0);
    clock.advance(HUB_LIMITS.pauseMs);
    expect(wire.frames).toHaveLength(2 * BURST);
  });

  test("without an end they are made all the same, a second later", async () => {
    const { clock, wire, happen } = watched();
    happen(BURST);
    await turn();
    for (let ms = 0; ms < HUB_LIMITS.giveWayMs - HUB_LIMITS.pauseMs; ms += HUB_LIMITS.pauseMs) {
      happen(BURST);
      clock.advance(HUB_LIMITS.pauseMs);
      expect(wire.frames).toHaveLength(0);
    }
    happen(BURST);
    clock.advance(2 * HUB_LIMITS.pauseMs);
    expect(wire.frames.length).toBeGreaterThan(0);
  });
});

/** Each look at it takes a millisecond. */
class TickingClock extends SimulatedClock {
  #looks = 0;

  override monotonicMs(): number {
    this.#looks += 1;
    return super.monotonicMs() + this.#looks;
  }
}

describe("what a client is told when it comes", () => {
  const open: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of open.splice(0)) await close();
  });

  async function storeWith(definitions: readonly JobDefinition[], damaged?: string): Promise<StateStore> {
    const disk = new MemoryDisk("inspect");
    const term = requireOk(acquireMemoryLock(disk, disk.storeId));
    const store = requireOk(openMemoryStore(term, disk));
    open.push(async () => {
      await store.close();
      term.release();
    });
    const { document } = new Scenario({
      document: { LastHandledPeriodID: T10, LastNominalTime: T10, LastOutcome: "missed" },
    });
    await store.commit(term, {
      definitions: definitions.map((it) => ({
        identity: it.identity,
        definedAt: START,
        text: canonicalDefinitionText(it),
      })),
      documents: definitions.map(({ identity }) => {
        const text = damaged ?? serialiseDocument({ ...document, Identity: identity });
        return { key: documentKey(identity), text };
      }),
    });
    return store;
  }

  async function listed(
    query: string,
    definitions: readonly JobDefinition[],
    before?: (hub: InspectHub) => void,
    damaged?: string,
  ) {
    const [clock, wire] = [new SimulatedClock({ startAt: START }), new TestWire()];
    const hub = new InspectHub(clock);
    before?.(hub);
    const client = clientOn(wire, query);
    hub.attach(client);
    await new Listing({ clock, hub, store: await storeWith(definitions, damaged) }, client).run();
    return wire;
  }

  const jobs = (wire: TestWire): readonly string[] => {
    return wire.frames
      .filter(({ sessionId }) => sessionId !== "inspector")
      .map(({ sessionId }) => sessionId)
      .sort();
  };

  test("one frame for each resting job, from its document and its definition", async () => {
    const wire = await listed("", [definitionOf("job/a", { policy: { suspend: true } }), definitionOf("job/b")]);
    expect(jobs(wire)).toEqual(["job/a", "job/b"]);
    expect(wire.frames.find(({ sessionId }) => sessionId === "job/a")).toMatchObject({
      type: "@xstate.actor",
      parentId: "supervisor",
      snapshot: {
        status: "active",
        value: { standing: "suspended", period: "none", runs: "idle" },
        context: { isResting: true, definition: { schedule: "0 * * * *" }, document: { LastOutcome: "missed" } },
      },
    });
    expect(wire.events("LISTED")).toMatchObject([{ event: { live: 0, resting: 2, isComplete: true } }]);
  });

  test("a job that lives is told of as it is, and not as one that rests", async () => {
    const scenario = new Scenario();
    scenario.wake("2026-03-01T09:30:00Z");
    const wire = await listed("", [definitionOf("job/a"), definitionOf("job/b")], (hub) => {
      hub.activated(definitionOf("job/a"), scenario.activation, START);
    });
    expect(jobs(wire).filter((name) => name === "job/a")).toHaveLength(1);
    expect(wire.frames.find(({ sessionId }) => sessionId === "job/a")).toMatchObject({
      snapshot: { context: { isResting: false } },
    });
    expect(wire.events("LISTED")).toMatchObject([{ event: { live: 1, resting: 1 } }]);
  });

  test("jobs that live count for no limit of those that rest", async () => {
    const definitions = Array.from({ length: 9 }, (_, nth) => definitionOf(`job/${nth}`));
    const wire = await listed("resting=1", definitions, (hub) => {
      for (const definition of definitions.slice(1)) hub.activated(definition, new Scenario().activation, START);
    });
    expect(wire.events("LISTED")).toMatchObject([{ event: { live: 8, resting: 1, isComplete: true } }]);
  });

  test("S16: of a job that lives, the definition that came into force last is shown", async () => {
    const scenario = new Scenario();
    const changed = definitionOf(IDENTITY, { schedule: "5 * * * *" });
    const wire = await listed("", [], (hub) => {
      hub.activated(definitionOf(IDENTITY), scenario.activation, START);
      const [before, after] = [scenario.activation, scenario.activation];
      const told = { type: "DEFINE", hash: "h", carriedAt: null } as const;
      hub.stepped(IDENTITY, told, { before, after, ended: { attempts: [], periods: [] }, definition: changed }, START);
    });
    expect(wire.frames.find(({ sessionId }) => sessionId === IDENTITY)).toMatchObject({
      snapshot: { context: { definition: { schedule: "5 * * * *" } } },
    });
  });

  test.each([
    ["resting=1", 1, false],
    ["resting=2", 2, true],
    ["resting=all", 2, true],
    ["identity=job/b", 1, true],
    ["identity=nothing", 0, true],
    ["resting=none", 0, true],
    ["kind=execution", 0, true],
  ])("?%s: %d of two, complete: %s", async (query, resting, isComplete) => {
    const wire = await listed(query, [definitionOf("job/a"), definitionOf("job/b")]);
    expect(wire.events("LISTED")).toMatchObject([{ event: { resting, isComplete } }]);
    expect(jobs(wire)).toHaveLength(resting);
  });

  test("S32: a job whose document cannot be read is shown as that, and hides no other", async () => {
    const wire = await listed("", [definitionOf("job/a"), definitionOf("job/b")], undefined, "{");
    expect(jobs(wire)).toEqual(["job/a", "job/b"]);
    expect(wire.frames[0]).toMatchObject({
      snapshot: { status: "error", error: "the state document cannot be read", context: { document: null } },
    });
  });

  test("waits for a client that takes nothing, and ends when it goes", async () => {
    const clock = new SimulatedClock({ startAt: START });
    const [hub, wire] = [new InspectHub(clock), new TestWire()];
    wire.isStalled = true;
    const client = clientOn(wire, "resting=all");
    hub.attach(client);
    const all = Array.from({ length: 500 }, (_, index) => definitionOf(`job/${index}`));
    const listing = new Listing({ clock, hub, store: await storeWith(all) }, client).run();
    await turn();
    const sent = wire.frames.length;
    expect(sent).toBeLessThan(500);
    expect(wire.bufferedAmount).toBeLessThan(2 * CLIENT_LIMITS.caughtUpBytes);
    await turn();
    expect(wire.frames.length).toBe(sent);
    wire.take();
    await turn();
    expect(wire.frames.length).toBeGreaterThan(sent);
    hub.detach(client);
    await listing;
  });
});
