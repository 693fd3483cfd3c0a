/** C14, C15: runs whose jobs another node looks after, on pretended nodes. */
import { describe, expect, test } from "vitest";
import { createSupervisor } from "../../../src/actors/supervisor/supervisor-actor.js";
import type { SupervisorEvent } from "../../../src/actors/supervisor/write/events.js";
import { SETTINGS_DEFAULTS } from "../../../src/core/config/settings.js";
import type { HistoryEntry } from "../../../src/core/state/document.js";
import { closeLeftRuns } from "../../../src/krond/boot/left-runs.js";
import { acquireMemoryLock } from "../../../src/persist/lock.js";
import { openMemoryStore } from "../../../src/persist/memory/store.js";
import { requireOk } from "../../support/results.js";
import { job, webhook } from "../supervisor/world.js";
import { Nodes, type NodesOptions } from "./nodes-world.js";

const EVERY_MINUTE = "* * * * *";
/** Every job but these is done at once. */
const LONG = { behaviour: () => ({ runMs: 90_000, exitCode: 7 }) };
const FOREVER = { behaviour: () => ({ runMs: null }) };

async function twoNodes(options: NodesOptions): Promise<Nodes> {
  const world = new Nodes(["one", "two"], options);
  for (const node of world.nodes) await node.join();
  await world.second();
  return world;
}

function errors(events: readonly SupervisorEvent[]): string[] {
  return events.filter(({ event }) => event === "error").map(({ error }) => String(error?.message));
}

/** Of the run of the first minute: what the history says of it. */
function firstRun(world: Nodes): HistoryEntry | undefined {
  return world.document("a").History.find(({ PeriodID }) => PeriodID === "2026-03-01T00:01:00Z");
}

const forbid = job("a", EVERY_MINUTE, { policy: { concurrency: "forbid" } });

describe("C14: a run whose shard has gone to another node", () => {
  test("goes on, is seen to its end by its node, and its exit code is put on record by the other", async () => {
    const world = await twoNodes({ jobs: [forbid], ...LONG });
    await world.pass(61);
    await world.move("two");
    await world.pass(30);
    expect(world.document("a").ActiveExecution).toMatchObject({ Node: "one", AttemptID: "one-1" });
    expect(world.holding.supervisor?.elsewhere()).toEqual([{ node: "one", identity: "a", attemptId: "one-1" }]);
    await world.pass(62);
    expect(world.document("a").ActiveExecution).toBeNull();
    expect(firstRun(world)).toMatchObject({ Outcome: "executed", ExitCode: 7 });
    expect(world.told).toEqual([{ from: "one", attemptId: "one-1", answer: "taken" }]);
    expect(world.node("one").keeper?.runs).toEqual([]);
  });

  test("holds back what forbids another one beside it, and what comes after its end runs on the new node", async () => {
    const world = await twoNodes({ jobs: [forbid], ...LONG });
    await world.pass(61);
    await world.move("two");
    await world.pass(140);
    expect(world.starts("a")).toEqual(["00:01:00 one", "00:03:00 two"]);
    expect(world.document("a").History.map(({ Outcome }) => Outcome)).toEqual(["skipped", "executed"]);
  });

  test("comes back with its exit code when the shard comes back before its end, and after it", async () => {
    for (const away of [10, 70]) {
      const world = await twoNodes({ jobs: [forbid], ...LONG });
      await world.pass(61);
      await world.node("one").giveUp();
      for (const node of world.nodes) node.isWilling = false;
      await world.pass(away === 10 ? 10 : 100);
      expect(world.node("one").keeper?.runs.length).toBe(1);
      await world.node("one").hold();
      await world.pass(away === 10 ? 85 : 1);
      expect(firstRun(world)).toMatchObject({ ExitCode: 7 });
      expect(world.node("one").keeper?.runs).toEqual([]);
    }
  });

  test("an end that nobody takes is told again until somebody does, also when its taker died before it answered", async () => {
    const world = await twoNodes({ jobs: [forbid], ...LONG });
    await world.pass(61);
    await world.move("two");
    world.isDeaf = ({ name }) => name === "two";
    await world.pass(95);
    expect(world.document("a").ActiveExecution).not.toBeNull();
    expect(world.told.length).toBeGreaterThan(2);
    world.isDeaf = () => false;
    await world.pass(11);
    expect(world.document("a").History.filter(({ ExitCode }) => ExitCode === 7)).toHaveLength(1);
    expect(world.told.filter(({ answer }) => answer === "taken")).toHaveLength(1);
  });

  test("an end that is told a second time changes nothing", async () => {
    const world = await twoNodes({ jobs: [forbid], ...LONG });
    await world.pass(61);
    await world.move("two");
    const end = {
      attemptId: "one-1",
      ending: { kind: "exited", code: 3, signal: null, reason: null },
      hasBegun: true,
    } as const;
    const answers = [world.tell(world.node("one"), "a", end), world.tell(world.node("one"), "a", end)];
    expect(await Promise.all(answers)).toEqual(["taken", "taken"]);
    await world.pass(1);
    expect(await world.tell(world.node("one"), "a", { ...end, ending: { ...end.ending, code: 4 } })).toBe("taken");
    expect(world.document("a").History).toMatchObject([{ ExitCode: 3 }]);
  });

  test("an end told to whoever does not have the job is not taken", async () => {
    const world = await twoNodes({ jobs: [forbid], ...FOREVER });
    await world.pass(61);
    const { supervisor } = world.node("one");
    await world.move("two");
    const end = { attemptId: "one-1", ending: { kind: "unseen", reason: "exit_unseen" }, hasBegun: true } as const;
    expect(await supervisor?.ended("a", end)).toBe("unknown");
    expect(await world.tell(world.node("one"), "b", end)).toBe("taken");
  });

  test("a run of the node itself is not ended from outside", async () => {
    const world = await twoNodes({ jobs: [forbid], ...FOREVER });
    await world.pass(61);
    const end = { attemptId: "one-1", ending: { kind: "unseen", reason: "exit_unseen" }, hasBegun: true } as const;
    expect(await world.tell(world.node("two"), "a", end)).toBe("taken");
    expect(world.document("a").ActiveExecution).not.toBeNull();
  });
});

