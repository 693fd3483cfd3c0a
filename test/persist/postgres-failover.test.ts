/** C12: a server that took over may have forgotten something. Nodes are refused until a person has counted it as handled. */
import { beforeEach, describe, expect, test } from "vitest";
import { KROND } from "../../src/cli/commands/krond/index.js";
import { canonicalDefinitionText } from "../../src/core/job/raw.js";
import { parseDocument } from "../../src/core/state/parse.js";
import { MINUTE_MS } from "../../src/core/time/instant.js";
import { documentKey } from "../../src/persist/keys.js";
import { job, World } from "../actors/supervisor/world.js";
import { type CliResult, runCaptured } from "../support/cli.js";
import { adminOf, clusters, type Nodes } from "../support/members.js";
import { postgresServer } from "../support/postgres.js";
import { requireOk } from "../support/results.js";
import { temporaryDirectories } from "../support/temporary.js";

const server = postgresServer();
const newDirectory = temporaryDirectories();
const newNodes = clusters(newDirectory);
const OFTEN = job("a", "* * * * *", { policy: { deadline: "50s" } });
const KEY = documentKey("a");

let address = "";
let database = "";
let nodes: Nodes;
beforeEach(async () => {
  database = await server().newDatabase();
  address = server().address(database);
  nodes = newNodes(address);
});

/** A document as a run of months ago has left it. */
async function oldDocument(): Promise<string> {
  const world = new World();
  await world.boot([OFTEN]);
  await world.pass(2 * MINUTE_MS);
  world.kill();
  const text = world.disk.documents.get(KEY)?.text;
  if (text === undefined) throw new Error("nothing ran");
  return text;
}

/** By somebody who has no files here, on a machine whose clock is months behind. */
function recover(): Promise<CliResult> {
  const home = newDirectory();
  const place = ["--store", address, "--state", newDirectory()];
  return runCaptured(KROND, ["state", "recover", "--fence", ...place], { env: { HOME: home }, cwd: home });
}

describe("a server that took over", () => {
  test("is refused by nodes; after a recovery what is due by its clock counts as handled, and they go on", async () => {
    const a = await nodes.join("a", { leaseMs: 8_000 });
    const definition = { identity: "a", definedAt: 1, text: canonicalDefinitionText(OFTEN) };
    await a.store.commit(a.term, { documents: [{ key: KEY, text: await oldDocument() }], definitions: [definition] });
    const early = await recover();
    expect([early.exitCode, early.err]).toEqual([4, expect.stringMatching(/is shared by nodes: a/)]);
    await server().admin("update kron.cluster set timeline = '0000000F'", database);
    await expect(nodes.join("b")).rejects.toMatchObject({
      code: "state-rewound",
      hint: expect.stringMatching(/krond state recover --fence/),
    });
    await nodes.leave(a);
    const { now } = await server()
      .admin("select extract(epoch from now())::float8 * 1000 as now")
      .then(([row]) => row ?? {});
    expect(await recover()).toMatchObject({ exitCode: 0, out: "1 documents found, 1 fenced\n" });
    const again = await nodes.join("a");
    const { LastHandledPeriodID, LastReason } = requireOk(parseDocument((await again.store.get("a"))?.text ?? "", KEY));
    expect(LastReason).toBe("state_recovered");
    expect(Date.parse(LastHandledPeriodID ?? "")).toBeGreaterThan(Number(now) - MINUTE_MS);
  });
});

describe("C18: zone data", () => {
  const TZ = process.versions["tz"] ?? "";
  const agreed = async (): Promise<unknown> =>
    (await server().admin("select tz from kron.cluster", database))[0]?.["tz"];

  test("are agreed on by the first; a node with older ones drains from its start, and leaves its share to others", async () => {
    const a = await nodes.join("a");
    expect([await a.member.admitted(), await agreed()]).toEqual([null, TZ]);
    await server().admin("update kron.cluster set tz = '9999z'", database);
    const b = await nodes.join("b");
    expect(await b.member.admitted()).toBe("9999z");
    expect(await b.member.pulse(true)).toMatchObject({ isDraining: true, held: [] });
    // Those are any and its own.
    expect((await a.member.pulse(true)).held.length).toBe(65);
  });

  test("that are newer count for all when nobody with older ones is left", async () => {
    const a = await nodes.join("a");
    await a.member.admitted();
    await server().admin("update kron.cluster set tz = '2001a'", database);
    await server().admin("update kron.session set tz = '2001a'", database);
    const b = await nodes.join("b");
    expect([await b.member.admitted(), await agreed()]).toEqual([null, "2001a"]);
    await nodes.leave(a);
    const c = await nodes.join("c");
    expect([await c.member.admitted(), await agreed()]).toEqual([null, TZ]);
  });
});

