/** R14: whatever a server does, a request is received at most once, and how it ended is told truthfully. */
import { createHash, createHmac } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test, vi } from "vitest";
import { Lines } from "../../../src/actors/dispatcher/lines.js";
import { SecretBox } from "../../../src/actors/dispatcher/seal.js";
import { err, ok } from "../../../src/core/base/result.js";
import type { RawJob } from "../../../src/core/job/shape.js";
import { type Ending, endingFields, readEnding } from "../../../src/core/state/ending.js";
import { requestArm, testDispatchers } from "../../support/requests.js";
import { temporaryDirectories } from "../../support/temporary.js";
import { answer, type Manners, WELL, wildServers } from "../../support/wild-server.js";

const dispatcher = testDispatchers();
const server = wildServers();
const temporary = temporaryDirectories();

type Http = Omit<NonNullable<RawJob["http"]>, "url">;
type Expected = Readonly<
  Partial<Record<keyof Extract<Ending, { kind: "failed" }> | "isExpected" | "retryAfterMs", unknown>>
>;

const NEVER: Manners = () => undefined;

/** What the server does, what the job says, and how the run ends. */
const ROWS: readonly [title: string, manners: Manners, http: Http, ending: Expected][] = [
  ["answers", WELL, {}, { kind: "answered", status: 200, isExpected: true, bytes: 4, excerpt: "well" }],
  ["answers with 204 and nothing", (s) => answer(s, 204, ""), {}, { kind: "answered", status: 204, isExpected: true }],
  ["answers with 500", (s) => answer(s, 500, "oh"), {}, { kind: "answered", status: 500, isExpected: false }],
  [
    "redirects: that is the answer, and nobody follows it",
    (s) => answer(s, 302, "", { location: "/elsewhere" }),
    {},
    { kind: "answered", status: 302, isExpected: false },
  ],
  [
    "answers with a status that the job calls success",
    (s) => answer(s, 404, ""),
    { success: ["2xx", 404] },
    { kind: "answered", status: 404, isExpected: true },
  ],
  [
    "answers with the body that is asked for",
    (s) => answer(s, 200, '{"status":"ok"}'),
    { success_body: { pointer: "/status", equals: "ok" } },
    { kind: "answered", status: 200, isExpected: true, reason: null },
  ],
  [
    "answers with a success that its body denies",
    (s) => answer(s, 200, '{"status":"broken"}'),
    { success_body: { pointer: "/status", equals: "ok" } },
    {
      kind: "answered",
      status: 200,
      isExpected: false,
      reason: "body-unexpected",
      detail: 'what the body has at "/status" is not "ok"',
    },
  ],
  [
    "answers without the text that is asked for",
    WELL,
    { success_body: { contains: "wello" } },
    { kind: "answered", isExpected: false, reason: "body-unexpected", detail: 'the body does not contain "wello"' },
  ],
  [
    "fails, whatever the body says",
    (s) => answer(s, 500, "ok"),
    { success_body: { contains: "ok" } },
    { kind: "answered", status: 500, isExpected: false, reason: null },
  ],
  [
    "says what is asked for in more than the job allows",
    (s) => answer(s, 200, `ok${"x".repeat(200_000)}`),
    { max_response: "10kB", success_body: { contains: "ok" } },
    { kind: "failed", reason: "response-too-large", status: 200 },
  ],
  [
    "asks to be left alone for a while",
    (s) => answer(s, 503, "", { "retry-after": "120" }),
    {},
    { kind: "answered", status: 503, retryAfterMs: 120_000 },
  ],
  [
    "asks for it until an instant that is over",
    (s) => answer(s, 503, "", { "retry-after": "Wed, 21 Oct 2015 07:28:00 GMT" }),
    {},
    { kind: "answered", status: 503, retryAfterMs: 0 },
  ],
  ["drops the connection", (s) => s.destroy(), {}, { kind: "failed", reason: "connection-lost", isSent: true }],
  ["resets the connection", (s) => s.resetAndDestroy(), {}, { kind: "failed", reason: "connection-lost" }],
  ["ends without an answer", (s) => s.end(), {}, { kind: "failed", reason: "connection-lost", isSent: true }],
  ["never answers", NEVER, { timeout: "150ms" }, { kind: "failed", reason: "timeout", isSent: true, status: null }],
  [
    "answers, and stops in the middle of its body",
    (s) => s.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf"),
    { timeout: "150ms" },
    { kind: "failed", reason: "timeout", status: 200, bytes: 4, excerpt: "half" },
  ],
  [
    "breaks off in the middle of its body",
    (s) => s.end("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf"),
    {},
    { kind: "failed", status: 200, bytes: 4 },
  ],
  [
    "sends a byte now and then: the clock is over all of them",
    (s) => {
      s.write("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n");
      const drip = setInterval(() => s.write("x"), 20);
      s.on("close", () => clearInterval(drip));
    },
    { timeout: "200ms" },
    { kind: "failed", reason: "timeout", status: 200 },
  ],
  [
    "sends interim answers without end: they are none",
    (s) => {
      const flood = setInterval(() => s.write("HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"), 20);
      s.on("close", () => clearInterval(flood));
    },
    { timeout: "200ms" },
    { kind: "failed", reason: "timeout", status: null },
  ],
  [
    "sends more than the job allows",
    (s) => answer(s, 200, "x".repeat(200_000)),
    { max_response: "10kB" },
    { kind: "failed", reason: "response-too-large", status: 200, isSent: true },
  ],
  [
    "sends chunks without end",
    (s) => {
      s.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
      const chunks = setInterval(() => s.write(`1000\r\n${"x".repeat(4096)}\r\n`), 1);
      s.on("close", () => clearInterval(chunks));
    },
    { max_response: "100kB" },
    { kind: "failed", reason: "response-too-large", status: 200 },
  ],
  [
    "sends chunks that are none",
    (s) => s.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nnonsense\r\n\r\n"),
    { timeout: "5s" },
    { kind: "failed", reason: "response-invalid", status: 200 },
  ],
  ["speaks no HTTP", (s) => s.write("220 mail.example ESMTP\r\n"), {}, { kind: "failed", reason: "response-invalid" }],
  [
    "sends a head without end",
    (s) => s.write(`HTTP/1.1 200 OK\r\n${"x-filler: 0123456789\r\n".repeat(2_000)}`),
    {},
    { kind: "failed", reason: "response-invalid", isSent: true },
  ],
  [
    "keeps only the beginning of an answer",
    (s) => answer(s, 200, "0123456789"),
    { excerpt: "4B" },
    { kind: "answered", bytes: 10, excerpt: "0123" },
  ],
  ["keeps nothing of it where that was asked", WELL, { excerpt: "0B" }, { kind: "answered", bytes: 4, excerpt: null }],
];

