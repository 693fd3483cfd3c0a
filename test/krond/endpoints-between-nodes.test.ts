/** Endpoints, keys and quotas of several daemons on one database: whichever is asked, it is one Kron that answers. */
import { setTimeout as sleep } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { createWorker } from "../../src/api/worker/worker.js";
import { call, textOf } from "../api/mcp/mcp-daemon.js";
import { builtPrograms, krondProcesses } from "../support/krond.js";
import { type ApiMember, apiMembers, type Witness, witnesses } from "../support/member-api.js";
import { Members } from "../support/member-daemons.js";
import { NEVER } from "../support/place.js";
import { postgresServer } from "../support/postgres.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const server = postgresServer();
const temporary = temporaryDirectories();
const start = krondProcesses(programs);
const started = apiMembers();
const witnessed = witnesses();

async function members(): Promise<Members> {
  return new Members(temporary(), server().address(await server().newDatabase()), programs, start);
}

/** Until it is so; the test's own bound ends what never comes. */
async function until(is: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await is())) await sleep(50);
}

interface Two {
  readonly cluster: Members;
  readonly one: ApiMember;
  readonly two: ApiMember;
  readonly key: string;
  readonly witness: Witness;
}

/** Two nodes with half of the shards each, and a key of a tenant, made at the first. */
async function twoNodes(...more: string[]): Promise<Two> {
  const cluster = await members();
  const one = await started(cluster, "one", ...more);
  const two = await started(cluster, "two", ...more);
  await until(
    async () =>
      Object.values(await cluster.shares())
        .sort()
        .join() === "33,33",
  );
  const { key } = await one.key("acme", "admin");
  return { cluster, one, two, key, witness: await witnessed() };
}

/** So many that both nodes have some of them, wherever chance puts each. */
const NAMES = Array.from({ length: 20 }, (_, index) => `e${index}`);

async function jobAt(node: ApiMember, key: string, name = "billing"): Promise<string> {
  return (await node.must(201, "POST", "/jobs", { key, body: { name } })).id as string;
}

async function endpointAt(node: ApiMember, key: string, jobId: string, fields: object): Promise<string> {
  const body = { baselineIntervalMs: 3_600_000, ...fields };
  return (await node.must(201, "POST", `/jobs/${jobId}/endpoints`, { key, body })).id as string;
}

/** Lines of its log about this, of endpoints. */
function told(node: ApiMember, event: string): readonly string[] {
  const lines = node.member.daemon.lines.filter((line) => line["event"] === event);
  return lines.map(({ identity }) => String(identity)).filter((identity) => identity.startsWith("endpoint:"));
}

/** One of each name, half of them at either node, in the order of the names. */
function endpointsAt({ one, two, key, witness }: Two, jobId: string, fields: object = {}): Promise<readonly string[]> {
  const made = NAMES.map((name, at) => {
    return endpointAt(at % 2 === 0 ? one : two, key, jobId, { name, url: `${witness.url}/${name}`, ...fields });
  });
  return Promise.all(made);
}

test("a key that was made on one node opens all of them, and one that was taken back on one opens none", async () => {
  const { one, two } = await twoNodes();
  const { key, id } = await one.key(null, "admin");
  expect((await two.must(200, "GET", "/system", { key })).node).toBe("two");
  expect((await one.must(200, "GET", "/system", { key })).nodes.map((it: { node: string }) => it.node)).toEqual([
    "one",
    "two",
  ]);
  const at = await two.must(200, "GET", "/keys", { key });
  expect(at.rows.map((row: { id: string }) => row.id)).toContain(id);
  await two.must(200, "DELETE", `/keys/${id}`, { key });
  // Each request looks it up in the store: there is nothing that would have to get around.
  for (const node of [one, two]) expect((await node.send("GET", "/system", { key })).body.code).toBe("key-revoked");
});

test("a key is not brought back by whoever changes it on another node at the same time", async () => {
  const { one, two } = await twoNodes();
  const host = await one.key(null, "admin");
  for (let round = 0; round < 10; round += 1) {
    const { id } = await one.key("acme", "read");
    const asked = { key: host.key };
    const [, revoked] = await Promise.all([
      two.send("POST", `/keys/${id}/rotate`, { ...asked, body: {} }),
      one.must(200, "DELETE", `/keys/${id}`, asked),
    ]);
    expect(revoked.standing).toBe("revoked");
    const { rows } = await two.must(200, "GET", "/keys", asked);
    expect(rows.find((row: { id: string }) => row.id === id).standing).toBe("revoked");
  }
});

