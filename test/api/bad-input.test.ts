/** What cannot be so: the right problem at the right field, and nothing changed. */
import * as net from "node:net";
import { beforeAll, describe, expect, test } from "vitest";
import { API_LIMITS } from "../../src/api/limits.js";
import { job } from "../support/place.js";
import type { FieldError, Reply, Wish } from "./support/client.js";
import { apiDaemon } from "./support/daemon.js";

/** Nobody listens there. */
const NOBODY = "127.0.0.9";
const daemon = apiDaemon({ jobs: `${job("t/good", "true")}http: { allow: ["${NOBODY}"] }\n` });
let key = "";
let hostKey = "";
let jobId = "";
let endpointId = "";

beforeAll(async () => {
  key = (await daemon.key("acme", "write")).key;
  hostKey = (await daemon.key(null, "admin")).key;
  jobId = (await post("/jobs", { name: "sync" })).body.id;
  endpointId = (await post(`/jobs/${jobId}/endpoints`, GOOD)).body.id;
});

const GOOD = { name: "users", url: "https://api.example.com/users", baselineIntervalMs: 300_000 };
const NEW = { ...GOOD, name: "new" };
const { baselineIntervalMs: _, ...BARE } = NEW;
const HOUR_MS = 3_600_000;

function ask(method: string, path: string, wish: Wish = {}): Promise<Reply> {
  return daemon.send(method, `/api/v1${path}`, { key, ...wish });
}

function post(path: string, body: unknown): Promise<Reply> {
  return ask("POST", path, { body });
}

/** All that a tenant has, and the host's keys but for when they were used. */
async function everything(): Promise<unknown> {
  const own = ["/jobs", "/endpoints", "/runs", "/limits", `/endpoints/${endpointId}`];
  const found = await Promise.all(own.map(async (path) => (await ask("GET", path)).text));
  const keys = await daemon.send("GET", "/api/v1/keys", { key: hostKey });
  return [found, keys.body.rows.map((row: object) => ({ ...row, lastUsedAt: null }))];
}

async function unchanged<T>(act: () => Promise<T>): Promise<T> {
  const before = await everything();
  const result = await act();
  expect(await everything()).toEqual(before);
  return result;
}

function told({ status, body, headers }: Reply): unknown {
  expect(headers["content-type"]).toBe("application/problem+json");
  const { type, title, instance } = body;
  expect([type, typeof title, instance.startsWith("urn:uuid:")]).toEqual(["about:blank", "string", true]);
  expect(body.status).toBe(status);
  const errors: FieldError[] = body.errors ?? [];
  for (const { message } of errors) expect(message).not.toBe("");
  return [status, body.code, ...errors.map(({ pointer, code }) => `${pointer} ${code}`)];
}

const INVALID = [400, "input-invalid"] as const;
const MALFORMED = [400, "request-malformed"] as const;

