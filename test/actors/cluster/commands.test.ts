/** What one node is asked about jobs of another: the answer is the same wherever it is asked. */
import { describe, expect, test } from "vitest";
import type { JobPage, JobQuery } from "../../../src/actors/supervisor/port.js";
import { ALL_JOBS, BY_NAME } from "../../../src/actors/supervisor/rows/job-query.js";
import { KronError } from "../../../src/core/base/errors/kron-error.js";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../src/core/time/instant.js";
import { job } from "../supervisor/world.js";
import { type Node, Nodes } from "./nodes.js";

const names = (count: number): readonly string[] => {
  return Array.from({ length: count }, (_, index) => `job-${String(index).padStart(3, "0")}`);
};
const EVERYTHING: JobQuery = { filter: ALL_JOBS, order: BY_NAME, from: { after: null }, limit: 10 };

async function threeNodes(
  count: number,
  schedule = "0 0 * * *",
): Promise<{ world: Nodes; nodes: readonly [Node, Node, Node] }> {
  const world = new Nodes({ anyShards: 12, runMs: null });
  world.want(...names(count).map((name, index) => job(name, schedule, index % 3 === 0 ? { tags: ["third"] } : {})));
  const nodes = [await world.start("one"), await world.start("two"), await world.start("three")] as const;
  await world.pass(2 * SECOND_MS);
  return { world, nodes: [...nodes] as [Node, Node, Node] };
}

async function failureOf(world: Nodes, asked: Promise<unknown>): Promise<KronError> {
  const error = await world.during(
    asked.then(
      () => null,
      (reason: unknown) => reason,
    ),
  );
  if (error instanceof KronError) return error;
  throw new Error(`no KronError: ${String(error)}`);
}

test("every command about a job is carried out by whoever looks after it, whoever was asked", async () => {
  const { world, nodes } = await threeNodes(6);
  for (const [index, identity] of names(6).entries()) {
    const asked = nodes[index % 3] as Node;
    const { supervisor } = asked;
    const now = world.clock.now();
    expect(await world.during(supervisor.pause(identity, now + HOUR_MS, "a test"))).toBe(true);
    const [held] = await world.during(supervisor.list({ identities: [identity] }));
    expect(held).toMatchObject({ standing: "paused", pauseReason: "a test" });
    expect(await world.during(supervisor.resume(identity))).toBe(true);
    const hint = { kind: "interval", intervalMs: HOUR_MS, expiresAt: now + 5 * HOUR_MS, reason: "x" } as const;
    expect(await world.during(supervisor.hint(identity, hint))).toBe("set");
    expect(await world.during(supervisor.clearHints(identity, "all"))).toBe(true);
    expect(await world.during(supervisor.runNow(identity))).toMatchObject({ ok: true, holder: "process" });
    expect(await world.during(supervisor.runNow(identity, true))).toMatchObject({ ok: false, isBusy: true });
    expect(await world.during(supervisor.cancel(identity))).toBe(1);
  }
  expect(await world.during(nodes[0].supervisor.pause("nobody", world.clock.now() + HOUR_MS, ""))).toBe(false);
  expect(world.begun.length).toBe(6);
});

test("a list is of all nodes, page by page, in the order of names, and counts them all", async () => {
  const { world, nodes } = await threeNodes(95);
  for (const { supervisor } of nodes) {
    const seen: string[] = [];
    let after: string | null = null;
    do {
      const page: JobPage = await world.during(supervisor.find({ ...EVERYTHING, from: { after } }));
      expect(page.total).toBe(95);
      seen.push(...page.rows.map(({ identity }) => identity));
      after = page.next;
    } while (after !== null);
    expect(seen).toEqual(names(95));
  }
});

