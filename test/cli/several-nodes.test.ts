/** `kron apply` and `kron node` on a real database, beside nodes of this process that do nothing but what they are told. */
import * as fs from "node:fs";
import * as path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { KRON } from "../../src/cli/commands/index.js";
import { settingsOfText } from "../../src/core/config/settings-text.js";
import { newDocument } from "../../src/core/state/document.js";
import { serialiseDocument } from "../../src/core/state/serialise.js";
import { documentKey } from "../../src/persist/keys.js";
import { acquirePostgres, openPostgresStore } from "../../src/persist/postgres/open.js";
import { runCaptured } from "../support/cli.js";
import { clusters, type Member, type MemberOptions, type Nodes } from "../support/members.js";
import { placeAt, postgresServer } from "../support/postgres.js";
import { temporaryDirectories } from "../support/temporary.js";

const newDirectory = temporaryDirectories();
const server = postgresServer();
const clusterAt = clusters(newDirectory);
const LOOK_EVERY_MS = 20;

let [address, nodes]: [string, Nodes] = ["", clusterAt("")];
/** Nodes that put in force what they are told. */
let diligent: Member[] = [];

beforeEach(async () => {
  address = server().address(await server().newDatabase());
  nodes = clusterAt(address);
  diligent = [];
});
afterEach(() => {
  diligent = [];
});

async function join(node: string, options?: MemberOptions): Promise<Member> {
  const member = await nodes.join(node, options);
  await member.member.pulse(true);
  diligent.push(member);
  return member;
}

async function settleAll(): Promise<void> {
  for (const { member } of diligent) {
    const { held, revision } = await member.pulse(true);
    for (const shard of held) if (shard.revision < revision) await member.settled(shard, revision);
  }
}

function kron(...argv: readonly string[]) {
  return runCaptured(KRON, [...argv, "--store", address, "--state", newDirectory()]);
}

/** Beside nodes that do their part meanwhile. */
async function applied(...argv: readonly string[]) {
  let isOver = false;
  const result = kron("apply", ...argv).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await settleAll();
    await sleep(LOOK_EVERY_MS);
  }
  return result;
}

function fileOf(jobs: Readonly<Record<string, string>>, settings = ""): string {
  const rows = Object.entries(jobs).map(
    ([name, more]) => `  - { identity: ${name}, schedule: "0 3 * * *", command: [x]${more} }\n`,
  );
  const file = path.join(newDirectory(), "jobs.yaml");
  fs.writeFileSync(file, `${settings}jobs:\n${rows.join("")}`, { mode: 0o600 });
  return file;
}

async function wantedOf(member: Member): Promise<readonly string[]> {
  const { held } = await member.member.pulse(false);
  const rows = await Promise.all(held.map((shard) => member.member.wantedIn(shard)));
  return rows
    .flat()
    .map(({ identity }) => identity)
    .sort();
}

