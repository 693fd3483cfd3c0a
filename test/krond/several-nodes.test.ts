/** Several daemons on one database, as operators meet them: real processes, a real server. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { MINUTE_MS, SECOND_MS } from "../../src/core/time/instant.js";
import { builtPrograms, krondProcesses, runProgram } from "../support/krond.js";
import { Members, MORTAL } from "../support/member-daemons.js";
import { NEVER } from "../support/place.js";
import { postgresServer } from "../support/postgres.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const server = postgresServer();
const temporary = temporaryDirectories();
const start = krondProcesses(programs);

async function members(): Promise<Members> {
  return new Members(temporary(), server().address(await server().newDatabase()), programs, start);
}

const names = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `job-${index}`);
const NOTE = 'echo "$KRON_IDENTITY" >> "$WITNESS"';

/** Until it is so; the test's own bound ends what never comes. */
async function until(is: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await is())) await sleep(50);
}

/** All that a store has is held by somebody. */
async function settled(cluster: Members, shares: readonly number[]): Promise<void> {
  await until(async () => {
    const now = Object.values(await cluster.shares());
    return now.sort().join() === [...shares].sort().join();
  });
}

test("two and three nodes share the work, and every command is answered by any of them", async () => {
  const cluster = await members();
  const one = await cluster.started("one");
  await cluster.want(names(3).map((name) => cluster.job(name, NEVER, `echo "out of $KRON_IDENTITY"`)));
  await one.daemon.event("revision_applied");
  const two = await cluster.started("two");
  await settled(cluster, [33, 33]);
  for (const name of names(3)) {
    for (const { kron } of [one, two]) {
      expect(kron("run", name, "--wait")).toMatchObject({ status: 0, err: "" });
      expect(kron("pause", name, "--until", "1h", "--reason", "a test")).toMatchObject({ status: 0 });
      expect(kron("list", "--identity", name).out).toContain("paused");
      expect(kron("resume", name)).toMatchObject({ status: 0 });
      expect(kron("history", name, "--output", "json").out).toContain('"outcome": "executed"');
      expect(kron("why", name).status).toBe(0);
      // Nothing runs that could be ended.
      expect(kron("cancel", name)).toMatchObject({ status: 1, err: "" });
    }
  }
  // Output lies where the run was; elsewhere one is told where that is.
  const logs = [one, two].map(({ kron }) => kron("logs", "job-0"));
  expect(logs.map(({ status }) => status).sort()).toEqual([0, 1]);
  expect(logs.map(({ out }) => out).join("")).toBe("out of job-0\n");
  expect(logs.map(({ err }) => err).join("")).toMatch(/ was on the node (one|two)\n.*kron logs job-0, on that node/);
  const lists = [one, two].map(({ kron }) => kron("list", "--output", "json").out);
  expect(lists[0]).toBe(lists[1]);
  expect((JSON.parse(lists[0] ?? "") as unknown[]).length).toBe(3);
  expect(one.kron("pause", "nobody", "--until", "1h", "--reason", "x")).toMatchObject({
    status: 1,
    err: expect.stringContaining('no job "nobody"'),
  });
  await cluster.started("three");
  await settled(cluster, [22, 22, 23]);
  expect(one.kron("list", "--output", "json").out).toBe(lists[0]);
});

test("C3: a node that is killed is followed within its lease and three seconds, and starts nothing twice", async () => {
  const cluster = await members();
  const one = await cluster.started("one", ...MORTAL);
  const two = await cluster.started("two");
  // Before there are jobs: busy shards change hands when half a minute has brought no calm.
  await settled(cluster, [33, 33]);
  await cluster.want(names(12).map((name) => cluster.job(name, "@every 1s", NOTE)));
  await until(() => names(12).every((name) => cluster.seen.includes(name)));
  const fromMs = performance.now();
  await one.daemon.kill("SIGKILL");
  // From here on every job is run by the one that is left.
  await until(async () => (await cluster.shares())["two"] === 65);
  const takenMs = performance.now() - fromMs;
  const seen = cluster.seen.length;
  await until(() => names(12).every((name) => cluster.seen.slice(seen).includes(name)));
  const goneOnMs = performance.now() - fromMs;
  console.log(
    `lease ${MORTAL[1]}: taken after ${Math.round(takenMs)} ms, all run again after ${Math.round(goneOnMs)} ms`,
  );
  expect(JSON.parse(two.kron("list", "--output", "json").out)).toHaveLength(12);
  expect(two.daemon.lines.filter(({ event }) => event === "claim_refused")).toEqual([]);
  expect(await two.daemon.kill("SIGTERM")).toBe(0);
});