test("a graceful stop waits for what runs here, and not for runs on other nodes", async () => {
  const world = await twoNodes({ jobs: [job("a", "1 * * * *"), job("b", "2 * * * *")], ...LONG });
  await world.pass(61);
  await world.move("two");
  await world.pass(61);
  let isOver = false;
  void world.holding.supervisor?.stop({ graceful: true }).then(() => {
    isOver = true;
  });
  await world.pass(40);
  expect([isOver, world.document("a").ActiveExecution, world.document("b").ActiveExecution?.Node]).toEqual([
    false,
    null,
    "two",
  ]);
  await world.pass(60);
  expect([isOver, world.document("b").ActiveExecution]).toEqual([true, null]);
});

test("a graceful stop does not wait for a run on another node that goes on for ever", async () => {
  const world = await twoNodes({ jobs: [job("a", "1 * * * *")], ...FOREVER });
  await world.pass(61);
  await world.move("two");
  await world.holding.supervisor?.stop({ graceful: true });
  expect(world.document("a").ActiveExecution?.Node).toBe("one");
});

describe("C14: ended from elsewhere", () => {
  test.each([
    ["a timeout", { command: ["/bin/true"], timeout: "30s" }, "timeout"],
    ["cancel", {}, "cancelled"],
  ] as const)("%s ends it on its node, once", async (_, more, reason) => {
    const world = await twoNodes({ jobs: [job("a", "1 * * * *", more)], ...FOREVER });
    await world.pass(61);
    await world.move("two");
    if (reason === "cancelled") expect(await world.holding.supervisor?.cancel("a")).toBe(1);
    await world.pass(40);
    expect(world.node("one").host.running).toEqual([]);
    expect(world.document("a").History).toMatchObject([{ Outcome: "executed", Signal: "SIGTERM", Reason: reason }]);
    expect(world.document("a").ActiveExecution).toBeNull();
  });

  test("replace ends it there, and only then begins here", async () => {
    const world = await twoNodes({
      jobs: [job("a", EVERY_MINUTE, { policy: { concurrency: "replace" } })],
      ...FOREVER,
    });
    await world.pass(61);
    await world.move("two");
    await world.pass(60);
    expect(world.starts("a")).toEqual(["00:01:00 one", "00:02:00 two"]);
    expect(world.node("one").host.running).toEqual([]);
    expect(world.document("a").History).toMatchObject([{ Reason: "replaced" }]);
  });

  test("a node that cannot be asked keeps its run, which is said; when it is back it is asked again", async () => {
    const world = await twoNodes({ jobs: [job("a", "1 * * * *")], ...FOREVER });
    await world.pass(61);
    await world.move("two");
    world.isDeaf = ({ name }) => name === "one";
    await world.holding.supervisor?.cancel("a");
    await world.pass(5);
    expect(errors(world.events)[0]).toContain("it runs on the node one and has not ended there");
    expect(world.document("a").ActiveExecution).not.toBeNull();
    world.isDeaf = () => false;
    await world.pass(3);
    expect(world.document("a").History).toMatchObject([{ Reason: "cancelled" }]);
    expect(world.holding.supervisor?.status().active).toBe(0);
  });
});

