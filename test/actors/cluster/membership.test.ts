/** Several nodes on one store: who looks after what, how it goes from one to another, and that nothing begins twice. */
import { expect, test } from "vitest";
import { MINUTE_MS, SECOND_MS } from "../../../src/core/time/instant.js";
import { job } from "../supervisor/world.js";
import { Nodes } from "./nodes.js";

const EVERY_MINUTE = "* * * * *";
const names = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `job-${index}`);
const minutely = (count: number) => names(count).map((name) => job(name, EVERY_MINUTE));

test("C1: one node alone looks after every shard, and every occasion is started once", async () => {
  const world = new Nodes();
  world.want(...minutely(8));
  const one = await world.start("one");
  expect(one.jobs).toEqual(names(8));
  await world.pass(3 * MINUTE_MS);
  expect([world.begun.length, world.twice, one.fatal]).toEqual([24, [], null]);
});

test("C22: another node that comes is given its share, and everything goes on where it was", async () => {
  const world = new Nodes();
  world.want(...minutely(16));
  const one = await world.start("one");
  await world.pass(MINUTE_MS);
  const two = await world.start("two");
  await world.pass(3 * MINUTE_MS);
  expect([one.shards.length, two.shards.length]).toEqual([3, 3]);
  expect([...one.jobs, ...two.jobs].sort()).toEqual(names(16).toSorted());
  expect([world.begun.length, world.twice, one.fatal, two.fatal]).toEqual([64, [], null, null]);
});

test("C3: what a dead node has left is taken when its lease has run out, and no occasion is started twice", async () => {
  const world = new Nodes();
  world.want(...minutely(16));
  const [one, two] = [await world.start("one"), await world.start("two")];
  await world.pass(MINUTE_MS);
  one.kill();
  await world.pass(13 * SECOND_MS);
  expect(two.jobs).toEqual(names(16).toSorted());
  await world.pass(2 * MINUTE_MS);
  expect(world.twice).toEqual([]);
  expect(world.begun.filter(({ node }) => node === "two").length).toBeGreaterThanOrEqual(32);
});

test("a node that is drained gives up all it has, says so, and takes it again when it may", async () => {
  const world = new Nodes();
  world.want(...minutely(16));
  const [one, two] = [await world.start("one"), await world.start("two")];
  await world.pass(MINUTE_MS);
  world.cluster.drain("one");
  await world.until(() => one.toldOf("node_drained").length > 0);
  await world.pass(SECOND_MS);
  expect([one.shards, two.jobs]).toEqual([[], names(16).toSorted()]);
  await world.pass(2 * MINUTE_MS);
  world.cluster.drain("one", false);
  await world.pass(MINUTE_MS);
  expect(one.shards.length).toBeGreaterThan(1);
  expect(one.toldOf("node_drained").length).toBe(1);
  expect([world.begun.length, world.twice]).toEqual([64, []]);
});

test("a node that stops gives back what it has, and its heir starts what is due at once", async () => {
  const world = new Nodes();
  world.want(...minutely(8));
  const [one, two] = [await world.start("one"), await world.start("two")];
  await world.pass(50 * SECOND_MS);
  await world.during(one.supervisor.stop({ graceful: false }));
  await world.pass(30 * SECOND_MS);
  expect(two.jobs).toEqual(names(8));
  expect([world.begun.length, world.twice]).toEqual([8, []]);
});

test("a graceful stop of the last node waits for what runs, and its end comes on record", async () => {
  const world = new Nodes({ runMs: 30 * SECOND_MS });
  world.want(...minutely(8));
  const one = await world.start("one");
  await world.pass(65 * SECOND_MS);
  const stopped: string[] = [];
  one.phase.carryOut({ closeStore: () => stopped.push("stopped") });
  void one.supervisor.stop({ graceful: true });
  await world.pass(20 * SECOND_MS);
  expect([stopped, one.fatal]).toEqual([[], null]);
  await world.pass(30 * SECOND_MS);
  expect([stopped, one.shards, world.begun.length]).toEqual([["stopped"], [], 8]);
  const ends = one.events.filter(({ event, fields }) => event === "completed" && fields?.["exit_code"] === 0);
  expect(ends.length).toBe(8);
});

test("C17: another set of definitions comes into force on every node that has any of it", async () => {
  const world = new Nodes();
  world.want(...minutely(8));
  const [one, two] = [await world.start("one"), await world.start("two")];
  await world.pass(SECOND_MS);
  world.want(...minutely(4), job("new", "*/2 * * * *"));
  await world.pass(2 * SECOND_MS);
  expect([...one.jobs, ...two.jobs].sort()).toEqual(["job-0", "job-1", "job-2", "job-3", "new"]);
  expect(world.cluster.shards.filter(({ session }) => session !== null).map(({ revision }) => revision)).toEqual(
    Array(6).fill(2),
  );
  const told = [...one.toldOf("revision_applied"), ...two.toldOf("revision_applied")];
  expect(told.filter((event) => "revision" in event && event.revision === 2).length).toBe(2);
  await world.pass(2 * MINUTE_MS);
  expect([world.twice, world.begun.filter(({ identity }) => identity === "new").length]).toEqual([[], 1]);
});

test("a pool has its jobs where it is served, and nowhere else", async () => {
  const world = new Nodes();
  world.wantIn([
    [job("anywhere", EVERY_MINUTE), "any"],
    [job("there", EVERY_MINUTE), "node/two"],
    [job("fast", EVERY_MINUTE), "gpu"],
  ]);
  await world.start("one", ["gpu"]);
  await world.start("two");
  await world.pass(2 * MINUTE_MS);
  const places = new Set(world.begun.map(({ identity, node }) => `${identity} ${node}`));
  expect([...places].filter((place) => !place.startsWith("anywhere")).sort()).toEqual(["fast one", "there two"]);
  expect(world.twice).toEqual([]);
});

test("C3: a node whose session was ended is over: it begins nothing, and says why", async () => {
  const world = new Nodes();
  world.want(...minutely(4));
  const [one] = [await world.start("one"), await world.start("two")];
  await world.pass(58 * SECOND_MS);
  world.cluster.evict("one");
  await world.pass(MINUTE_MS);
  expect(one.fatal?.code).toBe("lease-lost");
  expect(world.twice).toEqual([]);
  expect(world.begun.every(({ node }) => node === "two")).toBe(true);
});

test("a shard that cannot be begun is no reason to end: the others go on, and it is begun anew", async () => {
  const world = new Nodes();
  world.want(...minutely(8));
  const one = await world.start("one");
  await world.pass(MINUTE_MS);
  await world.during(one.supervisor.stop({ graceful: false }));
  const versions = world.cluster.disk.definitions.get("job-0");
  const [at] = [...(versions?.keys() ?? [])];
  versions?.set(at ?? 0, { identity: "job-0", definedAt: at ?? 0, text: '{"nonsense":true}' });
  world.cluster.evict("one");
  const two = await world.start("two");
  // What is wanted says it anew.
  expect(two.jobs).toEqual(names(8));
  await world.pass(MINUTE_MS);
  expect([two.fatal, world.twice]).toEqual([null, []]);
});