test("a node that is drained gives all it has to the others, and takes its share again when it may", async () => {
  const cluster = await members();
  const one = await cluster.started("one");
  await cluster.want(names(12).map((name) => cluster.job(name, "@every 8s", NOTE)));
  const two = await cluster.started("two");
  await settled(cluster, [33, 33]);
  await cluster.admin.drain("one", true);
  await one.daemon.event("node_drained");
  expect(await cluster.shares()).toEqual({ one: 0, two: 65 });
  expect(one.kron("run", "job-1", "--wait").status).toBe(0);
  const lines = one.daemon.lines.length;
  await cluster.admin.drain("one", false);
  await settled(cluster, [33, 33]);
  await one.daemon.event("shard_taken", {}, lines);
  expect(await one.daemon.kill("SIGTERM")).toBe(0);
  // It has given them back: nobody waits for its lease.
  expect(await cluster.shares()).toEqual({ two: 65 });
  expect(two.daemon.lines.filter(({ level }) => level === "error")).toEqual([]);
});

test("S29: a graceful stop of the last node waits for its runs, whose ends are on record for the next", async () => {
  const cluster = await members();
  const one = await cluster.started("one");
  await cluster.want([cluster.job("slow", NEVER, "sleep 2; exit 3")]);
  await one.daemon.event("revision_applied");
  expect(one.kron("run", "slow").status).toBe(0);
  expect(runProgram(programs().krond, ["stop", "--graceful", "--state", one.state]).status).toBe(0);
  expect(await one.daemon.ended).toBe(0);
  expect(one.kron("history", "slow", "--output", "json").out).toContain('"exit_code": 3');
});

test("a node that is told to stop while it starts ends, and leaves nothing held", async () => {
  const cluster = await members();
  const one = cluster.start("one");
  await one.daemon.line(() => true);
  expect(await one.daemon.kill("SIGTERM")).toBe(0);
  // Its lease would be over in a minute: nobody waits for that.
  expect(await cluster.shares()).toEqual({});
  const two = await cluster.started("two");
  await until(async () => (await cluster.shares())["two"] === 65);
  expect(two.daemon.lines.filter(({ level }) => level === "error")).toEqual([]);
});

test("a job with metrics of its own has them where it is looked after, and nowhere else", async () => {
  const cluster = await members();
  const more = ["--metrics", "127.0.0.1:0", "--metrics-jobs", "job-*"];
  const one = await cluster.started("one", ...more);
  await cluster.want(names(8).map((name) => cluster.job(name, NEVER, NOTE)));
  await one.daemon.event("revision_applied");
  const two = await cluster.started("two", ...more);
  const seriesOf = async ({ daemon }: typeof one): Promise<readonly string[]> => {
    const text = await (await fetch(`http://${String((await daemon.ready())["metrics"])}/metrics`)).text();
    return [...text.matchAll(/^kron_job_consecutive_failures\{identity="(job-\d)"\}/gm)].map(([, name = ""]) => name);
  };
  await until(async () => {
    const [ours, theirs] = [await seriesOf(one), await seriesOf(two)];
    return ours.length < 8 && [...ours, ...theirs].sort().join() === names(8).join();
  });
});