describe("R14: a server that", () => {
  test.each(ROWS)("%s", async (_, manners, http, ending) => {
    const { url, hits } = await server(manners);
    const requests = dispatcher();
    const end = await requests.run(requestArm({ url, method: "POST", body: "x", timeout: "10s", ...http }));
    expect(end.ending).toMatchObject(ending);
    expect([hits.length, requests.ends.length]).toEqual([1, 1]);
  });

  test("is not there: nothing was sent", async () => {
    const { url, close } = await server(WELL);
    await close();
    const { ending } = await dispatcher().run(requestArm({ url }));
    expect(ending).toMatchObject({ kind: "failed", reason: "connect-failed", isSent: false, status: null });
  });

  test("answers late: the answer is nobody's any more", async () => {
    let late: () => void = () => undefined;
    const { url, hits, open } = await server((socket) => {
      late = () => answer(socket, 200, "late");
    });
    const requests = dispatcher();
    const { ending } = await requests.run(requestArm({ url, timeout: "100ms" }));
    expect(ending).toMatchObject({ reason: "timeout", isSent: true });
    late();
    const second = requestArm({ url, timeout: "100ms" });
    await requests.run(second);
    expect([hits.length, requests.ends.length, hits[1]?.before]).toEqual([2, 2, 0]);
    expect(open.size).toBeLessThanOrEqual(1);
  });
});

