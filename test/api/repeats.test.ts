/** Requests that are sent again, changes that cross each other, and pages that go on where the last one ended. */
import { beforeAll, describe, expect, test } from "vitest";
import { API_LIMITS } from "../../src/api/limits.js";
import type { ObjectWrite } from "../../src/persist/store.js";
import type { Reply, Wish } from "./support/client.js";
import { apiDaemon } from "./support/daemon.js";
import { apiOf, type DeskApi, deskApi } from "./support/desk-api.js";

const HOUR_MS = 3_600_000;
const ENDPOINT = { name: "users", url: "https://hooks.test/users", baselineIntervalMs: 300_000 };

interface Asker {
  readonly api: DeskApi;
  ask(method: string, path: string, wish?: Wish): Promise<Reply>;
  again(key: string, path: string, body?: unknown): Promise<Reply>;
}

async function asker(api: DeskApi, wish: object = {}): Promise<Asker> {
  const { key } = await api.key(wish);
  const ask = (method: string, path: string, more: Wish = {}) => api.send(method, `/api/v1${path}`, { key, ...more });
  return { api, ask, again: (name, path, body) => ask("POST", path, { body, headers: { "idempotency-key": name } }) };
}

describe("Idempotency-Key", () => {
  test("the same request is carried out once, and hears the same within a day", async () => {
    const { api, ask, again } = await asker(await deskApi());
    const first = await again("a", "/jobs", { name: "sync" });
    expect([first.status, first.headers["idempotency-replayed"]]).toEqual([201, undefined]);
    await api.desk.world.pass(23 * HOUR_MS, HOUR_MS);
    const second = await again("a", "/jobs", { name: "sync" });
    expect([second.status, second.text, second.headers.etag]).toEqual([201, first.text, first.headers.etag]);
    expect(second.headers["idempotency-replayed"]).toBe("true");
    expect((await ask("GET", "/jobs")).body.rows).toHaveLength(1);
    // It is nobody's any more.
    await api.desk.world.pass(2 * HOUR_MS, HOUR_MS);
    expect((await again("a", "/jobs", { name: "other" })).status).toBe(201);
  });

  test("what was refused is refused again, in the same words, also when it would be taken by then", async () => {
    const { ask, again } = await asker(await deskApi());
    const { id } = (await again("a", "/jobs", { name: "sync" })).body;
    const refused = await again("b", "/jobs", { name: "sync" });
    expect(refused.status).toBe(409);
    expect((await ask("DELETE", `/jobs/${id}`)).status).toBe(204);
    expect((await again("b", "/jobs", { name: "sync" })).text).toBe(refused.text);
    // What cannot be understood was never begun: its key is free.
    expect((await again("c", "/jobs", { name: 7 })).status).toBe(400);
    expect((await again("c", "/jobs", { name: "sync" })).status).toBe(201);
  });

  test("another request under it is a conflict, and carried out by nobody", async () => {
    const { ask, again } = await asker(await deskApi());
    expect((await again("a", "/jobs", { name: "sync" })).status).toBe(201);
    for (const other of [again("a", "/jobs", { name: "else" }), again("a", "/jobs?x", { name: "sync" })]) {
      expect([400, 409]).toContain((await other).status);
    }
    const conflict = await again("a", "/jobs", { name: "else" });
    expect(conflict.body).toMatchObject({ code: "idempotency-conflict", status: 409 });
    expect((await ask("GET", "/jobs")).body.rows).toHaveLength(1);
  });

  test("it is a tenant's own: another's under the same name is another request", async () => {
    const api = await deskApi();
    const [one, other] = [await asker(api), await asker(api, { tenant: "other" })];
    const [ours, theirs] = [
      await one.again("a", "/jobs", { name: "s" }),
      await other.again("a", "/jobs", { name: "s" }),
    ];
    expect([ours.status, theirs.status]).toEqual([201, 201]);
    expect(ours.body.id).not.toBe(theirs.body.id);
  });

  test("of two at once one is carried out, and the other is told that it goes on", async () => {
    const { ask, again } = await asker(await deskApi());
    const replies = await Promise.all(Array.from({ length: 20 }, () => again("a", "/jobs", { name: "sync" })));
    const seen = new Set(replies.map(({ status, body }) => (status === 201 ? body.id : body.code)));
    seen.delete("idempotency-in-progress");
    expect(seen.size).toBe(1);
    expect((await ask("GET", "/jobs")).body.rows).toHaveLength(1);
  });

  test("a key is never shown to somebody who asks again", async () => {
    const api = await deskApi();
    const host = await asker(api, { tenant: null, scope: "admin" });
    const made = await host.again("a", "/keys", { scope: "read" });
    expect(made.body.key).toMatch(/^kron_/);
    const again = await host.again("a", "/keys", { scope: "read" });
    expect([again.status, again.body.code]).toEqual([409, "idempotency-answer-not-kept"]);
    const kept = [...api.desk.world.disk.objects.values()].join("\n");
    expect(kept).not.toContain(made.body.key.slice(14));
  });

  test("after a crash in the middle nobody knows, and nothing is done twice", async () => {
    const api = await deskApi();
    const { ports } = api.desk;
    const stuck = new Set<ObjectWrite["key"]>();
    // The write of what was asked for never ends, as with a daemon that dies in it.
    const write = (objects: readonly ObjectWrite[]): Promise<void> => {
      if (!objects.some(({ key }) => key.startsWith("job/"))) return ports.write(objects);
      for (const { key } of objects) stuck.add(key);
      return new Promise<void>(() => undefined);
    };
    // Its turns go with it.
    const inTurn = <T>(_name: string, act: () => Promise<T>): Promise<T> => act();
    const dying = await asker(await apiOf(api.desk, undefined, { write, inTurn }));
    const lost = dying.again("a", "/jobs", { name: "sync" }).catch((error: unknown) => error);
    while (stuck.size === 0) await new Promise((resolve) => setImmediate(resolve));
    const living = await asker(await apiOf(api.desk));
    const reply = await living.again("a", "/jobs", { name: "sync" });
    expect([reply.status, reply.body.code]).toEqual([409, "idempotency-fate-unknown"]);
    expect((await living.ask("GET", "/jobs")).body.rows).toEqual([]);
    dying.api.client.close();
    await lost;
  });

  test("what is too old goes from the store", async () => {
    const { api, again } = await asker(await deskApi());
    const count = (): number =>
      [...api.desk.world.disk.objects.keys()].filter((key) => key.startsWith("idempotency")).length;
    for (let at = 0; at < 30; at++) await again(`key-${at}`, "/jobs", { name: `job ${at}` });
    expect(count()).toBe(60);
    await api.desk.world.pass(API_LIMITS.idempotencyMs + 2 * API_LIMITS.sweptEveryMs, API_LIMITS.sweptEveryMs);
    expect(count()).toBe(0);
  });
});