describe("C14: the node that runs it dies", () => {
  test("and comes back in time: it watches what goes on, and says that nobody saw its end", async () => {
    const world = await twoNodes({ jobs: [forbid], ...LONG });
    await world.pass(61);
    await world.move("two");
    world.node("one").kill();
    await world.pass(15);
    await world.node("one").join();
    expect(world.node("one").keeper?.runs).toMatchObject([{ identity: "a", attemptId: "one-1", hasBegun: true }]);
    await world.pass(80);
    expect(firstRun(world)).toMatchObject({ ExitCode: null, Reason: "exit_unseen" });
  });

  test("and finds nothing when it is back: what was confirmed has ended unseen", async () => {
    const world = await twoNodes({ jobs: [forbid], behaviour: () => ({ runMs: 20_000 }) });
    await world.pass(61);
    await world.move("two");
    world.node("one").kill();
    await world.pass(25);
    await world.node("one").join();
    await world.pass(2);
    expect(world.document("a").History).toMatchObject([{ ExitCode: null, Reason: "exit_unseen" }]);
    expect(world.starts("a")).toEqual(["00:01:00 one"]);
  });

  test("in another boot nothing of it is left, which is known as soon as it is back", async () => {
    const world = await twoNodes({ jobs: [forbid], ...FOREVER });
    await world.pass(61);
    await world.move("two");
    world.node("one").reboot();
    await world.pass(12);
    await world.node("one").join();
    await world.pass(2);
    expect(world.document("a").ActiveExecution).toBeNull();
    expect(["exit_unseen", "node_lost"]).toContain(world.document("a").History.at(0)?.Reason);
  });
});