test("endpoints are made, changed, held and deleted at any node, run where they lie, and are told of by all", async () => {
  const nodes = await twoNodes();
  const { one, two, key, witness } = nodes;
  const jobId = await jobAt(one, key);
  const ids = await endpointsAt(nodes, jobId);
  const lists = await Promise.all([one, two].map((node) => node.must(200, "GET", "/endpoints", { key })));
  expect(lists[0].rows.map(({ name }: { name: string }) => name).sort()).toEqual([...NAMES].sort());
  expect(lists[1]).toEqual(lists[0]);
  // Run at one node or the other, and waited for.
  const ran = ids.map(async (id, at) => {
    const [node, other] = at % 3 === 0 ? [one, two] : [two, one];
    const answer = await node.must(201, "POST", `/endpoints/${id}/run?wait=60`, { key, body: {} });
    expect(answer.run).toMatchObject({ status: "success", httpStatus: 200 });
    expect((await other.must(200, "GET", `/runs/${answer.runId}`, { key })).status).toBe("success");
    expect((await other.must(200, "GET", `/endpoints/${id}/health`, { key })).windows["1h"].runs).toBe(1);
  });
  await Promise.all(ran);
  expect([...witness.paths].sort()).toEqual(NAMES.map((name) => `/${name}`).sort());
  // Each was carried out where it lies, and nowhere else.
  const completed = (): readonly number[] => [told(one, "completed").length, told(two, "completed").length];
  await until(() => completed().reduce((sum, count) => sum + count, 0) >= NAMES.length);
  expect([Math.min(...completed()) > 0, completed().reduce((sum, count) => sum + count, 0)]).toEqual([
    true,
    NAMES.length,
  ]);
  const changes = ids.map(async (id) => {
    const url = `/endpoints/${id}`;
    await one.must(200, "POST", `${url}/pause`, { key, body: { pausedUntil: "2099-01-01T00:00:00Z", reason: "x" } });
    expect((await two.must(200, "GET", url, { key })).pausedUntil).toBe("2099-01-01T00:00:00Z");
    await two.must(200, "POST", `${url}/resume`, { key, body: {} });
    const hint = { intervalMs: 60_000, ttlMinutes: 10, reason: "a test" };
    await one.must(200, "PUT", `${url}/hints/interval`, { key, body: hint });
    expect((await two.must(200, "GET", url, { key })).hints.interval.intervalMs).toBe(60_000);
    const changed = await two.must(200, "PATCH", url, { key, body: { description: "another" } });
    expect(changed.version).toBe(2);
    expect((await one.must(200, "GET", url, { key })).description).toBe("another");
  });
  await Promise.all(changes);
  // What holds for a job holds for all its endpoints, wherever they lie.
  await two.must(200, "POST", `/jobs/${jobId}/pause`, { key, body: {} });
  const held = await one.must(200, "GET", "/endpoints", { key });
  expect(held.rows.every((row: { nextRunAt: unknown }) => row.nextRunAt === null)).toBe(true);
  await one.must(204, "DELETE", `/jobs/${jobId}?force=true`, { key });
  expect((await two.must(200, "GET", "/endpoints", { key })).rows).toEqual([]);
  expect(await two.must(200, "GET", "/audit?limit=200", { key })).toEqual(
    await one.must(200, "GET", "/audit?limit=200", { key }),
  );
});