test("with tags, an offset or another order too", async () => {
  const { world, nodes } = await threeNodes(40);
  const { supervisor } = nodes[1];
  const identitiesOf = async (query: Partial<JobQuery>): Promise<readonly string[]> => {
    const page = await world.during(supervisor.find({ ...EVERYTHING, ...query }));
    return page.rows.map(({ identity }) => identity);
  };
  const tagged = { ...ALL_JOBS, tags: ["third"] };
  expect(await identitiesOf({ filter: tagged })).toEqual(
    names(40)
      .filter((_, index) => index % 3 === 0)
      .slice(0, 10),
  );
  expect(await identitiesOf({ from: { offset: 35 } })).toEqual(names(40).slice(35));
  const backwards = { order: { sort: "name", isReversed: true }, from: { offset: 5 } } as const;
  expect(await identitiesOf(backwards)).toEqual(names(40).toReversed().slice(5, 15));
  const next = { order: { sort: "next", isReversed: false }, from: { offset: 0 } } as const;
  expect(await identitiesOf(next)).toEqual(names(40).slice(0, 10));
});

test("a node that does not answer is named beside what the others have", async () => {
  const { world, nodes } = await threeNodes(40);
  const [one, two] = nodes;
  const lost = two.jobs;
  two.kill();
  const page = await world.during(one.supervisor.find({ ...EVERYTHING, limit: 100 }));
  expect(page.absent).toEqual(["two"]);
  expect(page.rows.map(({ identity }) => identity)).toEqual(names(40).filter((name) => !lost.includes(name)));
  // When its lease has run out there is somebody again.
  await world.pass(12 * SECOND_MS);
  const whole = await world.during(one.supervisor.find({ ...EVERYTHING, limit: 100 }));
  expect([whole.rows.length, whole.absent]).toEqual([40, undefined]);
});

describe("jobs that no node serves", () => {
  async function unservedBeside(pools: readonly (readonly [string, string])[]) {
    const world = new Nodes({ anyShards: 4, runMs: null });
    world.wantIn(pools.map(([name, pool]) => [job(name, "@every 1s", { tags: [pool] }), pool]));
    const one = await world.start("one");
    await world.pass(2 * SECOND_MS);
    return { world, one };
  }

  test("are listed from the store, in their places, with their pool; what was never defined too", async () => {
    const { world, one } = await unservedBeside([
      ["a", "any"],
      ["b", "node/db1"],
      ["c", "any"],
      ["d", "gpu"],
    ]);
    const told = (page: JobPage) => page.rows.map(({ identity, unserved = null }) => [identity, unserved]);
    const all = await world.during(one.supervisor.find({ ...EVERYTHING, limit: 3 }));
    expect([told(all), all.total, all.next]).toEqual([
      [
        ["a", null],
        ["b", "node/db1"],
        ["c", null],
      ],
      4,
      "c",
    ]);
    const rest = await world.during(one.supervisor.find({ ...EVERYTHING, from: { after: "c" } }));
    expect([told(rest), rest.next]).toEqual([[["d", "gpu"]], null]);
    const backwards = { ...EVERYTHING, order: { sort: "name", isReversed: true }, from: { offset: 0 } } as const;
    expect(told(await world.during(one.supervisor.find(backwards)))[0]).toEqual(["d", "gpu"]);
    const tagged = { ...EVERYTHING, filter: { ...ALL_JOBS, tags: ["gpu"] } };
    expect(told(await world.during(one.supervisor.find(tagged)))).toEqual([["d", "gpu"]]);
  });

  test("are told of by name at once: nobody is waited for who will not come", async () => {
    const { world, one } = await unservedBeside([
      ["a", "any"],
      ["b", "node/db1"],
    ]);
    const fromAt = world.clock.now();
    const rows = await world.during(one.supervisor.list({ identities: ["b", "a", "nobody"] }));
    expect(rows.map(({ identity, unserved = null }) => [identity, unserved])).toEqual([
      ["b", "node/db1"],
      ["a", null],
    ]);
    expect(world.clock.now() - fromAt).toBeLessThan(SECOND_MS);
  });

  test("are as they were when their node died, and its own again when it is back", async () => {
    const { world, one } = await unservedBeside([["b", "node/two"]]);
    const two = await world.start("two");
    await world.pass(3 * SECOND_MS);
    two.kill();
    await world.pass(15 * SECOND_MS);
    const [row] = (await world.during(one.supervisor.find(EVERYTHING))).rows;
    expect([row?.identity, row?.unserved, (row?.active.length ?? 0) > 0]).toEqual(["b", "node/two", true]);
    await world.start("two");
    const [served] = (await world.during(one.supervisor.find(EVERYTHING))).rows;
    expect([served?.identity, served?.unserved]).toEqual(["b", undefined]);
  });
});

