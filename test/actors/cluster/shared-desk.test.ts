/** AE-34: workers at any of several nodes: each run is given to one of them, once, and those of no node are forgotten. */
import { describe, expect, test } from "vitest";
import type { Command } from "../../../src/actors/cluster/commands.js";
import type { Neighbours } from "../../../src/actors/cluster/neighbours.js";
import { SharedDesk } from "../../../src/actors/cluster/shared-desk.js";
import type { WorkHere } from "../../../src/actors/cluster/work-letters.js";
import { SimulatedClock } from "../../../src/actors/simulated-clock.js";
import { WAITING_WORKERS, WorkerDesk } from "../../../src/actors/workers/desk.js";
import type { Work } from "../../../src/actors/workers/work.js";
import { err } from "../../../src/core/base/result.js";
import { SETTINGS_DEFAULTS } from "../../../src/core/config/settings.js";
import type { HttpTarget } from "../../../src/core/job/definition.js";
import { readJobDefinition } from "../../../src/core/job/schema.js";
import { SECOND_MS } from "../../../src/core/time/instant.js";
import type { NodeFacts } from "../../../src/persist/cluster.js";
import { requireOk } from "../../support/results.js";
import { randomFrom } from "../../torture/random.js";

const TENANT = "acme";
const TIMEOUT_MS = 20_000;
const STEP_MS = 10;
const DONE = { kind: "answered", status: 200, bytes: 0, excerpt: null } as const;

interface Node {
  readonly name: string;
  readonly desk: WorkerDesk;
  readonly shared: SharedDesk;
}

interface Letters {
  /** How long it is on its way, there and back. */
  latencyMs(): number;
  /** Its answer never comes, although it was read. */
  isLost(): boolean;
  /** Back alone. */
  readonly backMs?: number;
}

const QUICK: Letters = { latencyMs: () => 100, isLost: () => false };

class World {
  readonly clock = new SimulatedClock({ startAt: Date.UTC(2026, 10, 19, 12) });
  readonly nodes: Node[];
  readonly ends = new Map<string, string>();
  letters = QUICK;
  asked = 0;
  /** Nodes that cannot be asked. */
  readonly failing = new Set<string>();
  failures = 0;
  #target: HttpTarget;