describe("R14: connections that are used again", () => {
  test.each<[string, Manners]>([
    [
      "are reset when the next request comes",
      (s, { before }) => (before === 0 ? answer(s, 200, "a") : s.resetAndDestroy()),
    ],
    ["are closed when the next request comes", (s, { before }) => (before === 0 ? answer(s, 200, "a") : s.destroy())],
    ["are ended when the next request comes", (s, { before }) => (before === 0 ? answer(s, 200, "a") : s.end())],
  ])("%s: it fails, and no layer sends it again", async (_, manners) => {
    const { url, hits } = await server(manners);
    const requests = dispatcher();
    for (let round = 0; round < 20; round++) await requests.run(requestArm({ url, method: round % 2 ? "GET" : "PUT" }));
    const attempts = hits.map(({ headers }) => headers["x-kron-attempt"]);
    expect([attempts.length, new Set(attempts).size]).toEqual([20, 20]);
    expect(requests.ends.filter(({ ending }) => ending.kind === "answered").length).toBe(10);
    expect(requests.ends.filter(({ ending }) => ending.reason === "connection-lost").length).toBe(10);
  });

  test("are closed by the server right after each answer: every request is received once, or none of its bytes", async () => {
    const { url, hits } = await server((socket) => {
      answer(socket, 200, "a");
      setImmediate(() => socket.destroy());
    });
    const requests = dispatcher();
    for (let round = 0; round < 50; round++) await requests.run(requestArm({ url }));
    const attempts = hits.map(({ headers }) => headers["x-kron-attempt"]);
    expect(new Set(attempts).size).toBe(attempts.length);
    const answered = requests.ends.filter(({ ending }) => ending.kind === "answered");
    expect(answered.length).toBeGreaterThan(0);
    expect(attempts.length).toBeGreaterThanOrEqual(answered.length);
  });

  test("serve requests of one moment", async () => {
    const wild = await server(WELL);
    const requests = dispatcher();
    for (let round = 0; round < 10; round++) await requests.run(requestArm({ url: wild.url }));
    expect([wild.hits.length, wild.connections]).toEqual([10, 1]);
    expect(requests.ends.at(-1)?.ending).toMatchObject({ timings: { connectMs: null, tlsMs: null } });
  });

  test("what sends requests cannot be loaded: the start fails with that, and the next one tries anew", async () => {
    const wild = await server(WELL);
    const requests = dispatcher();
    vi.spyOn(Lines, "open").mockResolvedValueOnce(err("too many open files"));
    expect(await requests.port.arm(requestArm({ url: wild.url }))).toMatchObject({
      ok: false,
      error: { code: "launcher-unavailable", message: "what sends requests cannot be loaded: too many open files" },
    });
    expect((await requests.run(requestArm({ url: wild.url }))).ending).toMatchObject({ status: 200 });
    expect(wild.hits).toHaveLength(1);
  });

  test("are never shared by what was judged differently", async () => {
    const wild = await server(WELL);
    const requests = dispatcher({ resolver: { resolve: async () => ({ ok: true, value: ["127.0.0.1"] }) } });
    await requests.run(requestArm({ url: wild.url }));
    await requests.run(requestArm({ url: `http://elsewhere.example:${wild.port}/` }));
    expect(wild.connections).toBe(2);
    const refused = await requests.port.arm({
      ...requestArm({ url: wild.url }),
      settings: { allowPrivate: false, allow: [], maxConcurrent: 1, maxPerOrigin: 1 },
    });
    expect(refused).toMatchObject({ ok: false, error: { code: "address-forbidden" } });
  });
});