describe("S53: what may have been forgotten", () => {
  test("is settled shard by shard, by its holder alone, and for all by a daemon that is alone", async () => {
    const [a, b] = [await nodes.join("a"), await nodes.join("b")];
    await a.member.pulse(true);
    const [mine] = (await a.member.pulse(true)).held;
    if (mine === undefined) throw new Error("nothing held");
    const [view, foreign] = [a.member.storeOf(mine), b.store];
    expect([await view.failover?.dueUpTo(), await view.failover?.upTo()]).toEqual([null, null]);
    await server().admin("update kron.cluster set fenced_at = 1000", database);
    expect([await view.failover?.dueUpTo(), await foreign.failover?.dueUpTo()]).toEqual([1000, 1000]);
    await b.member.pulse(true);
    await b.member.storeOf(mine).failover?.settled(b.term, 1000);
    expect(await view.failover?.dueUpTo()).toBe(1000);
    await view.failover?.settled(a.term, 1000);
    expect([await view.failover?.dueUpTo(), await foreign.failover?.dueUpTo()]).toEqual([null, 1000]);
    expect(await view.failover?.upTo()).toBe(1000);
    await a.store.failover?.settled(a.term, 1000);
    expect(await foreign.failover?.dueUpTo()).toBeNull();
  });

  test("goes with a job that leaves a shard which nobody has fenced: whoever begins the other one fences it anew", async () => {
    const admin = adminOf(address, newDirectory());
    const wanted = async (pool: string): Promise<void> => {
      const jobs = [{ identity: "a", pool, text: canonicalDefinitionText(OFTEN) }];
      if (requireOk(await admin.apply({ jobs, settings: "{}" })) === null) throw new Error("overtaken");
    };
    const b = await nodes.join("b");
    await wanted("gpu");
    const { held } = await b.member.pulse(true);
    await server().admin("update kron.cluster set fenced_at = 1000", database);
    const dueIn = async (): Promise<readonly string[]> => {
      const due = await Promise.all(held.map((shard) => b.member.storeOf(shard).failover?.dueUpTo()));
      return held.filter((_, at) => due[at] === 1000).map(({ pool, number }) => `${pool}/${number}`);
    };
    for (const shard of held) await b.member.storeOf(shard).failover?.settled(b.term, 1000);
    expect(await dueIn()).toEqual([]);
    await wanted("any");
    await b.member.pulse(true);
    const { pool, number } = await b.member.shardOf("a");
    expect(await dueIn()).toEqual([`${pool}/${number}`]);
    // Once it was, nothing is to be done any more, and what comes out of it brings nothing along.
    await b.member.storeOf({ pool, number }).failover?.settled(b.term, 1000);
    await b.member.giveUp({ pool, number }, null);
    await wanted("gpu");
    const [fenced] = await server().admin(
      "select min(fenced_at)::int as at from kron.shard where pool = 'any'",
      database,
    );
    expect([await dueIn(), fenced]).toEqual([[], { at: 1000 }]);
  });

  test("ends a node by its next heartbeat, whether or not it has anything to write", async () => {
    const a = await nodes.join("a", { leaseMs: 2_000 });
    // The first heartbeat says on which timeline it is.
    const expires = async (): Promise<unknown> =>
      (await server().admin("select expires_at::text as at from kron.session", database))[0]?.["at"];
    const first = await expires();
    while ((await expires()) === first) await new Promise((resolve) => setTimeout(resolve, 20));
    await server().admin(
      "create or replace function kron.timeline() returns text language sql as $$ select 'F' $$",
      database,
    );
    expect(await a.member.lost).toMatchObject({
      code: "lease-lost",
      message: expect.stringMatching(/another server has taken/),
    });
  });
});