describe("an endpoint that cannot be so", () => {
  test.each<[name: string, body: unknown, ...errors: string[]]>([
    ["cron and interval both", { ...NEW, baselineCron: "0 * * * *" }, "/baselineIntervalMs field-conflict"],
    ["neither of them", BARE, "/baselineCron field-missing"],
    ["min > max", { ...NEW, minIntervalMs: 60_000, maxIntervalMs: 30_000 }, "/minIntervalMs duration-range"],
    ["an interval of nothing", { ...BARE, baselineIntervalMs: 0 }, "/baselineIntervalMs field-value"],
    ["an interval that is negative", { ...BARE, baselineIntervalMs: -5 }, "/baselineIntervalMs field-value"],
    ["half a millisecond", { ...BARE, baselineIntervalMs: 1000.5 }, "/baselineIntervalMs field-type"],
    ["a text for a number", { ...BARE, baselineIntervalMs: "300000" }, "/baselineIntervalMs field-type"],
    ["a broken expression", { ...BARE, baselineCron: "61 * * * *" }, "/baselineCron cron-range"],
    ["an expression of six fields", { ...BARE, baselineCron: "* * * * * *" }, "/baselineCron cron-syntax"],
    ["an unknown zone", { ...BARE, baselineCron: "0 * * * *", timezone: "Mars/Base" }, "/timezone timezone-unknown"],
    ["an address that is none", { ...NEW, url: "no address" }, "/url field-range"],
    ["another protocol", { ...NEW, url: "file:///etc/passwd" }, "/url field-range"],
    ["a password in the address", { ...NEW, url: "https://me:secret@example.com/" }, "/url field-range"],
    ["a body with GET", { ...NEW, body: "text" }, "/body field-conflict"],
    ["a header that Kron sets", { ...NEW, headers: { Host: "evil" } }, "/headers/Host field-range"],
    ["a header with a line in it", { ...NEW, headers: { "X-A": "a\r\nX-B: b" } }, "/headers/X-A field-range"],
    ["a secret header that Kron sets", { ...NEW, secretHeaders: { Host: "x" } }, "/secretHeaders/Host field-range"],
    ["a secret with a line end", { ...NEW, secretHeaders: { A: "Bearer x\n" } }, "/secretHeaders/A field-range"],
    ["a secret beyond Latin-1", { ...NEW, secretHeaders: { A: "\u20ac5" } }, "/secretHeaders/A field-range"],
    [
      "a secret to be kept where there is none",
      { ...NEW, secretHeaders: { A: null } },
      "/secretHeaders/A field-missing",
    ],
    ["a window of an interval", { ...NEW, windowMs: 1_000 }, "/windowMs field-conflict"],
    ["a status that is none", { ...NEW, successStatuses: ["9xx"] }, "/successStatuses/0 field-range"],
    ["unknown fields", { ...NEW, colour: "red", size: 1 }, "/colour field-unknown", "/size field-unknown"],
    ["unknown fields beside wrong ones", { ...NEW, colour: "red", url: 5 }, "/colour field-unknown", "/url field-type"],
    [
      "unknown fields inside",
      { ...NEW, retry: { limit: 1, backoffMs: 1_000, jitter: 1 } },
      "/retry/jitter field-unknown",
    ],
    ["no name", { ...NEW, name: "" }, "/name field-value"],
    ["a name with a line in it", { ...NEW, name: "a\nb" }, "/name field-value"],
    [
      "several things at once",
      { url: 7, timeoutMs: "x" },
      "/name field-missing",
      "/url field-type",
      "/timeoutMs field-type",
    ],
    ["a field of the address", { ...NEW, jobId: "job_0000000000000000" }, "/jobId field-unknown"],
    ["a name of objects", JSON.parse('{"headers":{"__proto__":"x"}}'), "/headers/__proto__ field-malformed"],
    ["half a character", Buffer.from('{"name":"a\\ud800"}'), "/name field-malformed"],
  ])("%s", async (_name, body, ...errors) => {
    const reply = await unchanged(() => post(`/jobs/${jobId}/endpoints`, body));
    expect(told(reply)).toEqual([...INVALID, ...errors]);
    const patched = await unchanged(() => ask("PUT", `/jobs/${jobId}/endpoints/by-name/users`, { body }));
    expect(patched.status).toBe(400);
  });

  test.each<[name: string, body: object, detail: string]>([
    ["nothing at all", {}, "/name: is missing: it must be a text of 1 to 200 characters, and 1 more"],
    ["no text", { ...NEW, url: null }, "/url: must be a text of at most 4096 characters, not null"],
    [
      "none of the words",
      { ...NEW, method: "get" },
      '/method: must be one of GET, HEAD, POST, PUT, PATCH, DELETE, not "get"',
    ],
    [
      "too often",
      { ...BARE, baselineIntervalMs: 0 },
      "/baselineIntervalMs: must be a whole number from 1000 to 31622400000, not 0",
    ],
    ["no name", { ...NEW, name: "" }, "/name: must be a text of 1 to 200 characters"],
    ["no list", { ...NEW, tags: "a" }, "/tags: must be a list, not a text"],
    [
      "no instant",
      { ...NEW, endAt: "soon" },
      "/endAt: must be an RFC 3339 timestamp, YYYY-MM-DDTHH:MM:SSZ or with an offset in place of Z",
    ],
    [
      "one of several kinds",
      { ...NEW, successBody: "ok" },
      "/successBody: must be an object with contains or an object with pointer and equals, not a text",
    ],
    [
      "what one kind lacks",
      { ...NEW, successBody: { contains: "" } },
      "/successBody/contains: must be a text of 1 to 1024 characters",
    ],
    [
      "min > max",
      { ...NEW, minIntervalMs: 60_000, maxIntervalMs: 30_000 },
      "/minIntervalMs: minIntervalMs 1m is longer than maxIntervalMs 30s",
    ],
    ["unknown fields", { ...NEW, colour: "red" }, "/colour: no such field"],
  ])("is told at its field, in words and with what is allowed: %s", async (_name, body, detail) => {
    const reply = await unchanged(() => post(`/jobs/${jobId}/endpoints`, body));
    expect([reply.status, reply.body.code, reply.body.detail]).toEqual([...INVALID, detail]);
    expect(reply.body.detail).toContain(`${reply.body.errors[0].pointer}: ${reply.body.errors[0].message}`);
  });

  test("of a name that is nearly one of a field it is said which", async () => {
    const { body } = await post(`/jobs/${jobId}/endpoints`, { ...NEW, timeoutMS: 5 });
    expect(body.errors).toEqual([
      { pointer: "/timeoutMS", code: "field-unknown", message: "no such field", hint: "did you mean timeoutMs?" },
    ]);
  });

  test("what is wrong is told before the name that is taken", async () => {
    for (const more of [{ minIntervalMs: 60_000, maxIntervalMs: 30_000 }, { url: "http://127.0.0.1:1/" }]) {
      const reply = await unchanged(() => post(`/jobs/${jobId}/endpoints`, { ...GOOD, ...more }));
      expect([reply.status, reply.body.code]).toEqual([...INVALID]);
    }
    const { id } = (await post(`/jobs/${jobId}/endpoints`, NEW)).body;
    const body = { name: GOOD.name, url: "http://127.0.0.1:1/" };
    expect(told(await ask("PATCH", `/endpoints/${id}`, { body }))).toEqual([...INVALID, "/url address-forbidden"]);
    expect((await ask("DELETE", `/endpoints/${id}`)).status).toBe(204);
    const telling = { name: "sync", notify: [{ url: "http://127.0.0.1:1/" }] };
    expect(told(await post("/jobs", telling))).toEqual([...INVALID, "/notify/0/url address-forbidden"]);
  });

  test("a name that is taken is a conflict, at its field", async () => {
    const taken = [409, "conflict", "/name name-taken"];
    expect(told(await unchanged(() => post(`/jobs/${jobId}/endpoints`, GOOD)))).toEqual(taken);
    expect(told(await unchanged(() => post("/jobs", { name: "sync" })))).toEqual(taken);
    const { id } = (await post("/jobs", { name: "another" })).body;
    expect(told(await unchanged(() => ask("PATCH", `/jobs/${id}`, { body: { name: "sync" } })))).toEqual(taken);
    expect((await ask("DELETE", `/jobs/${id}`)).status).toBe(204);
  });

  test.each([
    "http://127.0.0.1:1/",
    "http://[::1]/",
    "http://[::ffff:10.0.0.1]/",
    "http://169.254.169.254/latest",
    "http://10.0.0.1/",
    "http://0x7f.1/",
    "http://localhost:1/",
  ])("a forbidden address: %s", async (url) => {
    const reply = await unchanged(() => post(`/jobs/${jobId}/endpoints`, { ...NEW, url }));
    expect(told(reply)).toEqual([...INVALID, "/url address-forbidden"]);
    const patched = await unchanged(() => ask("PATCH", `/endpoints/${endpointId}`, { body: { url } }));
    expect(told(patched)).toEqual([...INVALID, "/url address-forbidden"]);
  });
});