describe("a request", () => {
  test("says what it is for, and is the same for whoever receives it twice", async () => {
    const { url, hits } = await server(WELL);
    const request = requestArm({ url, headers: { "X-Own": "1" } }, { identity: "prod/zählen" });
    await dispatcher().run(request);
    const key = createHash("sha256").update("prod/zählen\n2026-11-18T12:00:00Z").digest("hex");
    expect(hits[0]?.headers).toMatchObject({
      "idempotency-key": key,
      "x-kron-identity": "prod/z%C3%A4hlen",
      "x-kron-period-id": "2026-11-18T12:00:00Z",
      "x-kron-scheduled-for": "2026-11-18T12:07:31Z",
      "x-kron-attempt": request.attemptId,
      "x-own": "1",
      host: new URL(url).host,
    });
    expect(hits[0]?.headers["user-agent"]).toMatch(/^kron\//);
    expect(hits[0]?.headers["accept-encoding"]).toBeUndefined();
  });

  test("takes headers and a signature from files and variables, and they are nowhere to be seen", async () => {
    const file = path.join(temporary(), "token");
    fs.writeFileSync(file, "Bearer c4n4ry-file\n");
    const { url, hits } = await server((socket, { headers }) => answer(socket, 200, JSON.stringify(headers)));
    const secret = `whsec_${Buffer.from("c4n4ry-key").toString("base64")}`;
    const requests = dispatcher({ env: { API_KEY: "c4n4ry-env", SIGNING: secret } });
    const { ending } = await requests.run(
      requestArm({
        url,
        method: "POST",
        body: '{"a":1}',
        header_files: { Authorization: file },
        header_env: { "X-Api-Key": "API_KEY" },
        signature: { secret_env: "SIGNING" },
        excerpt: "4KiB",
      }),
    );
    const headers = hits[0]?.headers ?? {};
    expect([headers["authorization"], headers["x-api-key"]]).toEqual(["Bearer c4n4ry-file", "c4n4ry-env"]);
    const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.{"a":1}`;
    const expected = createHmac("sha256", "c4n4ry-key").update(signed).digest("base64");
    expect(headers["webhook-signature"]).toBe(`v1,${expected}`);
    expect(ending).toMatchObject({ kind: "answered", excerpt: expect.stringContaining("[redacted]") });
    expect(JSON.stringify(requests.ends)).not.toContain("c4n4ry");
  });

  test.each<[string, Http]>([
    ["a file that is not there", { header_files: { A: "/nonexistent/secret" } }],
    ["a variable that is not set", { header_env: { A: "NOT_SET" } }],
    ["a key that is none", { signature: { secret_env: "NO_KEY" } }],
    ["an empty variable", { header_env: { A: "EMPTY" } }],
    ["a variable that no header can hold", { header_env: { A: "BROKEN" } }],
    ["a signature without its secret", { signature: { secret_file: "/nonexistent/secret" } }],
  ])("S24: with %s is refused before its claim, and nothing is sent", async (_, http) => {
    const { url, connections } = await server(WELL);
    const requests = dispatcher({ env: { EMPTY: " ", BROKEN: "a\nb", NO_KEY: "whsec_!!!" } });
    const refused = await requests.port.arm(requestArm({ url, ...http }));
    expect(refused).toMatchObject({ ok: false, error: { code: "secret-unreadable" } });
    expect(JSON.stringify(refused)).not.toContain("a\\nb");
    expect(connections).toBe(0);
  });

  test.each(["a\nb", "\u20ac5"])("S24: with %j sealed, which no header can hold, it is refused", async (value) => {
    const { url, connections } = await server(WELL);
    const box = new SecretBox(Buffer.alloc(32, 7));
    const requests = dispatcher({ unseal: (text) => ok(box.open(text) ?? "") });
    const refused = await requests.port.arm(requestArm({ url, headers: { A: box.seal(value) } }));
    expect(refused).toMatchObject({ ok: false, error: { code: "secret-unreadable" } });
    expect(JSON.stringify(refused)).not.toContain(JSON.stringify(value).slice(1, -1));
    expect(connections).toBe(0);
  });

  test("S20: is not sent when its turn comes too late", async () => {
    const { url, hits, hitsReached } = await server(NEVER);
    const requests = dispatcher();
    const settings = { allowPrivate: true, allow: [], maxConcurrent: 10, maxPerOrigin: 1 };
    const first = await requests.ready(requestArm({ url, timeout: "1500ms" }, { settings }));
    const second = await requests.ready(requestArm({ url }, { settings }));
    const latestAt = Math.floor(Date.now() / 1_000) * 1_000;
    expect(await requests.port.go(first, latestAt + 10_000)).toBe("started");
    await hitsReached(1);
    expect(await requests.port.go(second, latestAt)).toBe("started");
    expect((await requests.endOf(first.attemptId)).ending.reason).toBe("timeout");
    expect((await requests.endOf(second.attemptId)).ending).toEqual({ kind: "not-run", reason: "aborted_late" });
    expect(hits.length).toBe(1);
  });

  test("that waits for its turn can be ended, and is never sent", async () => {
    const { url, hits, hitsReached } = await server(NEVER);
    const requests = dispatcher();
    const settings = { allowPrivate: true, allow: [], maxConcurrent: 1, maxPerOrigin: 1 };
    const armed = await Promise.all([0, 1].map(() => requests.ready(requestArm({ url }, { settings }))));
    for (const one of armed) await requests.port.go(one, Date.now() + 60_000);
    await hitsReached(1);
    for (const { attemptId } of armed.toReversed()) {
      expect(await requests.port.terminate(attemptId, 0)).toEqual({ survivors: [], wasKilled: false });
    }
    const ends = await Promise.all(armed.map(({ attemptId }) => requests.endOf(attemptId)));
    expect(ends.map(({ ending }) => [ending.reason, "isSent" in ending && ending.isSent])).toEqual([
      ["cancelled", true],
      ["cancelled", false],
    ]);
    expect(hits.length).toBe(1);
  });

  test("says how long it waited for room, beside how long it took", async () => {
    const slow = await server((socket) => void setTimeout(() => answer(socket, 200, "late"), 400));
    const requests = dispatcher();
    const settings = { allowPrivate: true, allow: [], maxConcurrent: 1, maxPerOrigin: 1 };
    const armed = await Promise.all([0, 1].map(() => requests.ready(requestArm({ url: slow.url }, { settings }))));
    for (const one of armed) await requests.port.go(one, Date.now() + 60_000);
    const ends = await Promise.all(armed.map(({ attemptId }) => requests.endOf(attemptId)));
    const waited = ends.map(({ ending }) => ("waitedMs" in ending ? (ending.waitedMs ?? 0) : 0));
    expect([waited[0] ?? 0, waited[1] ?? 0].map((ms) => ms >= 390)).toEqual([false, true]);
    const [, second] = ends.map(({ ending }) => readEnding({ ...endingFields(ending) }));
    expect(second).toMatchObject({ kind: "answered", waitedMs: waited[1] });
  });

  test("one origin that is slow holds up nobody else", async () => {
    const slow = await server(NEVER);
    const quick = await server(WELL);
    const requests = dispatcher();
    const settings = { allowPrivate: true, allow: [], maxConcurrent: 10, maxPerOrigin: 2 };
    for (let count = 0; count < 20; count++) {
      await requests.port.go(await requests.ready(requestArm({ url: slow.url }, { settings })), Date.now() + 60_000);
    }
    const { ending } = await requests.run(requestArm({ url: quick.url }, { settings }));
    expect([ending.kind, slow.hits.length <= 2]).toEqual(["answered", true]);
  });

  test("of an earlier daemon is never adopted, and never sent again", async () => {
    const { url, connections } = await server(WELL);
    const requests = dispatcher();
    const { attemptId } = requestArm({ url });
    const holder = { kind: "request", pid: process.pid } as const;
    expect(await requests.port.adopt({ attemptId, holder, output: null })).toBe("gone");
    expect(connections).toBe(0);
  });
});