describe("changes that cross each other", () => {
  test("If-Match: whoever changes what was changed since is told so, and changes nothing", async () => {
    const { ask } = await asker(await deskApi());
    const made = await ask("POST", "/jobs", { body: { name: "sync" } });
    expect(made.headers.etag).toBe('"1"');
    const path = `/jobs/${made.body.id}`;
    const change = (tag: string, body: object) => ask("PATCH", path, { body, headers: { "if-match": tag } });
    const changed = await change('"1"', { description: "one" });
    expect([changed.status, changed.headers.etag]).toEqual([200, '"2"']);
    const stale = await change('"1"', { description: "two" });
    expect([stale.status, stale.body.code]).toEqual([412, "stale"]);
    expect((await ask("GET", path)).body.description).toBe("one");
    expect((await change("*", { description: "any" })).status).toBe(200);
    for (const tag of ["2", "'2'", "", '"2", "3"']) expect((await change(tag, {})).status).toBe(400);
    expect((await change('"abc"', {})).status).toBe(412);
    const removed = await ask("DELETE", path, { headers: { "if-match": '"1"' } });
    expect(removed.status).toBe(412);
    expect((await ask("DELETE", path, { headers: { "if-match": '"3"' } })).status).toBe(204);
  });

  test("endpoints: by id and by name", async () => {
    const { ask } = await asker(await deskApi());
    const { id } = (await ask("POST", "/jobs", { body: { name: "sync" } })).body;
    const byName = `/jobs/${id}/endpoints/by-name/users`;
    const { name: _, ...body } = ENDPOINT;
    // What is not there has no version that could match.
    for (const tag of ['"1"', "*"]) {
      const none = await ask("PUT", byName, { body, headers: { "if-match": tag } });
      expect([none.status, none.body.code]).toEqual([412, "stale"]);
    }
    const made = await ask("PUT", byName, { body });
    expect([made.status, made.headers.etag]).toEqual([201, '"1"']);
    const stale = await ask("PUT", byName, { body, headers: { "if-match": '"7"' } });
    expect(stale.status).toBe(412);
    const put = await ask("PUT", byName, { body, headers: { "if-match": '"1"' } });
    expect([put.status, put.headers.etag]).toEqual([200, '"2"']);
    // Only where there is none yet.
    const once = await ask("PUT", byName, { body, headers: { "if-none-match": "*" } });
    expect([once.status, once.body.code]).toEqual([412, "stale"]);
    const path = `/endpoints/${made.body.id}`;
    expect((await ask("PATCH", path, { body: {}, headers: { "if-match": '"1"' } })).status).toBe(412);
    expect((await ask("DELETE", path, { headers: { "if-match": '"2"' } })).status).toBe(204);
  });

  test("If-None-Match: what is known already is not told again", async () => {
    const { ask } = await asker(await deskApi());
    const { id } = (await ask("POST", "/jobs", { body: { name: "sync" } })).body;
    const known = await ask("GET", `/jobs/${id}`, { headers: { "if-none-match": '"0", W/"1"' } });
    expect([known.status, known.text, known.headers.etag]).toEqual([304, "", '"1"']);
    await ask("PATCH", `/jobs/${id}`, { body: { description: "x" } });
    expect((await ask("GET", `/jobs/${id}`, { headers: { "if-none-match": '"1"' } })).status).toBe(200);
  });

  test("an endpoint that is as it was in its definition, and not in its standing, is told again", async () => {
    const { api, ask } = await asker(await deskApi());
    const { id } = (await ask("POST", "/jobs", { body: { name: "sync" } })).body;
    const made = await ask("POST", `/jobs/${id}/endpoints`, { body: ENDPOINT });
    const path = `/endpoints/${made.body.id}`;
    const before = await ask("GET", path);
    await api.desk.world.pass(6 * 60_000);
    const after = await ask("GET", path, { headers: { "if-none-match": before.headers.etag ?? "" } });
    expect([after.status, after.body?.lastStatus]).toEqual([200, "success"]);
  });
});