test("whether a node that died has done it is not known, and is not said; what can be repeated is", async () => {
  const { world, nodes } = await threeNodes(12);
  const [one, two] = nodes;
  const [identity = ""] = two.jobs;
  two.kill();
  const paused = world.during(one.supervisor.pause(identity, world.clock.now() + HOUR_MS, "again"));
  expect(await paused).toBe(true);
  const { world: other, nodes: others } = await threeNodes(12);
  others[1].kill();
  const failure = await failureOf(other, others[0].supervisor.runNow(others[1].jobs[0] ?? ""));
  expect([failure.code, failure.message]).toEqual(["node-silent", expect.stringContaining("the node two")]);
});

test("who was asked and went before it answered may have done it: nobody is told that nothing was done", async () => {
  const world = new Nodes();
  world.wantIn([[job("there", "0 0 * * *"), "node/two"]]);
  const one = await world.start("one");
  const two = await world.start("two");
  await world.until(() => two.jobs.length === 1);
  two.kill();
  const failure = await failureOf(world, one.supervisor.pause("there", world.clock.now() + HOUR_MS, "a test"));
  expect([failure.code, failure.message]).toEqual(["node-silent", expect.stringContaining("not known")]);
});

test("a node that stops asks nobody again and again", async () => {
  const { world, nodes } = await threeNodes(12);
  const [one, two] = nodes;
  const [identity = ""] = two.jobs;
  two.kill();
  const failed = failureOf(world, one.supervisor.pause(identity, world.clock.now() + HOUR_MS, "a test"));
  await one.supervisor.stop({ graceful: false });
  expect((await failed).code).toBe("node-silent");
});

test("a job that nobody looks after is told so, with the pool that has no node", async () => {
  const world = new Nodes();
  world.wantIn([[job("there", "0 0 * * *"), "node/two"]]);
  const one = await world.start("one");
  const failure = await failureOf(world, one.supervisor.runNow("there"));
  expect([failure.code, failure.message]).toEqual([
    "job-unattended",
    expect.stringContaining("no node serves the pool node/two"),
  ]);
});

test("a letter that cannot be read is answered so, and does nothing", async () => {
  const { world, nodes } = await threeNodes(3);
  const [one, two] = nodes;
  const letters = [
    "",
    "{}",
    '{"do":"run"}',
    '{"do":"run","input":{"identity":7}}',
    '{"do":"shutdown","input":{}}',
    "[1",
  ];
  for (const text of letters) {
    const id = await one.member.send(two.member.session, text);
    let answer: string | null | undefined;
    await world.during(
      (async () => {
        while (answer === undefined) {
          answer = await one.member.answerOf(id);
          await new Promise<void>((resolve) => world.clock.after(20, resolve));
        }
      })(),
    );
    expect([text, answer]).toEqual([text, '{"is":"unreadable"}']);
  }
  await world.pass(MINUTE_MS);
  expect([world.begun.length, two.fatal]).toEqual([0, null]);
});

test("a list has every job once, also while shards go from one node to another", async () => {
  const { world, nodes } = await threeNodes(60);
  const [one, two] = nodes;
  for (const isOn of [true, false]) {
    world.cluster.drain("three", isOn);
    for (let asked = 0; asked < 12; asked++) {
      for (const { supervisor } of [one, two]) {
        const page = await world.during(supervisor.find({ ...EVERYTHING, limit: 100 }));
        expect([page.rows.map(({ identity }) => identity), page.absent]).toEqual([names(60), undefined]);
      }
    }
  }
});