describe("hints and pauses that cannot be so", () => {
  const at = (fromNowMs: number): string => new Date(Date.now() + fromNowMs).toISOString();
  test.each<[name: string, path: string, body: object, ...errors: string[]]>([
    ["an expired one-shot", "oneshot", { nextRunAt: at(HOUR_MS), ttlMinutes: 1 }, "/nextRunAt instant-range"],
    ["no instant", "oneshot", { nextRunAt: "tomorrow", ttlMinutes: 1 }, "/nextRunAt field-value"],
    [
      "a day that there is not",
      "oneshot",
      { nextRunAt: "2026-02-30T00:00:00Z", ttlMinutes: 1 },
      "/nextRunAt field-value",
    ],
    [
      "an instant without a zone",
      "oneshot",
      { nextRunAt: "2026-03-01T00:00:00", ttlMinutes: 1 },
      "/nextRunAt field-value",
    ],
    ["beyond its time to live", "interval", { intervalMs: 60_000, ttlMinutes: 50_000 }, "/ttlMinutes duration-range"],
    ["no time to live", "interval", { intervalMs: 60_000, ttlMinutes: 0 }, "/ttlMinutes duration-range"],
    ["an interval of nothing", "interval", { intervalMs: 0, ttlMinutes: 5 }, "/intervalMs duration-range"],
    [
      "a reason without end",
      "interval",
      { intervalMs: 60_000, ttlMinutes: 5, reason: "x".repeat(1_001) },
      "/reason field-value",
    ],
  ])("%s", async (_name, kind, body, ...errors) => {
    const reply = await unchanged(() => ask("PUT", `/endpoints/${endpointId}/hints/${kind}`, { body }));
    expect(told(reply)).toEqual([...INVALID, ...errors]);
  });

  test("a pause that is over", async () => {
    const body = { pausedUntil: "2020-01-01T00:00:00Z" };
    const reply = await unchanged(() => ask("POST", `/endpoints/${endpointId}/pause`, { body }));
    expect(told(reply)).toEqual([...INVALID, "/pausedUntil instant-range"]);
  });
});