describe("pages", () => {
  test("go on behind the last one, each row once, and are good for the question they were given out for", async () => {
    const { ask, api } = await asker(await deskApi());
    const ids: string[] = [];
    for (let at = 0; at < 25; at++) ids.push((await ask("POST", "/jobs", { body: { name: `job ${at}` } })).body.id);
    const seen: string[] = [];
    let cursor: string | null = null;
    let pages = 0;
    do {
      const page: Reply = await ask("GET", `/jobs?limit=10${cursor === null ? "" : `&cursor=${cursor}`}`);
      seen.push(...page.body.rows.map(({ id }: { id: string }) => id));
      cursor = page.body.next;
      pages += 1;
    } while (cursor !== null);
    expect([pages, seen.length, new Set(seen)]).toEqual([3, 25, new Set(ids)]);
    const { next } = (await ask("GET", "/jobs?limit=10")).body;
    const other = await asker(api, { tenant: "other" });
    const [seal, place] = [Buffer.from(next, "base64url").subarray(0, 16), "job_0000000000000000"];
    const forged = Buffer.concat([seal, Buffer.from(place)]).toString("base64url");
    const elsewhere = await asker(await apiOf(api.desk));
    const wrong = [
      await ask("GET", `/jobs?cursor=${forged}`),
      await ask("GET", `/jobs?cursor=${Buffer.from(`0123456789abcdef${place}`).toString("base64url")}`),
      await ask("GET", `/jobs?cursor=${Buffer.from("0123456789abcdef\0").toString("base64url")}`),
      await elsewhere.ask("GET", `/jobs?cursor=${next}`),
      await ask("GET", `/endpoints?cursor=${next}`),
      await ask("GET", `/jobs?cursor=${next.slice(0, -2)}`),
      await ask("GET", "/jobs?cursor=abc"),
      await other.ask("GET", `/jobs?cursor=${next}`),
      await ask("GET", "/jobs?limit=0"),
      await ask("GET", "/jobs?limit=201"),
      await ask("GET", "/jobs?limit=ten"),
      await ask("GET", "/jobs?limit=1&limit=2"),
    ];
    expect(wrong.map(({ status }) => status)).toEqual(Array(wrong.length).fill(400));
  });

  test("runs: of an endpoint, and of all of them by how they ended and since when", async () => {
    let status = 200;
    const { api, ask } = await asker(await deskApi({ answer: () => ({ status }) }));
    const { id } = (await ask("POST", "/jobs", { body: { name: "sync" } })).body;
    const made = await ask("POST", `/jobs/${id}/endpoints`, { body: { ...ENDPOINT, baselineIntervalMs: 60_000 } });
    await api.desk.world.pass(10 * 60_000);
    status = 500;
    const since = new Date(api.desk.world.clock.now()).toISOString();
    await api.desk.world.pass(10 * 60_000);
    const all = await pagesOf(ask, `/endpoints/${made.body.id}/runs?limit=3`);
    const of = await pagesOf(ask, "/runs?limit=7");
    expect(all.length).toBeGreaterThanOrEqual(19);
    expect(of).toEqual(all.filter((run) => run.status !== "running"));
    const failed = await pagesOf(ask, `/runs?limit=4&status=failure&since=${since}`);
    expect(failed.length).toBeGreaterThanOrEqual(9);
    expect(failed).toEqual(of.filter((run) => run.status === "failure"));
  });
});