test("jobs whose node has died, or whose pool nobody serves, are told of at every node, and why says that nobody has them", async () => {
  const cluster = await members();
  const one = await cluster.started("one");
  const two = await cluster.started("two", ...MORTAL);
  const jobs = ["a/any", "b/two", "c/gpu"].map((name) => cluster.job(name, "@every 1s", NOTE));
  const pools: Record<string, string> = { "b/two": "node/two", "c/gpu": "gpu" };
  await cluster.want(jobs, {}, (name) => pools[name] ?? "any");
  await until(() => cluster.seen.includes("b/two"));
  await two.daemon.kill("SIGKILL");
  await until(
    async () => Object.keys(await cluster.shares()).join() === "one" && (await cluster.shares())["one"] === 65,
  );
  const listed = JSON.parse(one.kron("list", "--output", "json").out) as readonly Record<string, unknown>[];
  expect(listed.map(({ identity, unserved = null }) => [identity, unserved])).toEqual([
    ["a/any", null],
    ["b/two", "node/two"],
    ["c/gpu", "gpu"],
  ]);
  expect(one.kron("list").out).toMatch(/^b\/two .* unserved \(node\/two\) /m);
  expect(one.kron("why", "b/two").out).toContain("no node looks after it now (pool node/two)");
  const before = (ms: number): string => `${new Date(Date.now() - ms).toISOString().slice(0, 19)}Z`;
  expect(one.kron("why", `c/gpu@${before(MINUTE_MS)}`).out).toContain(
    "no node looked after the job; no node looks after it now (pool gpu)",
  );
  const away = before(SECOND_MS);
  const again = await cluster.started("two");
  await until(() => JSON.parse(one.kron("list", "--output", "json").out)[1].unserved === undefined);
  expect(again.kron("why", `b/two@${away}`).out).toContain("no node looked after the job from ");
});

test("what several nodes cannot have is refused, and told how", async () => {
  const cluster = await members();
  const one = await cluster.started("one");
  await cluster.want([cluster.job("greet", NEVER, "echo hello")]);
  await one.daemon.event("revision_applied");
  expect(runProgram(programs().krond, ["reload", "--state", one.state])).toMatchObject({
    status: 1,
    err: expect.stringContaining("kron apply"),
  });
  const again = cluster.start("one");
  expect(await again.daemon.ended).toBe(4);
});

test.each([
  [["--node", "one"], "--node: the name of a node is for a store with an address"],
  [["--node", "one", "--store", "files"], "--node: the name of a node is for a store with an address"],
  [["--node", "One!", "--store", "postgres:///x?host=/nowhere"], '--node: "One!" is no name of a node'],
  [
    ["--node", "one", "--pools", "gpu,E!", "--store", "postgres:///x?host=/nowhere"],
    '--pools: "E!" is no name of a pool',
  ],
  [["--pools", "gpu", "--store", "postgres:///x?host=/nowhere"], "--pools: pools are for a node of several"],
  [["--node", "one", "--store", "postgres:///x?host=/nowhere", "--config", "x.yaml"], "--config is not for --node"],
  [["--node", "one", "--store", "postgres:///x?host=/nowhere", "--crontab", "x"], "--crontab is not for --node"],
])("krond start %j is refused: %s", (args, message) => {
  const refused = runProgram(programs().krond, ["start", "--state", temporary(), ...args]);
  expect([refused.status, refused.err]).toEqual([1, expect.stringContaining(message)]);
});

test("C3: a node that was stopped beyond its lease is named, followed, and ends when it goes on", async () => {
  const cluster = await members();
  const one = await cluster.started("one", ...MORTAL, "--metrics", "127.0.0.1:0");
  const two = await cluster.started("two");
  await settled(cluster, [33, 33]);
  await cluster.want(names(6).map((name) => cluster.job(name, "@every 1s", NOTE)));
  await until(() => names(6).every((name) => cluster.seen.includes(name)));
  const metrics = await fetch(`http://${String((await one.daemon.ready())["metrics"])}/metrics`);
  expect(await metrics.text()).toMatch(
    /^kron_node_shards 33\n(.*\n)*kron_node_revision 1\n(.*\n)*kron_clock_offset_ms -?\d/m,
  );
  one.daemon.child.kill("SIGSTOP");
  const list = two.kron("list");
  expect([list.status, list.err]).toEqual([5, "kron: the node one does not answer: its jobs are not among these\n"]);
  await until(async () => (await cluster.shares())["two"] === 65);
  expect(two.kron("list", "--output", "json")).toMatchObject({ status: 0, err: "" });
  one.daemon.child.kill("SIGCONT");
  expect(await one.daemon.ended).toBe(5);
  await one.daemon.event("fatal", { error_code: "lease-lost" });
  await until(() => names(6).every((name) => cluster.seen.filter((seen) => seen === name).length > 3));
  expect(two.daemon.lines.filter(({ level }) => level === "error")).toEqual([]);
});