describe("over quota", () => {
  test("endpoints, and how often they may run", async () => {
    await daemon.ask({ op: "limits.set", tenant: "acme", endpoints: 1, minIntervalMs: 60_000 });
    const wish = { ...NEW, minIntervalMs: 60_000 };
    const full = await unchanged(() => post(`/jobs/${jobId}/endpoints`, wish));
    expect([full.status, full.body.code]).toEqual([429, "exhausted"]);
    expect(full.body.detail).toContain("1 endpoint");
    const body = { minIntervalMs: 1_000 };
    const hasty = await unchanged(() => ask("PATCH", `/endpoints/${endpointId}`, { body }));
    expect(told(hasty)).toEqual([...INVALID, "/minIntervalMs field-range"]);
    await daemon.ask({ op: "limits.set", tenant: "acme" });
  });

  test("of many that come at once, so many are made as there is room for", async () => {
    await daemon.ask({ op: "limits.set", tenant: "acme", endpoints: 4 });
    const wishes = Array.from({ length: 12 }, (_, at) => ({ ...NEW, name: `at once ${at}` }));
    const replies = await Promise.all(wishes.map((wish) => post(`/jobs/${jobId}/endpoints`, wish)));
    const made = replies.filter(({ status }) => status === 201);
    expect([made.length, replies.filter(({ status }) => status === 429).length]).toEqual([3, 9]);
    for (const { body } of made) expect((await ask("DELETE", `/endpoints/${body.id}`)).status).toBe(204);
    await daemon.ask({ op: "limits.set", tenant: "acme" });
  });

  test("runs, with when there is one again", async () => {
    const { id } = (await post(`/jobs/${jobId}/endpoints`, { ...NEW, url: `http://${NOBODY}:9/` })).body;
    await daemon.ask({ op: "limits.set", tenant: "acme", executionsPerMinute: 1, executionBurst: 1 });
    expect((await ask("POST", `/endpoints/${id}/run`)).status).toBe(201);
    const second = await ask("POST", `/endpoints/${id}/run`);
    expect([second.status, second.body.code]).toEqual([429, "exhausted"]);
    expect(Number(second.headers["retry-after"])).toBeGreaterThan(0);
    await daemon.ask({ op: "limits.set", tenant: "acme" });
    expect((await ask("DELETE", `/endpoints/${id}`)).status).toBe(204);
  });
});