describe("C15: the node never comes back", () => {
  test.each([
    ["with a timeout, when that and the kill grace are over", { timeout: "60s" }, 60 + 10],
    ["without one, after an hour", {}, 3_600],
  ] as const)("%s: closed, and never started again", async (_, more, lostAfterS) => {
    const once = job("a", "1 0 * * *", { ...more, policy: { concurrency: "forbid" } });
    const world = await twoNodes({ jobs: [once], ...FOREVER });
    await world.pass(61);
    await world.move("two");
    world.node("one").kill();
    await world.pass(10);
    const sinceS = 12;
    await world.pass(lostAfterS - sinceS);
    expect(world.document("a").ActiveExecution).not.toBeNull();
    await world.pass(2 * sinceS);
    const { ActiveExecution, History } = world.document("a");
    expect([ActiveExecution, History]).toMatchObject([null, [{ Outcome: "executed", ExitCode: null }]]);
    expect(world.starts("a")).toEqual(["00:01:00 one"]);
    expect(world.holding.supervisor?.status().active).toBe(0);
  });

  test("forbid lets the next one through, and why names the reason", async () => {
    const world = await twoNodes({
      jobs: [job("a", EVERY_MINUTE, { timeout: "25s", policy: { concurrency: "forbid" } })],
      ...FOREVER,
    });
    await world.pass(61);
    await world.node("one").giveUp();
    world.node("one").kill();
    await world.pass(120);
    expect(firstRun(world)).toMatchObject({ ExitCode: null, Reason: "node_lost" });
    expect(world.starts("a").slice(1, 2)).toEqual(["00:02:00 two"]);
    expect(world.events.filter(({ event }) => event === "node_lost")).toMatchObject([
      { identity: "a", fields: { node: "one" } },
    ]);
  });

  test("a request has ended with its node, and is closed when its lease is over", async () => {
    const world = await twoNodes({ jobs: [webhook("a", "1 * * * *")], answer: () => ({ answerMs: null }) });
    await world.pass(61);
    world.node("one").kill();
    await world.pass(16);
    expect(world.document("a").History).toMatchObject([
      { Outcome: "executed", Reason: "node_lost", Holder: "request" },
    ]);
    expect(world.begun).toHaveLength(1);
  });

  test("forgotten by its operator: at once", async () => {
    const world = await twoNodes({ jobs: [forbid], ...FOREVER });
    await world.pass(61);
    world.node("one").kill();
    await world.pass(12);
    world.forgotten.add("one");
    await world.pass(2);
    expect(world.document("a").History.at(-1)).toMatchObject({ ExitCode: null, Reason: "node_lost" });
  });

  test.each([
    ["is not tried again", ["exit"], 1],
    ["is tried again where the job names what nobody saw", ["unseen"], 2],
  ] as const)("S43: what was lost %s", async (_, on, runs) => {
    const again = job("a", "1 0 * * *", { retry: { limit: 1, backoff: "5s", on } });
    const world = await twoNodes({ jobs: [again], ...FOREVER });
    await world.pass(61);
    world.node("one").kill();
    await world.pass(12);
    world.forgotten.add("one");
    await world.pass(20);
    expect(world.begun).toHaveLength(runs);
  });

  test("one that was told to end and could not be asked is over as well", async () => {
    const world = await twoNodes({
      jobs: [job("a", EVERY_MINUTE, { policy: { concurrency: "replace", deadline: "30s" } })],
      ...FOREVER,
    });
    await world.pass(61);
    world.node("one").kill();
    await world.pass(65);
    expect(world.starts("a")).toEqual(["00:01:00 one"]);
    world.forgotten.add("one");
    await world.pass(10);
    expect(world.starts("a")).toEqual(["00:01:00 one", expect.stringMatching(/^00:02:1\d two$/)]);
  });
});

describe("a daemon that is alone after nodes", () => {
  /** It has no name, on this machine. */
  async function aloneOn(world: Nodes, name: string, bootId: string) {
    for (const node of world.nodes) node.kill();
    let ids = 0;
    const { host } = world.node(name);
    const term = requireOk(acquireMemoryLock({}));
    const supervisor = createSupervisor({
      ...{ clock: world.clock, store: requireOk(openMemoryStore(term, world.disk)), term, runner: host.launcher() },
      copies: { isKept: () => false, keep: (key) => `${key}.corrupt` },
      bootId,
      versions: { tzVersion: "test", engineVersion: "test" },
      outputDirectory: "/nowhere",
      baseEnv: {},
      newId: () => `alone-${++ids}`,
      onEvent: () => undefined,
    });
    await supervisor.start("as-stored", SETTINGS_DEFAULTS);
    closeLeftRuns(world.clock, supervisor, (error) => expect.fail(String(error)));
    return supervisor;
  }

  async function pass(world: Nodes, seconds: number): Promise<void> {
    for (let passed = 0; passed < seconds; passed++) {
      world.clock.advance(1_000);
      await world.rest();
    }
  }

  test("watches what a node has begun on its machine", async () => {
    const world = await twoNodes({ jobs: [forbid], ...LONG });
    await world.pass(61);
    const alone = await aloneOn(world, "one", world.node("one").host.bootId);
    expect(alone.elsewhere()).toEqual([]);
    await pass(world, 95);
    expect(firstRun(world)).toMatchObject({ Outcome: "executed" });
  });

  test("closes what a node has begun on another machine when its time is over, and not before", async () => {
    const timed = job("a", EVERY_MINUTE, { command: ["/bin/true"], timeout: "5m", policy: { concurrency: "forbid" } });
    const world = await twoNodes({ jobs: [timed], ...FOREVER });
    await world.pass(61);
    const alone = await aloneOn(world, "two", "another boot");
    expect(alone.elsewhere().map(({ node }) => node)).toEqual(["one"]);
    await pass(world, 240);
    expect([firstRun(world), world.starts("a").length]).toEqual([undefined, 1]);
    await pass(world, 180);
    expect(firstRun(world)).toMatchObject({ Reason: "node_lost" });
    expect(world.starts("a")[1]).toMatch(/two$/);
  });
});
