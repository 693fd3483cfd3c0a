/** Turns and quotas of several nodes on one store, as the store has them in memory. */
import { describe, expect, test } from "vitest";
import type { Clock } from "../../../src/actors/clock.js";
import { SharedQuotas } from "../../../src/actors/cluster/shared-quotas.js";
import { ClusterTurns, ClusterUnderWay } from "../../../src/actors/cluster/turns.js";
import { QuotaBook } from "../../../src/actors/endpoints/quota-book.js";
import { NO_LIMITS } from "../../../src/actors/endpoints/tenant-limits.js";
import type { ObjectWrite } from "../../../src/persist/store.js";
import { MemoryCluster, type MemoryMember } from "../../support/memory-cluster.js";

const AT = Date.UTC(2026, 10, 19, 12);
const E1 = "endpoint:acme/job_0000000000000001/ep_0000000000000001";

/** What is waited for comes at the end of the turn. */
const clock: Clock = {
  now: () => AT,
  monotonicMs: () => 0,
  after: (_ms, callback) => {
    const timer = setTimeout(callback, 0);
    return { cancel: () => clearTimeout(timer) };
  },
};

function cluster() {
  const store = new MemoryCluster({ now: () => AT, monotonicMs: () => 0 });
  const node = (name: string) => {
    const member = store.join(name);
    const turns = new ClusterTurns({ member, clock });
    return { member, turns, quotas: bookOf(member, turns) };
  };
  return { store, one: node("one"), two: node("two") };
}

function bookOf(member: MemoryMember, turns: ClusterTurns): QuotaBook {
  const write = async (objects: readonly ObjectWrite[]): Promise<void> => {
    await member.store.commit(member.term, { objects });
  };
  const ports = { clock, reader: member.store, write, onFailure: () => undefined };
  return new QuotaBook(ports, new SharedQuotas({ member, reader: member.store, turns, write }));
}

describe("turns", () => {
  test("are taken one after another, whichever nodes want them", async () => {
    const { one, two } = cluster();
    let [inside, most, done] = [0, 0, 0];
    const act = async (): Promise<void> => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((resolve) => setTimeout(resolve, 1));
      inside -= 1;
      done += 1;
    };
    await Promise.all([one, two, one, two, one].map(({ turns }) => turns.take("a", act)));
    expect([most, done]).toEqual([1, 5]);
  });

  test("do not wait for each other under other names, and are passed on by whoever fails", async () => {
    const { one, two } = cluster();
    await one.turns.take("a", () => two.turns.take("b", async () => undefined));
    await expect(one.turns.take("a", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await two.turns.take("a", async () => "mine")).toBe("mine");
  });

  test("C3: of a session that has ended they are free, and nothing of it is written any more", async () => {
    const { store, one, two } = cluster();
    let isTaken = false;
    const held = one.turns.take("a", () => {
      isTaken = true;
      return new Promise<void>(() => undefined);
    });
    while (!isTaken) await Promise.resolve();
    store.evict("one");
    expect(await two.turns.take("a", async () => "mine")).toBe("mine");
    await expect(one.member.replaceObject("x", null, "late")).rejects.toThrow("gone");
    void held;
  });

  test("what is under way on any node is waited for, and what begins later is not", async () => {
    const { one, two } = cluster();
    const [putting, over] = [new ClusterUnderWay(one.turns), new ClusterUnderWay(two.turns)];
    let end = (): void => undefined;
    let begun = (): void => undefined;
    const hasBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const first = putting.during("acme", () => {
      begun();
      return new Promise<void>((resolve) => {
        end = resolve;
      });
    });
    await hasBegun;
    let isOver = false;
    const waited = over.over("acme").then(() => {
      isOver = true;
    });
    await over.over("other");
    expect(isOver).toBe(false);
    end();
    await Promise.all([first, waited]);
    expect(isOver).toBe(true);
  });
});

describe("quotas", () => {
  test("S48: runs that are taken at once on several nodes are never more than there may be", async () => {
    const { one, two } = cluster();
    await one.quotas.setLimits("acme", { ...NO_LIMITS, executionsPerMonth: 50 });
    const taken = await Promise.all(
      Array.from({ length: 200 }, (_, at) => (at % 2 === 0 ? one : two).quotas.takeRun(E1)),
    );
    expect(taken.filter((refusal) => refusal === null)).toHaveLength(50);
    expect((await two.quotas.use("acme")).state.executions).toBe(50);
    await one.quotas.giveBackRun(E1);
    expect(await two.quotas.takeRun(E1)).toBeNull();
    expect(await one.quotas.takeRun(E1)).toMatchObject({ refused: "month" });
  });

  test("a limit that is set on one node holds on the other with the next run", async () => {
    const { one, two } = cluster();
    expect(await two.quotas.takeRun(E1)).toBeNull();
    await one.quotas.setLimits("acme", { ...NO_LIMITS, executionsPerMonth: 1 });
    expect(await two.quotas.takeRun(E1)).toMatchObject({ refused: "month" });
  });

  test("what a planner was promised on one node is used on the other, until it is settled", async () => {
    const { one, two } = cluster();
    await one.quotas.setLimits("acme", { ...NO_LIMITS, plannerTokensPerDay: 100 });
    const first = await one.quotas.reservePlanner("acme", 80);
    expect(await two.quotas.reservePlanner("acme", 40)).toMatchObject({ refused: "planner_tokens" });
    if (!first.ok) throw new Error("refused");
    await one.quotas.settlePlanner("acme", first.reservation, 10);
    expect(await two.quotas.reservePlanner("acme", 40)).toMatchObject({ ok: true });
  });

  test("of endpoints that are made at once on several nodes there are no more than there may be", async () => {
    const { one, two } = cluster();
    await one.quotas.setLimits("acme", { ...NO_LIMITS, endpoints: 3 });
    let made = 0;
    const make = (member: MemoryMember) => async (): Promise<void> => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      made += 1;
      await member.store.commit(member.term, { objects: [{ key: `member/acme/job/${made}`, text: "" }] });
    };
    const done = await Promise.all(
      [one, two, one, two, one, two].map(({ member, quotas }) => quotas.addEndpoint("acme", make(member))),
    );
    expect(done.filter((isMade) => isMade)).toHaveLength(3);
    expect([await one.quotas.endpoints("acme"), await two.quotas.hasRoom("acme")]).toEqual([3, false]);
  });
});