describe("what is no request", () => {
  test.each<[name: string, status: number, code: string, path: string, wish: Wish]>([
    ["no JSON", ...MALFORMED, "/jobs", { body: Buffer.from("{name:1}") }],
    ["half of JSON", ...MALFORMED, "/jobs", { body: Buffer.from('{"name":"a"') }],
    ["broken UTF-8", ...MALFORMED, "/jobs", { body: Buffer.from('{"name":"\xff\xfe"}', "latin1") }],
    ["half a UTF-8 character", ...MALFORMED, "/jobs", { body: Buffer.from('{"name":"\xe2\x82"}', "latin1") }],
    ["a name twice", ...INVALID, "/jobs", { body: Buffer.from('{"name":"a","description":"","n\\u0061me":"b"}') }],
    ["a list", ...INVALID, "/jobs", { body: [] }],
    ["null", ...INVALID, "/jobs", { body: null }],
    [
      "lists in lists",
      ...INVALID,
      "/jobs",
      { body: Buffer.from(`{"name":${"[".repeat(500_000)}${"]".repeat(500_000)}}`) },
    ],
    ["too much", 413, "body-too-large", "/jobs", { body: { name: "x".repeat(API_LIMITS.bodyBytes) } }],
    ["a form", 415, "content-type-unsupported", "/jobs", { body: {}, headers: { "content-type": "text/plain" } }],
    ["no type", 415, "content-type-unsupported", "/jobs", { body: {}, headers: { "content-type": "" } }],
    [
      "in another alphabet",
      415,
      "content-type-unsupported",
      "/jobs",
      { body: { name: "a" }, headers: { "content-type": 'application/json; charset="latin1"' } },
    ],
    ["packed", 415, "content-type-unsupported", "/jobs", { body: {}, headers: { "content-encoding": "gzip" } }],
    ["a parameter that there is not", ...INVALID, "/jobs?colour=red", { body: { name: "a" } }],
    ["an address that there is not", 404, "route-unknown", "/nothing", { body: {} }],
    ["a long address", 414, "address-too-long", `/jobs?${"x".repeat(6_200)}`, { body: {} }],
    ["steps up", ...MALFORMED, "/jobs/%2e%2e/keys", { body: {} }],
    ["a % without digits", ...MALFORMED, "/jobs/%zz", { body: {} }],
    [
      "an Idempotency-Key of nothing",
      ...MALFORMED,
      "/jobs",
      { body: { name: "a" }, headers: { "idempotency-key": "" } },
    ],
  ])("%s", async (_name, status, code, path, wish) => {
    const reply = await unchanged(() => ask("POST", path, wish));
    expect([reply.status, reply.body.code]).toEqual([status, code]);
  });

  test("of a name that is written twice it is said where, however deep", async () => {
    const text = `{"name":"a","notify":[{},{"url":"x","headers":{"a/b":"\\"{","c":1,"a\\/b":"2"}}]}`;
    const reply = await unchanged(() => ask("POST", "/jobs", { body: Buffer.from(text) }));
    expect(told(reply)).toEqual([...INVALID, "/notify/1/headers/a~1b field-duplicate"]);
    expect(reply.body.detail).toBe("/notify/1/headers/a~1b: is written twice");
    // In objects of their own each may stand once.
    const sound = Buffer.from('{"name":"twice","notify":[{"url":"http://1.1.1.1/"},{"url":"http://1.1.1.1/"}]}');
    const made = await ask("POST", "/jobs", {
      body: sound,
      headers: { "content-type": "application/json; charset=UTF-8" },
    });
    expect(made.status).toBe(201);
    expect((await ask("DELETE", `/jobs/${made.body.id}`)).status).toBe(204);
  });

  test("limits: null is what it is when nobody says it, for the burst too", async () => {
    const path = "/api/v1/tenants/acme/limits";
    const body = { executionsPerMinute: 60, executionBurst: null };
    const set = await daemon.send("PUT", path, { key: hostKey, body });
    expect([set.status, set.body.limits]).toMatchObject([200, { executionsPerMinute: 60, executionBurst: 10 }]);
    const all = await daemon.send("PUT", path, {
      key: hostKey,
      body: Object.fromEntries(Object.keys(set.body.limits).map((limit) => [limit, null])),
    });
    expect([all.status, all.body.limits]).toMatchObject([200, { executionsPerMinute: null, executionBurst: 10 }]);
  });

  test("GET takes no body, and DELETE neither", async () => {
    for (const method of ["GET", "DELETE"]) {
      const reply = await unchanged(() => ask(method, `/endpoints/${endpointId}`, { body: {} }));
      expect([reply.status, reply.body.code]).toEqual([...MALFORMED]);
    }
  });

  test("a method that is not taken says which are", async () => {
    const reply = await ask("PUT", "/jobs", { body: {} });
    expect([reply.status, reply.headers.allow]).toEqual([405, "GET, HEAD, POST, OPTIONS"]);
    const options = await ask("OPTIONS", "/jobs");
    expect([options.status, options.headers.allow]).toEqual([204, "GET, HEAD, POST, OPTIONS"]);
    const head = await ask("HEAD", "/jobs");
    expect([head.status, head.text]).toEqual([200, ""]);
    expect(Number(head.headers["content-length"])).toBeGreaterThan(0);
    const trace = await ask("TRACE", "/jobs");
    expect(trace.status).toBe(405);
  });

  test("a name of the host that is not ours, and web pages of others, get nothing", async () => {
    const foreign = await ask("GET", "/jobs", { headers: { host: "evil.test" } });
    expect([foreign.status, foreign.body.code]).toEqual([421, "host-unknown"]);
    const page = await ask("GET", "/jobs", { headers: { origin: "https://evil.test" } });
    expect([page.status, page.body.code]).toEqual([403, "origin-forbidden"]);
    expect(page.headers["access-control-allow-origin"]).toBeUndefined();
  });

  test.each([
    ["no HTTP at all", "hello\r\n\r\n", /^HTTP\/1\.1 400 /],
    [
      "headers without end",
      `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ${"x".repeat(20_000)}\r\n\r\n`,
      /^HTTP\/1\.1 431 /,
    ],
    ["no host", "GET /api/v1/jobs HTTP/1.1\r\nConnection: close\r\n\r\n", /^HTTP\/1\.1 400 /],
    [
      "an address of a proxy",
      "GET http://127.0.0.1/ HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
      /^HTTP\/1\.1 400 /,
    ],
  ])("%s", async (_name, bytes, answer) => {
    const text = await raw(bytes);
    expect(text).toMatch(answer);
    expect(text).toContain("application/problem+json");
  });
});

/** What comes back on a connection of its own, until its end. */
function raw(bytes: string): Promise<string> {
  const [host = "", port = ""] = daemon.address.split(":");
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(port), host, () => socket.write(bytes));
    let text = "";
    socket.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
    });
    socket.once("close", () => resolve(text));
    socket.once("error", reject);
  });
}
