/** What nodes tell each other for those who look on at one of them: all of it, or that something of it was not heard. */
import { expect, test } from "vitest";
import { ClusterNews } from "../../../src/actors/cluster/cluster-news.js";
import type { Neighbours } from "../../../src/actors/cluster/neighbours.js";
import { SimulatedClock } from "../../../src/actors/simulated-clock.js";
import type { SupervisorEvent } from "../../../src/actors/supervisor/write/events.js";
import type { NodeFacts } from "../../../src/persist/cluster.js";

const START = Date.UTC(2026, 10, 19, 12);
const MISSED = "missed";

function newsOf(clock: SimulatedClock, others: Map<string, ClusterNews>): ClusterNews {
  const neighbours: Pick<Neighbours, "others" | "ask"> = {
    others: () => Promise.resolve([...others.keys()].map((session) => ({ session, node: session }) as NodeFacts)),
    ask: (async ({ session }: NodeFacts, _: unknown, { after, holdMs }: { after: null; holdMs: number }) => {
      return (await others.get(session)?.read(after, holdMs)) ?? null;
    }) as Neighbours["ask"],
  };
  return new ClusterNews({
    clock,
    neighbours: () => neighbours,
    status: () => ({ jobs: 1, active: 0, armed: 0, nextDueAt: null, bootedAt: START }),
    onFailure: (error) => {
      throw error;
    },
  });
}

function cluster() {
  const clock = new SimulatedClock({ startAt: START });
  const others = new Map<string, ClusterNews>();
  const join = (session: string): ClusterNews => {
    const joined = newsOf(clock, new Map());
    others.set(session, joined);
    return joined;
  };
  const here = newsOf(clock, others);
  const heard: string[] = [];
  here.subscribe({ tell: ({ identity }) => heard.push(identity ?? ""), missed: () => heard.push(MISSED) });
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 50) {
      clock.advance(50);
      for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { here, others, join, heard, pass };
}

function event(identity: string): SupervisorEvent {
  return { at: START, event: "completed", component: "executor", level: "info", identity };
}

test("all that another node tells is heard in its order, as long as somebody follows", async () => {
  const { here, join, heard, pass } = cluster();
  const one = join("one");
  one.tell(event("before"));
  const leave = here.follow();
  await pass(2_000);
  for (const name of ["a", "b", "c"]) one.tell(event(name));
  await pass(1_000);
  expect(heard).toEqual(["a", "b", "c"]);
  leave();
  one.tell(event("d"));
  await pass(10_000);
  // Who comes back soon goes on where he was.
  here.follow();
  await pass(2_000);
  expect(heard).toEqual(["a", "b", "c", "d"]);
});

test("who has told more than is remembered since is not heard in full, and that is told", async () => {
  const { here, join, heard, pass } = cluster();
  const one = join("one");
  const leave = here.follow();
  await pass(2_000);
  leave();
  await pass(6_000);
  for (let count = 0; count < 2_001; count += 1) one.tell(event(`${count}`));
  here.follow();
  await pass(3_000);
  expect([heard[0], heard[1], heard.at(-1), heard.length]).toEqual([MISSED, "1", "2000", 2_001]);
});

test("when nobody has followed for long, whoever comes back is told that something is missing", async () => {
  const { here, join, heard, pass } = cluster();
  const one = join("one");
  const leave = here.follow();
  await pass(2_000);
  leave();
  await pass(70_000);
  one.tell(event("unheard"));
  here.follow();
  await pass(2_000);
  one.tell(event("a"));
  await pass(1_000);
  expect(heard).toEqual([MISSED, "a"]);
});

test("what a node tells before it is listened to, or as its last, is told of as missing", async () => {
  const { here, join, others, heard, pass } = cluster();
  join("one");
  here.follow();
  await pass(2_000);
  expect(heard).toEqual([]);
  // Its next life.
  others.delete("one");
  const again = join("two");
  again.tell(event("unheard"));
  await pass(2_000);
  again.tell(event("a"));
  await pass(1_000);
  expect(heard).toEqual([MISSED, "a"]);
  others.delete("two");
  await pass(2_000);
  expect(heard).toEqual([MISSED, "a", MISSED]);
});