  constructor(names: readonly string[]) {
    const http = { url: "https://hooks.test/", by: "worker", timeout: `${TIMEOUT_MS}ms` };
    const definition = requireOk(readJobDefinition({ identity: "t/web", schedule: "* * * * *", http }));
    this.#target = definition.target as HttpTarget;
    this.nodes = names.map((name) => this.#node(name));
  }

  node(name: string): Node {
    const found = this.nodes.find((node) => node.name === name);
    if (found === undefined) throw new Error("no such node");
    return found;
  }

  /** A run that becomes due at this node. */
  async due(name: string, attemptId: string): Promise<void> {
    const { desk } = this.node(name);
    const identity = `endpoint:${TENANT}/job_0000000000000000/ep_0000000000000000`;
    const about = { kind: "request", identity, periodId: "p", scheduledFor: "p", attemptId } as const;
    const armed = requireOk(await desk.arm({ ...about, target: this.#target, settings: SETTINGS_DEFAULTS.http }));
    expect(await desk.go(armed, this.clock.now() + TIMEOUT_MS)).toBe("started");
  }

  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= STEP_MS) {
      this.clock.advance(STEP_MS);
      for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async after<T>(ms: number, act: () => T | Promise<T>): Promise<T> {
    await new Promise<void>((resolve) => this.clock.after(ms, resolve));
    return act();
  }

  #node(name: string): Node {
    const { clock } = this;
    const desk = new WorkerDesk({ clock, unseal: () => err("none"), pid: 1 });
    desk.subscribe((event) => {
      if (event.kind === "ended")
        this.ends.set(event.attemptId, "reason" in event.ending ? `${event.ending.reason}` : "");
    });
    const neighbours: Pick<Neighbours, "others" | "ask"> = {
      others: async () => this.nodes.filter((node) => node.name !== name).map((it) => factsOf(it.name)),
      ask: async <Input, Output>(
        to: { readonly node: string },
        { run }: Command<{ readonly work: WorkHere }, Input, Output>,
        input: Input,
        withinMs: number,
      ) => {
        this.asked += 1;
        if (this.failing.has(to.node)) throw new Error("the server is away");
        const [there, isLost] = [this.letters.latencyMs(), this.letters.isLost()];
        const back = this.letters.backMs ?? this.letters.latencyMs();
        const here = this.nodes.find((node) => node.name === to.node);
        if (here === undefined) return this.after(withinMs, () => null);
        const answer = await this.after(there, () => run({ work: here.shared.here }, input));
        return this.after(isLost ? withinMs - there : back, () => (isLost ? null : answer));
      },
    };
    const onFailure = (): void => {
      this.failures += 1;
    };
    const ports = { desk, member: { node: name }, neighbours: () => neighbours, time: clock, clock, onFailure };
    return { name, desk, shared: new SharedDesk(ports) };
  }
}

function factsOf(name: string): NodeFacts {
  return { session: `s-${name}`, node: name } as NodeFacts;
}

/** What it has got by now; null: nothing was said yet. */
function heard<T>(asked: Promise<T>): () => T | null {
  let said: T | null = null;
  void asked.then((value) => {
    said = value;
  });
  return () => said;
}

const idsOf = (works: readonly Work[] | null): readonly string[] => (works ?? []).map(({ claimId }) => claimId).sort();

describe("a worker at one node", () => {
  test("is given at once what lies there, and soon what lies elsewhere; it says at any node how it ended", async () => {
    const world = new World(["one", "two", "three"]);
    const [one, two, three] = world.nodes as [Node, Node, Node];
    const waiting = heard(one.shared.take(TENANT, 10, 20_000));
    await world.pass(2_000);
    expect(waiting()).toBeNull();
    await world.due("two", "a");
    await world.pass(1_000);
    expect(idsOf(waiting())).toEqual(["a@two"]);
    await world.due("one", "b");
    expect(idsOf(await one.shared.take(TENANT, 10, 20_000))).toEqual(["b@one"]);
    const said = heard(three.shared.complete(TENANT, "a@two", DONE));
    await world.pass(SECOND_MS);
    expect([said(), world.ends.get("a")]).toEqual([true, "null"]);
    const again = heard(two.shared.complete(TENANT, "a@two", DONE));
    const others = heard(three.shared.complete("evil", "b@one", DONE));
    const nobodys = heard(three.shared.complete(TENANT, "b@four", DONE));
    const nameless = heard(three.shared.complete(TENANT, "b", DONE));
    await world.pass(SECOND_MS);
    expect([again(), others(), nobodys(), nameless()]).toEqual([false, false, false, false]);
    expect(world.ends.has("b")).toBe(false);
  });

  test("is given some of each node, however much lies where it is, and never more than it takes", async () => {
    const world = new World(["one", "two", "three"]);
    const { shared } = world.node("one");
    await shared.take(TENANT, 1, 0);
    for (const { name } of world.nodes) for (let n = 0; n < 20; n += 1) await world.due(name, `${name}-${n}`);
    await world.pass(2_000);
    const taken: string[] = [];
    for (const limit of [1, 1, 1, 6, 7]) {
      const some = heard(shared.take(TENANT, limit, 0));
      await world.pass(500);
      expect(some()).toHaveLength(limit);
      taken.push(...idsOf(some()));
    }
    expect(new Set(taken).size).toBe(16);
    for (const { name } of world.nodes) expect(taken.filter((id) => id.endsWith(`@${name}`)).length).toBeGreaterThan(3);
  });

  test("waits for a second for what another node hands out; what comes later lies there again", async () => {
    const world = new World(["one", "two"]);
    const { shared } = world.node("one");
    const first = heard(shared.take(TENANT, 5, 20_000));
    await world.pass(1_500);
    // The letter that waits there is answered in time; what the next one takes is long on its way back.
    world.letters = { latencyMs: () => 0, isLost: () => false, backMs: 3_000 };
    await world.due("two", "a");
    await world.pass(300);
    world.letters = QUICK;
    expect([first(), world.node("two").desk.hasWork(TENANT)]).toEqual([null, false]);
    // What lies here is kept waiting no longer.
    await world.due("one", "b");
    await world.pass(900);
    expect(idsOf(first())).toEqual(["b@one"]);
    await world.pass(3_000);
    const next = heard(world.node("two").shared.take(TENANT, 5, 0));
    await world.pass(100);
    expect(idsOf(next())).toEqual(["a@two"]);
    expect(world.ends.size).toBe(0);
  });

  test("is handed nothing by a letter that is read too late", async () => {
    const world = new World(["one", "two"]);
    const { here } = world.node("two").shared;
    await world.due("two", "a");
    const asked = { tenant: TENANT, limit: 5, bytes: 1_000_000, latestAt: world.clock.now() };
    await world.pass(STEP_MS);
    expect(here.takeWork(asked)).toEqual({ works: [], isMore: true });
    expect(idsOf(here.takeWork({ ...asked, latestAt: world.clock.now() }).works)).toEqual(["a"]);
  });

  test("S20: is given nothing that was laid back too late to begin", async () => {
    const world = new World(["one"]);
    const { desk, shared } = world.node("one");
    await world.due("one", "a");
    await world.due("one", "b");
    expect(idsOf(desk.takeNow(TENANT, 2))).toEqual(["a", "b"]);
    desk.layBack("evil", ["a"]);
    desk.layBack(TENANT, ["a"]);
    expect(idsOf(desk.takeNow(TENANT, 2))).toEqual(["a"]);
    const waiting = heard(shared.take(TENANT, 2, TIMEOUT_MS + 5_000));
    world.clock.jump(TIMEOUT_MS + SECOND_MS);
    desk.layBack(TENANT, ["b"]);
    await world.pass(100);
    expect([waiting(), world.ends.get("b")]).toEqual([null, "worker-absent"]);
  });

  test("that goes while it is being given something elsewhere leaves it to the next one", async () => {
    const world = new World(["one", "two"]);
    const gone = new AbortController();
    const waiting = heard(world.node("one").shared.take(TENANT, 5, 20_000, gone.signal));
    await world.pass(1_500);
    await world.due("two", "a");
    // Taken there, and on its way.
    for (let ms = 0; world.node("two").desk.hasWork(TENANT) && ms < 5_000; ms += STEP_MS) await world.pass(STEP_MS);
    const next = heard(world.node("one").shared.take(TENANT, 5, 10_000));
    gone.abort();
    await world.pass(3_000);
    expect([waiting(), idsOf(next()), world.ends.size]).toEqual([[], ["a@two"], 0]);
    expect(await world.node("one").shared.take(TENANT, 5, 10_000, AbortSignal.abort())).toEqual([]);
  });

  test("loses nothing when another node cannot be asked", async () => {
    const world = new World(["one", "two", "three"]);
    const { shared } = world.node("one");
    const first = heard(shared.take(TENANT, 1, 0));
    await world.pass(1_500);
    expect(first()).toEqual([]);
    await world.due("two", "a");
    await world.due("three", "b");
    await world.pass(500);
    world.failing.add("three");
    const taken = heard(shared.take(TENANT, 4, 0));
    await world.pass(500);
    expect([idsOf(taken()), world.failures]).toEqual([["a@two"], 1]);
    expect(world.node("three").desk.hasWork(TENANT)).toBe(true);
  });
});

test("a node that leaves loses nothing that was on its way to it, and takes nothing more from others", async () => {
  const world = new World(["one", "two"]);
  const { desk, shared } = world.node("one");
  const first = heard(shared.take(TENANT, 5, 20_000));
  await world.pass(1_500);
  await world.due("two", "a");
  for (let ms = 0; world.node("two").desk.hasWork(TENANT) && ms < 5_000; ms += STEP_MS) await world.pass(STEP_MS);
  const left = heard(shared.leaveOthers().then(() => true));
  await world.pass(STEP_MS);
  expect(left()).toBeNull();
  await world.pass(300);
  expect([left(), idsOf(first())]).toEqual([true, ["a@two"]]);
  // What lies here is given out all the same, and how it ended is said.
  await world.due("two", "b");
  await world.due("one", "c");
  const last = heard(shared.take(TENANT, 5, 3_000));
  await world.pass(4_000);
  expect([idsOf(last()), world.node("two").desk.hasWork(TENANT)]).toEqual([["c@one"], true]);
  expect(await shared.complete(TENANT, "c@one", DONE)).toBe(true);
  const waiting = heard(shared.take(TENANT, 1, 20_000));
  await world.pass(100);
  desk.dismiss();
  await world.pass(15_000);
  const before = world.asked;
  await world.pass(60_000);
  expect([waiting(), world.asked]).toEqual([[], before]);
});

test("one letter waits at a node for all tenants whose workers come", async () => {
  const world = new World(["one", "two"]);
  const { shared } = world.node("one");
  const tenants = Array.from({ length: 20 }, (_, index) => `t${index}`);
  const waiting = tenants.map((tenant) => heard(shared.take(tenant, 1, 20_000)));
  await world.pass(14_000);
  const before = world.asked;
  await world.pass(6_000);
  expect(world.asked - before).toBeLessThanOrEqual(2);
  await world.pass(2_000);
  expect(waiting.every((said) => said()?.length === 0)).toBe(true);
});

test("where no worker comes any more nobody is asked, and one more than may wait is told so", async () => {
  const world = new World(["one", "two"]);
  const { shared } = world.node("one");
  const waiting = Array.from({ length: WAITING_WORKERS.ofTenant }, () => heard(shared.take(TENANT, 1, 2_000)));
  await world.pass(100);
  await expect(shared.take(TENANT, 1, 2_000)).rejects.toThrow("too many workers wait");
  await world.pass(60_000);
  expect(waiting.every((said) => said()?.length === 0)).toBe(true);
  const before = world.asked;
  await world.pass(60_000);
  expect(world.asked).toBe(before);
  expect(world.clock.pendingTimers).toBe(0);
});

describe.each([1, 2, 3, 4, 5, 6, 7, 8])("many workers at several nodes, seed %i", (seed) => {
  const random = randomFrom(seed);
  const losses = seed % 2 === 0 ? 0.1 : 0;

  test("each run is given once; where no letter is lost every one is, in time", async () => {
    const world = new World(["one", "two", "three"]);
    world.letters = { latencyMs: () => 10 + random.below(250), isLost: () => random.next() < losses };
    // Nobody comes to the third one.
    const places = world.nodes.slice(0, 2);
    const given = new Map<string, number>();
    let isOver = false;
    const work = async (): Promise<void> => {
      while (!isOver) {
        const limit = 1 + random.below(8);
        const gone = new AbortController();
        if (random.next() < 0.1) world.clock.after(random.below(2_000), () => gone.abort());
        const works = await random.pick(places).shared.take(TENANT, limit, random.below(8) * SECOND_MS, gone.signal);
        expect(works.length).toBeLessThanOrEqual(limit);
        for (const { claimId } of works) given.set(claimId, (given.get(claimId) ?? 0) + 1);
        await world.after(random.below(500), () => undefined);
        for (const { claimId } of works) {
          await random
            .pick(world.nodes)
            .shared.complete(TENANT, claimId, DONE)
            .catch(() => false);
        }
      }
    };
    const all = Array.from({ length: 6 }, work);
    let made = 0;
    for (let second = 0; second < 60; second += 1) {
      for (let n = random.below(4); n > 0; n -= 1) await world.due(random.pick(world.nodes).name, `run-${made++}`);
      await world.pass(SECOND_MS);
    }
    await world.pass(2 * TIMEOUT_MS);
    isOver = true;
    await world.pass(TIMEOUT_MS);
    await Promise.all(all);
    expect([...given.values()].every((count) => count === 1)).toBe(true);
    // Everything has ended somehow: what was lost on its way by its time.
    expect(world.ends.size).toBe(made);
    const ended = (how: string): number => [...world.ends.values()].filter((reason) => reason === how).length;
    if (losses === 0) expect([ended("worker-absent"), given.size + ended("worker-failed")]).toEqual([0, made]);
    expect(given.size).toBeGreaterThan(made / 2);
  });
});
