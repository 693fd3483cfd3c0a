/** C14, C15: what becomes of runs between nodes, by letters, leases and looks as between real ones. */
import { expect, test } from "vitest";
import type { StateDocument } from "../../../src/core/state/document.js";
import { parseDocument } from "../../../src/core/state/parse.js";
import { MINUTE_MS, SECOND_MS } from "../../../src/core/time/instant.js";
import { documentKey } from "../../../src/persist/keys.js";
import { requireOk } from "../../support/results.js";
import { job } from "../supervisor/world.js";
import { type Node, Nodes } from "./nodes.js";

const HOURLY = "1 * * * *";
const names = Array.from({ length: 8 }, (_, index) => `job-${index}`);

function document(world: Nodes, identity: string): StateDocument {
  const key = documentKey(identity);
  return requireOk(parseDocument(world.cluster.disk.documents.get(key)?.text ?? "", key));
}

/** Two nodes, a run of each job, and all of it with the second from then on. */
async function drained(
  runMs: number | null,
  more: Record<string, unknown> = {},
): Promise<{ world: Nodes; one: Node; two: Node }> {
  const world = new Nodes({ runMs });
  world.want(...names.map((name) => job(name, HOURLY, more)));
  const [one, two] = [await world.start("one"), await world.start("two")];
  await world.pass(65 * SECOND_MS);
  expect(one.jobs.length).toBeGreaterThan(0);
  world.cluster.drain("one");
  await world.until(() => one.toldOf("node_drained").length > 0);
  await world.until(() => two.jobs.length === names.length);
  return { world, one, two };
}

function endings(world: Nodes): readonly unknown[] {
  return names.map((name) => {
    const { ActiveExecution, History } = document(world, name);
    const [run] = History;
    return ActiveExecution === null ? (run?.Reason ?? run?.ExitCode ?? run?.Signal) : "runs";
  });
}

test("a node that is drained sees its runs to their end, and every exit code comes on record", async () => {
  const { world, one, two } = await drained(100 * SECOND_MS);
  expect(one.keeper.runs.length).toBeGreaterThan(0);
  expect(two.supervisor.elsewhere().map(({ node }) => node)).toEqual(one.keeper.runs.map(() => "one"));
  await world.pass(2 * MINUTE_MS);
  expect([endings(world), one.keeper.runs]).toEqual([names.map(() => 0), []]);
});

test("cancel reaches a run on the node that began it", async () => {
  const { world, one, two } = await drained(null);
  const [run] = one.keeper.runs;
  expect(await world.during(two.supervisor.cancel(run?.identity ?? ""))).toBe(1);
  await world.pass(2 * SECOND_MS);
  expect(endings(world).filter((ending) => ending === "cancelled")).toHaveLength(1);
  expect(one.host.running.some(({ attemptId }) => attemptId === run?.attemptId)).toBe(false);
});

test("C15: of a node that has died the runs are closed when its time is over, and none is started again", async () => {
  const { world, one, two } = await drained(null, { timeout: "30s" });
  const lost = one.keeper.runs.length;
  one.kill();
  await world.pass(2 * MINUTE_MS);
  expect(endings(world).filter((ending) => ending === "node_lost")).toHaveLength(lost);
  expect([world.twice, world.begun.length, two.supervisor.status().active]).toEqual([[], names.length, 0]);
});

test("C15: a node that was forgotten is not waited for", async () => {
  const { world, one } = await drained(null);
  const lost = one.keeper.runs.length;
  one.kill();
  await world.pass(12 * SECOND_MS);
  expect(endings(world)).toEqual(names.map(() => "runs"));
  world.cluster.forget("one");
  await world.pass(3 * SECOND_MS);
  expect(endings(world).filter((ending) => ending === "node_lost")).toHaveLength(lost);
});

test("S29: a node that comes back watches what it began, whoever looks after the jobs by then", async () => {
  const { world, one } = await drained(100 * SECOND_MS);
  const kept = one.keeper.runs.map(({ attemptId }) => attemptId).sort();
  one.kill();
  await world.pass(12 * SECOND_MS);
  const back = await world.startOn(one);
  world.cluster.drain("one");
  await world.pass(SECOND_MS);
  expect(back.host.running.map(({ attemptId }) => attemptId).sort()).toEqual(kept);
  await world.pass(2 * MINUTE_MS);
  expect([endings(world).includes("runs"), back.keeper.runs, world.twice]).toEqual([false, [], []]);
  expect(endings(world).filter((ending) => ending === "exit_unseen")).toHaveLength(kept.length);
});

test("a graceful stop waits for the runs that go on here", async () => {
  const { world, one } = await drained(100 * SECOND_MS);
  let isOver = false;
  one.phase.carryOut({ closeStore: () => (isOver = true) });
  void one.supervisor.stop({ graceful: true });
  await world.pass(10 * SECOND_MS);
  expect([isOver, one.keeper.runs.length > 0]).toEqual([false, true]);
  await world.pass(2 * MINUTE_MS);
  expect([isOver, one.keeper.runs]).toEqual([true, []]);
  expect(endings(world)).toEqual(names.map(() => 0));
});

test("S50: a run goes on while its job moves to another pool, to the node where it is: its end is seen, and the job goes on", async () => {
  const world = new Nodes({ runMs: 100 * SECOND_MS });
  const moved = job("a", "1-59/3 * * * *", { policy: { concurrency: "forbid" } });
  world.wantIn([[moved, "gpu"]]);
  const one = await world.start("one", ["gpu"]);
  await world.pass(65 * SECOND_MS);
  // Started anew without the pool: nobody looks after the job, and it may go elsewhere at once.
  one.kill();
  await world.pass(12 * SECOND_MS);
  const back = await world.startOn(one);
  expect(back.keeper.runs.map(({ identity }) => identity)).toEqual(["a"]);
  world.wantIn([[moved, "any"]]);
  await world.pass(4 * MINUTE_MS);
  expect(document(world, "a").History[0]).toMatchObject({ PeriodID: "2026-03-01T00:01:00Z", Outcome: "executed" });
  expect(world.begun.map(({ periodId }) => periodId)).toEqual(["2026-03-01T00:01:00Z", "2026-03-01T00:04:00Z"]);
  expect([back.keeper.runs, world.twice]).toEqual([[], []]);
});