describe("kron apply", () => {
  test("what it would do, what it does, and that the same once more is nothing", async () => {
    const [web, gpu] = [await join("web1"), await join("gpu1", { pools: ["gpu"] })];
    const file = fileOf({ a: "", b: ", pool: gpu", c: ", node: web1" }, "kill_grace: 3s\n");
    const dry = await applied("--dry-run", file);
    expect([dry.exitCode, dry.err]).toEqual([0, ""]);
    expect(dry.out).toBe(
      "~ kill_grace (setting)\n+ a\n+ b\n+ c\nan apply would do: 3 added, 0 removed, 0 changed, 0 unchanged\n",
    );
    expect(await wantedOf(web)).toEqual([]);

    const done = await applied(file);
    expect([done.exitCode, done.err]).toEqual([0, ""]);
    expect(done.out).toContain("revision 1: 3 added, 0 removed, 0 changed, 0 unchanged\nin force on 2 nodes\n");
    expect([...(await wantedOf(web)), ...(await wantedOf(gpu))].sort()).toEqual(["a", "b", "c"]);
    expect(await wantedOf(gpu)).toContain("b");
    expect(settingsOfText(await web.member.settings())).toMatchObject({ killGraceMs: 3_000 });

    const again = await applied(file, "-o", "json");
    expect(JSON.parse(again.out)).toMatchObject({
      ...{ revision: 1, is_applied: true, is_overtaken: false, added: [], changed: [], unchanged: 3, settings: [] },
      ...{ nodes: ["gpu1", "web1"], stayed: [], behind: [], unserved: [] },
    });
  });

  test("what changes is told by its fields, what is not named is removed", async () => {
    await join("web1");
    await applied(fileOf({ a: "", b: "" }));
    const { out, exitCode } = await applied(fileOf({ a: ", timeout: 1m" }));
    expect([exitCode, out]).toEqual([
      0,
      expect.stringContaining("- b\n~ a (timeout)\nrevision 2: 0 added, 1 removed, 1 changed"),
    ]);
  });

  test("jobs of nodes and pools that are not there wait, and are counted", async () => {
    await join("web1");
    const { out, exitCode } = await applied(fileOf({ a: ", node: db9", b: ", pool: gpu", c: ", pool: gpu" }));
    expect(exitCode).toBe(0);
    expect(out).toContain("! pool gpu has no node: 2 jobs wait for one\n! node db9 is not there: 1 job waits for it\n");
  });

  test("nobody lives: it is written all the same", async () => {
    const first = await join("web1");
    diligent = [];
    await nodes.leave(first);
    const { out, exitCode } = await applied(fileOf({ a: "" }));
    expect([exitCode, out]).toEqual([
      0,
      expect.stringContaining("no node lives: it is in force as soon as one starts"),
    ]);
    expect(await wantedOf(await join("web2"))).toEqual(["a"]);
  });

  test("a node that does not put it in force is named, and the exit code says so", async () => {
    await join("web1");
    diligent = [];
    const { out, exitCode } = await applied(fileOf({ a: "" }), "--wait", "0s");
    expect([exitCode, out]).toEqual([1, expect.stringMatching(/! node web1 has not put it in force in \d+ shards\n/)]);
  });

  test("S50: a job that changes its pool is nobody's until its node has let go of it", async () => {
    const [web, gpu] = [await join("web1"), await join("gpu1", { pools: ["gpu"] })];
    await applied(fileOf({ a: ", node: web1" }));
    expect(await wantedOf(web)).toEqual(["a"]);
    diligent = [gpu];
    const early = await applied(fileOf({ a: ", pool: gpu" }), "--wait", "1s");
    expect([early.exitCode, early.out]).toEqual([
      1,
      expect.stringContaining("! a stays in the pool of node web1: its node has not let go; apply again later"),
    ]);
    expect([await wantedOf(web), await wantedOf(gpu)]).toEqual([["a"], []]);
    diligent = [web, gpu];
    const { out, exitCode } = await applied(fileOf({ a: ", pool: gpu" }));
    expect([exitCode, out]).toEqual([0, expect.stringContaining("~ a (node, pool)")]);
    expect([await wantedOf(web), await wantedOf(gpu)]).toEqual([[], ["a"]]);
  });

  test("S50: a job that runs stays where it is", async () => {
    const [web, gpu] = [await join("web1"), await join("gpu1", { pools: ["gpu"] })];
    await applied(fileOf({ a: ", node: web1" }));
    const at = "2026-03-01T03:00:00Z";
    const ActiveExecution = { PeriodID: at, PID: 7, StartedAt: at, ChosenTime: at };
    const text = serialiseDocument({ ...newDocument("a"), ActiveExecution });
    await web.store.commit(web.term, { documents: [{ key: documentKey("a"), text }] });
    const { out, exitCode } = await applied(fileOf({ a: ", pool: gpu" }), "--wait", "1s");
    expect([exitCode, out]).toEqual([1, expect.stringContaining("! a stays in the pool of node web1: it runs")]);
    expect([await wantedOf(web), await wantedOf(gpu)]).toEqual([["a"], []]);
  });

  test("two at once: one waits for the other, and nothing is mixed", async () => {
    const web = await join("web1");
    const results = await Promise.all([applied(fileOf({ a: "", b: "" })), applied(fileOf({ c: "" }))]);
    expect(results.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    expect([["a", "b"], ["c"]]).toContainEqual(await wantedOf(web));
  });

  test("where nothing is in the database yet it is said how it comes there", async () => {
    const { err, exitCode } = await kron("apply", fileOf({ a: "" }));
    expect([exitCode, err]).toEqual([1, expect.stringContaining("krond start --store postgres://... --node NAME")]);
  });

  test("a daemon that is alone there has its own files: nothing is changed", async () => {
    const place = placeAt(address, newDirectory());
    const term = await acquirePostgres(place);
    if (!term.ok) throw term.error;
    const store = await openPostgresStore(place, term.value);
    if (!store.ok) throw store.error;
    const { err, exitCode } = await kron("apply", fileOf({ a: "" }));
    await store.value.close();
    await term.value.release();
    expect([exitCode, err]).toEqual([4, expect.stringContaining("for itself")]);
  });
});

describe("kron node", () => {
  test("lists who lives, and what each looks after", async () => {
    await join("web1");
    await join("gpu1", { pools: ["gpu"] });
    const { out, exitCode } = await kron("node", "list");
    expect(exitCode).toBe(0);
    expect(out.split("\n").slice(0, 3)).toEqual([
      expect.stringMatching(/^NODE +SINCE +LEASE +SHARDS +POOLS +ENGINE +IS$/),
      expect.stringMatching(/^gpu1 +\S+Z +\S+ +\d+ +\S*gpu\S* +\S+ +serving$/),
      expect.stringMatching(/^web1 +\S+Z +\S+ +\d+ +\S*any\S* +\S+ +serving$/),
    ]);
    const rows = JSON.parse((await kron("node", "-o", "json")).out);
    expect(rows).toMatchObject([
      { node: "gpu1", standing: "serving" },
      { node: "web1", shards: { any: 64, "node/web1": 1 } },
    ]);
  });

  test("jobs that nobody looks after are counted", async () => {
    await join("web1");
    await applied(fileOf({ a: "", b: ", node: db9", c: ", pool: gpu" }));
    const { out } = await kron("node", "list");
    expect(out).toContain("! pool gpu has no node: 1 job waits for one\n! node db9 is not there: 1 job waits for it\n");
    expect(out).not.toContain("pool any");
  });

  test("a node is drained, and serves again", async () => {
    const web = await join("web1");
    expect((await kron("node", "drain", "web1")).out).toContain("web1 gives its jobs away");
    expect((await web.member.pulse(true)).isDraining).toBe(true);
    expect((await kron("node", "list")).out).toContain("draining");
    expect((await kron("node", "undrain", "web1")).exitCode).toBe(0);
    expect((await web.member.pulse(true)).isDraining).toBe(false);
  });

  test("a node is evicted: nothing of it can be written; and forgotten", async () => {
    const web = await join("web1");
    const lives = await kron("node", "forget", "web1");
    expect([lives.exitCode, lives.err]).toEqual([4, expect.stringContaining("kron node evict web1")]);
    expect((await kron("node", "evict", "web1")).exitCode).toBe(0);
    await expect(web.store.commit(web.term, { meta: [{ key: "x", text: "x" }] })).rejects.toThrow();
    expect((await kron("node", "list")).out).toBe("no node lives\n");
    expect((await kron("node", "forget", "web1")).out).toContain("web1 is forgotten");
    expect((await kron("node", "forget", "never")).out).toContain("no node never was ever here");
  });

  test.each(["drain", "undrain", "evict"])("%s of a name that nobody has says which one was meant", async (verb) => {
    await join("web1");
    const { exitCode, err } = await kron("node", verb, "wbe1");
    expect([exitCode, err]).toEqual([1, expect.stringContaining('did you mean "web1"?')]);
  });
});