test("of what must be there once there is one, whichever nodes are asked at once: names, repeats, what is left of a bound", async () => {
  const { one, two, key, witness } = await twoNodes();
  const both = [one, two, one, two];
  const jobs = await Promise.all(both.map((node) => node.send("POST", "/jobs", { key, body: { name: "same" } })));
  expect(jobs.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  const jobId: string = jobs.find(({ status }) => status === 201)?.body.id;
  const body = { name: "repeat", url: `${witness.url}/r`, baselineIntervalMs: 3_600_000 };
  const headers = { "idempotency-key": "the-same" };
  const made = await Promise.all(
    both.map((node) => node.send("POST", `/jobs/${jobId}/endpoints`, { key, body, headers })),
  );
  const ids = new Set(made.filter(({ status }) => status === 201).map((reply) => reply.body.id));
  expect(ids.size).toBe(1);
  expect(made.every(({ status, body: said }) => status === 201 || said.code === "idempotency-in-progress")).toBe(true);
  await one.ask({ op: "limits.set", tenant: "acme", endpoints: 5 });
  const more = await Promise.all(
    NAMES.map((name, at) => {
      const node = at % 2 === 0 ? one : two;
      return node.send("POST", `/jobs/${jobId}/endpoints`, { key, body: { ...body, name } });
    }),
  );
  expect(more.map(({ status }) => status).filter((status) => status === 201)).toHaveLength(4);
  expect(more.filter(({ body: said }) => said.code === "exhausted")).toHaveLength(NAMES.length - 4);
});

test("S48: a quota is one quota of all nodes, and never exceeded", async () => {
  const nodes = await twoNodes();
  const { one, two, key, witness } = nodes;
  const ids = await endpointsAt(nodes, await jobAt(one, key));
  await two.ask({ op: "limits.set", tenant: "acme", executionsPerMonth: 7 });
  const runs = await Promise.all(
    ids.map((id, at) => (at % 2 === 0 ? one : two).send("POST", `/endpoints/${id}/run?wait=60`, { key, body: {} })),
  );
  expect(runs.map(({ status }) => status).filter((status) => status === 201)).toHaveLength(7);
  expect(runs.filter(({ body }) => body.code === "exhausted")).toHaveLength(NAMES.length - 7);
  expect(witness.paths).toHaveLength(7);
  for (const node of [one, two]) {
    expect((await node.must(200, "GET", "/limits", { key })).used).toMatchObject({
      executionsThisMonth: 7,
      endpoints: NAMES.length,
    });
  }
});

test("what is secret of an endpoint is opened by whichever node sends it, and by none that has not the key", async () => {
  const cluster = await members();
  const one = await started(cluster, "one");
  const two = await started(cluster, "two");
  await until(
    async () =>
      Object.values(await cluster.shares())
        .sort()
        .join() === "33,33",
  );
  const witness = await witnessed();
  const { key } = await one.key("acme", "admin");
  const jobId = await jobAt(one, key);
  const secretHeaders = { Authorization: "Bearer 6f1c" };
  const make = (node: ApiMember, name: string) =>
    node.send("POST", `/jobs/${jobId}/endpoints`, {
      key,
      body: { name, url: `${witness.url}/${name}`, baselineIntervalMs: 3_600_000, secretHeaders },
    });
  const refused = await make(two, "refused");
  expect(refused.text).toMatch(/secret\.key is not there: copy secret\.key here/);
  const { copyFileSync } = await import("node:fs");
  copyFileSync(`${one.member.state}/secret.key`, `${two.member.state}/secret.key`);
  const ran = NAMES.map(async (name, at) => {
    const made = await make(at % 2 === 0 ? one : two, name);
    expect(made.status).toBe(201);
    const { run } = await one.must(201, "POST", `/endpoints/${made.body.id}/run?wait=60`, { key, body: {} });
    expect(run.status).toBe("success");
  });
  await Promise.all(ran);
  expect(witness.headers.every(({ authorization }) => authorization === "Bearer 6f1c")).toBe(true);
  expect([told(one, "completed").length > 0, told(two, "completed").length > 0]).toEqual([true, true]);
});

test("C15: endpoints of a node that is killed go on elsewhere; what was under way is unknown, and nothing is sent twice", async () => {
  const nodes = await twoNodes();
  const { cluster, one, two, key, witness } = nodes;
  const jobId = await jobAt(one, key);
  await endpointsAt(nodes, jobId, { baselineIntervalMs: 1_000 });
  const slow = await Promise.all(
    NAMES.map((name) =>
      endpointAt(two, key, jobId, { name: `s${name}`, url: `${witness.url}/slow/${name}`, timeoutMs: 600_000 }),
    ),
  );
  witness.silentFor = "/slow";
  await until(() => NAMES.every((name) => witness.of(`/${name}`) > 0));
  const begun = await Promise.all(slow.map((id) => two.must(201, "POST", `/endpoints/${id}/run`, { key, body: {} })));
  await until(() => NAMES.every((name) => witness.of(`/slow/${name}`) === 1));
  await one.member.daemon.kill("SIGKILL");
  await cluster.admin.evict("one");
  // Nobody looks after half of them now: they are told of as they are on record.
  expect((await two.must(200, "GET", "/endpoints?limit=200", { key })).rows).toHaveLength(2 * NAMES.length);
  await until(async () => (await cluster.shares())["two"] === 65);
  const seen = witness.paths.length;
  // All that lay there is sent from here by now.
  await until(() => NAMES.every((name) => witness.paths.slice(seen).includes(`/${name}`)));
  const statuses = async (): Promise<readonly string[]> => {
    const runs = await Promise.all(begun.map(({ runId }) => two.must(200, "GET", `/runs/${runId}`, { key })));
    return runs.map(({ status }) => String(status));
  };
  // Those of the node that lives go on.
  const ofTwo = (): number =>
    told(two, "started").filter((identity) => slow.some((id) => identity.endsWith(id))).length;
  const of = async (wanted: string): Promise<number> => (await statuses()).filter((status) => status === wanted).length;
  await until(async () => (await of("unknown")) + ofTwo() === NAMES.length);
  expect(ofTwo()).toBeLessThan(NAMES.length);
  expect(await of("running")).toBe(ofTwo());
  expect(new Set(witness.keys).size).toBe(witness.keys.length);
  expect(NAMES.map((name) => witness.of(`/slow/${name}`))).toEqual(NAMES.map(() => 1));
});

test("S47: what a node that is killed has left half-way with a job is brought to all its endpoints by another", async () => {
  const { cluster, one, two, key, witness } = await twoNodes();
  const jobId = await jobAt(one, key);
  const many = Array.from({ length: 48 }, (_, at) => `m${at}`);
  await Promise.all(many.map((name) => endpointAt(two, key, jobId, { name, url: `${witness.url}/${name}` })));
  const statuses = async (): Promise<ReadonlySet<string>> => {
    const { rows } = await two.must(200, "GET", "/endpoints?limit=200", { key });
    return new Set(rows.map(({ status }: { status: string }) => status));
  };
  const asked = one.send("POST", `/jobs/${jobId}/pause`, { key, body: {} }).catch(() => null);
  // Some of them, or all: when it dies is a matter of chance, and whatever it has left has to come right.
  await until(async () => (await statuses()).has("held"));
  await one.member.daemon.kill("SIGKILL");
  // As a machine that is gone: nobody has to wait for its lease.
  await cluster.admin.evict("one");
  await asked;
  await until(async () => [...(await statuses())].join() === "held");
  expect((await two.must(200, "GET", `/jobs/${jobId}`, { key })).status).toBe("paused");
  // Nobody has its turn any more.
  await two.must(200, "POST", `/jobs/${jobId}/resume`, { key, body: {} });
  expect([...(await statuses())]).toEqual(["active"]);
});

test("whoever follows events at one node hears what endpoints do on all, and how things are is told of all", async () => {
  const nodes = await twoNodes();
  const { one, two, key } = nodes;
  const host = await one.key(null, "read");
  const ids = await endpointsAt(nodes, await jobAt(one, key));
  const stream = await one.open("/api/v1/events?topics=completed", { key });
  let heard = "";
  stream.setEncoding("utf8").on("data", (piece: string) => {
    heard += piece;
  });
  // From when on the other node is listened to nobody can tell but by what is heard of it.
  const isHeard = (id: string): boolean => heard.includes(id);
  await until(async () => {
    await Promise.all(ids.map((id) => two.must(201, "POST", `/endpoints/${id}/run?wait=60`, { key, body: {} })));
    return ids.every(isHeard);
  });
  stream.destroy();
  const remote = told(two, "completed").length;
  expect(remote).toBeGreaterThan(0);
  const now = await one.must(200, "GET", "/now", { key: host.key });
  expect(now.counts.jobs).toBe(NAMES.length);
  expect(now.absent).toBeUndefined();
  const ended = new Set(now.ended.map((row: { endpoint: { name: string } }) => row.endpoint.name));
  expect([...ended].sort()).toEqual([...NAMES].sort());
  for (const node of [one, two])
    expect((await node.must(200, "GET", "/system", { key: host.key })).nodes).toHaveLength(2);
});

test("a client of MCP does at any node what it does at one that is alone", async () => {
  const { cluster, one, two, key, witness } = await twoNodes();
  await cluster.want([cluster.job("nightly", NEVER, 'echo "out of $KRON_IDENTITY"')]);
  await one.member.daemon.event("revision_applied");
  const host = await one.key(null, "write");
  const [ours, theirs] = await Promise.all([one, two].map((node) => connected(node, key)));
  const jobId = await jobAt(two, key);
  const wish = { jobId, name: "sync", url: `${witness.url}/sync`, baselineIntervalMs: 3_600_000 };
  const made = JSON.parse(textOf(await call(ours as Client, "endpoints_create", wish)));
  const ran = await call(theirs as Client, "endpoints_run", { endpointId: made.id, wait: 60 });
  expect(JSON.parse(textOf(ran)).run).toMatchObject({ status: "success" });
  const seen = await call(ours as Client, "endpoints_health", { endpointId: made.id });
  expect(JSON.parse(textOf(seen)).windows["1h"]).toMatchObject({ runs: 1, successes: 1 });
  for (const node of [one, two]) {
    const client = await connected(node, host.key);
    expect(JSON.parse(textOf(await call(client, "list"))).total).toBe(2);
    expect(JSON.parse(textOf(await call(client, "run", { identity: "nightly" }))).ok).toBe(true);
    await client.close();
  }
  await Promise.all([ours, theirs].map((client) => client?.close()));
  // What it has printed lies on one node, and is shown by both.
  for (const node of [one, two]) {
    const asked = { key: host.key };
    await until(async () => (await node.must(200, "GET", "/schedules/nightly/log", asked)).text === "out of nightly\n");
  }
});

async function connected({ address }: ApiMember, key: string): Promise<Client> {
  const requestInit = { headers: { Authorization: `Bearer ${key}` } };
  const transport = new StreamableHTTPClientTransport(new URL(`http://${address}/mcp`), { requestInit });
  const client = new Client({ name: "kron-test", version: "1" });
  await client.connect(transport);
  return client;
}

test("workers at any node carry out the runs of all, each once, and say so at any", async () => {
  const nodes = await twoNodes();
  const { one, two, key } = nodes;
  const jobId = await jobAt(one, key);
  const ids = await endpointsAt(nodes, jobId, { by: "worker", timeoutMs: 60_000 });
  const carried: string[] = [];
  const over = new AbortController();
  const trouble: Error[] = [];
  // Nobody comes to the second node.
  const workers = Array.from({ length: 2 }, () =>
    createWorker({ url: `http://${one.address}`, key }).run(
      async ({ request, claimId }) => {
        carried.push(request.headers["idempotency-key"] ?? "");
        return { httpStatus: 200, responseExcerpt: claimId.slice(claimId.lastIndexOf("@")) };
      },
      { limit: 5, signal: over.signal, onTrouble: (error) => trouble.push(error) },
    ),
  );
  const ran = ids.map(async (id, at) => {
    const [node, other] = at % 2 === 0 ? [one, two] : [two, one];
    const answer = await node.must(201, "POST", `/endpoints/${id}/run?wait=60`, { key, body: {} });
    expect(answer.run).toMatchObject({ status: "success", httpStatus: 200 });
    return (await other.must(200, "GET", `/runs/${answer.runId}`, { key })).responseExcerpt;
  });
  expect(new Set(await Promise.all(ran))).toEqual(new Set(["@one", "@two"]));
  over.abort();
  await Promise.all(workers);
  expect([carried.length, new Set(carried).size, trouble]).toEqual([NAMES.length, NAMES.length, []]);
  // What was taken at one node is said to have ended at the other one, once.
  const again = ids.map((id) => two.must(201, "POST", `/endpoints/${id}/run`, { key, body: {} }));
  await Promise.all(again);
  const claims: { claimId: string; endpointId: string }[] = [];
  await until(async () => {
    const asked = { key, body: { limit: 7, withinMs: 2_000 } };
    claims.push(...(await one.must(200, "POST", "/claims", asked)).rows);
    return claims.length >= NAMES.length;
  });
  expect(new Set(claims.map(({ endpointId }) => endpointId)).size).toBe(NAMES.length);
  const told = { key, body: { httpStatus: 204 } };
  const [here, there] = ["@one", "@two"].map((at) => claims.filter(({ claimId }) => claimId.endsWith(at)));
  for (const { claimId } of here ?? []) await two.must(200, "POST", `/claims/${claimId}/complete`, told);
  for (const { claimId } of here ?? []) await one.must(404, "POST", `/claims/${claimId}/complete`, told);
  // The node that has them dies: nobody is given them again, and nobody knows how they ended.
  expect(there?.length).toBeGreaterThan(0);
  await two.member.daemon.kill();
  const [lost] = there ?? [];
  const reply = await one.send("POST", `/claims/${lost?.claimId}/complete`, told);
  expect([404, 504]).toContain(reply.status);
  await nodes.cluster.admin.evict("two");
  await until(async () => {
    const { rows } = await one.must(200, "GET", `/endpoints/${lost?.endpointId}/runs?limit=5`, { key });
    return rows[0].status === "unknown";
  });
  const late = await one.must(200, "POST", "/claims", { key, body: { limit: 100, withinMs: 0 } });
  expect(late.rows).toEqual([]);
});