interface Run {
  readonly id: string;
  readonly status: string;
}

async function pagesOf(ask: Asker["ask"], path: string): Promise<Run[]> {
  const rows: Run[] = [];
  for (let cursor = ""; ; ) {
    const { body } = await ask("GET", path + cursor);
    rows.push(...body.rows);
    if (body.next === null) return rows;
    cursor = `&cursor=${body.next}`;
  }
}

describe("the rate of a key", () => {
  test("is told with every answer, and kept", async () => {
    const api = await deskApi({}, { perSecond: 1, burst: 3 });
    const { ask } = await asker(api);
    const slow = await asker(api, { rate: { perSecond: 0.5, burst: 1 } });
    const first = await ask("GET", "/jobs");
    expect([first.headers["ratelimit-policy"], first.headers.ratelimit]).toEqual(['"key";q=3;w=3', '"key";r=2;t=1']);
    const statuses = [];
    for (let at = 0; at < 3; at++) statuses.push((await ask("GET", "/nothing")).status);
    // What is nowhere costs nothing: nobody was asked who it is.
    expect(statuses).toEqual([404, 404, 404]);
    for (let at = 0; at < 2; at++) expect((await ask("GET", "/jobs")).status).toBe(200);
    const over = await ask("GET", "/jobs");
    expect([over.status, over.body.code, over.headers["retry-after"]]).toEqual([429, "rate-exceeded", "1"]);
    // Each key has its own.
    expect((await slow.ask("GET", "/jobs")).status).toBe(200);
    expect((await slow.ask("GET", "/jobs")).headers["retry-after"]).toBe("2");
    await api.desk.world.pass(1_000);
    expect((await ask("GET", "/jobs")).status).toBe(200);
    expect((await ask("GET", "/jobs")).status).toBe(429);
  });
});

describe("keys in time", () => {
  test("a key ends when it was said to, and one that was replaced goes on for its grace", async () => {
    const api = await deskApi();
    const minute = await api.key({ expiresAt: api.desk.world.clock.now() + 60_000 });
    const old = await api.key({});
    const next = await api.rotate(old.id, HOUR_MS);
    const statusOf = async (key: string) => (await api.send("GET", "/api/v1/jobs", { key })).status;
    const all = () => Promise.all([minute, old, next].map(({ key }) => statusOf(key)));
    expect(await all()).toEqual([200, 200, 200]);
    await api.desk.world.pass(60_000, 60_000);
    expect(await all()).toEqual([401, 200, 200]);
    await api.desk.world.pass(HOUR_MS, HOUR_MS);
    expect(await all()).toEqual([401, 401, 200]);
    await api.revoke(next.id);
    expect(await all()).toEqual([401, 401, 401]);
  });

  test("they are kept as hashes, and when they were used is known to the minute", async () => {
    const api = await deskApi();
    const { id, key } = await api.key({});
    const host = await api.key({ tenant: null, scope: "admin" });
    await api.send("GET", "/api/v1/jobs", { key });
    await api.desk.world.pass(61_000);
    const { body } = await api.send("GET", "/api/v1/keys", { key: host.key });
    const row = body.rows.find((one: { id: string }) => one.id === id);
    expect(row.lastUsedAt).toBe("2026-03-01T00:00:01Z");
    expect(JSON.stringify(body)).not.toMatch(/hash|"key"/);
    const kept = [...api.desk.world.disk.objects.values()].join("\n");
    expect(kept).not.toContain(key.slice(14, 41));
  });
});

describe("a daemon that was killed", () => {
  const daemon = apiDaemon();
  let key = "";
  beforeAll(async () => {
    key = (await daemon.key("acme", "write")).key;
  });

  test("knows what it has answered before, and whose keys are good", async () => {
    const wish = { key, body: { name: "sync" }, headers: { "idempotency-key": "one" } };
    const first = await daemon.send("POST", "/api/v1/jobs", wish);
    expect(first.status).toBe(201);
    const { key: gone, id } = await daemon.key("acme", "write");
    await daemon.send("DELETE", `/api/v1/keys/${id}`, { key: (await daemon.key(null, "admin")).key });
    await daemon.crash();
    await daemon.start();
    const again = await daemon.send("POST", "/api/v1/jobs", wish);
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect((await daemon.send("GET", "/api/v1/jobs", { key: gone })).status).toBe(401);
    expect((await daemon.send("GET", "/api/v1/jobs", { key })).body.rows).toHaveLength(1);
  });
});
