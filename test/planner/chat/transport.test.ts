/** Where a model is asked, with which key, and what is never told of it. */
import * as fs from "node:fs";
import * as path from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/actors/clock.js";
import { readBaseUrl } from "../../../src/planner/chat/base-url.js";
import {
  type ChatTransport,
  createTransport,
  type Reply,
  type TransportOptions,
} from "../../../src/planner/chat/transport.js";
import { temporaryDirectories } from "../../support/temporary.js";
import { answer, WELL, type WildServer, wildServers } from "../../support/wild-server.js";

const servers = wildServers();
const temporary = temporaryDirectories();
const open: ChatTransport[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((transport) => transport.close()));
});

function post(server: WildServer, some: Partial<TransportOptions> = {}): Promise<Reply> {
  const baseUrl = new URL("v1/", server.url);
  const transport = createTransport({ baseUrl, key: null, env: {}, clock: systemClock, allowPrivate: true, ...some });
  open.push(transport);
  return transport.post("{}", 60_000, new AbortController().signal);
}

const KEY = "sk-very-secret-1234";

describe("a key", () => {
  test("from a variable goes into the header, and never comes back in what was answered", async () => {
    const echoing = await servers((socket, hit) => answer(socket, 401, `no such key: ${hit.headers["authorization"]}`));
    const reply = await post(echoing, { key: { from: "env", name: "API_KEY" }, env: { API_KEY: `${KEY}\n` } });
    expect(echoing.hits[0]?.headers["authorization"]).toBe(`Bearer ${KEY}`);
    expect(reply).toMatchObject({ kind: "answer", status: 401, text: "no such key: Bearer [redacted]" });
  });

  test("from a file is read for each request", async () => {
    const server = await servers(WELL);
    const file = path.join(temporary(), "key");
    fs.writeFileSync(file, "first\n");
    await post(server, { key: { from: "file", name: file } });
    fs.writeFileSync(file, "second\n");
    await post(server, { key: { from: "file", name: file } });
    expect(server.hits.map(({ headers }) => headers["authorization"])).toEqual(["Bearer first", "Bearer second"]);
  });

  test.each([
    ["is not set", {}],
    ["is empty", { API_KEY: "" }],
    ["would be two headers", { API_KEY: "a\r\nx-evil: 1" }],
  ])("that %s: nothing is sent", async (_, env) => {
    const server = await servers(WELL);
    const reply = await post(server, { key: { from: "env", name: "API_KEY" }, env });
    expect(reply).toMatchObject({ kind: "failed", reason: "secret-unreadable" });
    expect(server.hits).toEqual([]);
  });
});

describe("addresses", () => {
  test("a private one is refused before anything is sent, and the message says what lets it", async () => {
    const server = await servers(WELL);
    const reply = await post(server, { allowPrivate: false });
    expect(reply).toMatchObject({ kind: "failed", reason: "address-forbidden", message: /--allow-private/ });
    expect(server.connections).toBe(0);
  });

  test("where clouds hand out credentials is refused even then", async () => {
    const server = await servers(WELL);
    const reply = await post(server, { baseUrl: new URL("http://169.254.169.254/v1") });
    expect(reply).toMatchObject({ kind: "failed", reason: "address-forbidden" });
  });

  test.each<readonly [string, boolean, RegExp | null]>([
    ["https://api.example.com/v1", true, null],
    ["http://localhost:11434/v1", true, null],
    ["http://127.0.0.1:8080", true, null],
    ["http://[::1]:8080", true, null],
    ["http://models.example.com/v1", false, null],
    ["http://models.example.com/v1", true, /in the clear/],
    ["api.example.com", false, /not a URL|https or http/],
    ["file:///etc/passwd", false, /https or http/],
    ["https://user:pass@api.example.com", false, /credentials/],
    ["https://api.example.com/v1?key=1", false, /without/],
  ])("%s, with a key: %s", (text, hasKey, refusal) => {
    const read = readBaseUrl(text, hasKey);
    if (refusal === null) expect(read).toEqual({ ok: true, value: new URL(text) });
    else expect(read).toEqual({ ok: false, error: expect.stringMatching(refusal) });
  });
});

describe("Retry-After", () => {
  test.each<readonly [string, number | null]>([
    ["7", 7_000],
    ["Thu, 01 Jan 1970 00:00:00 GMT", 0],
    ["soon", null],
    ["-1", null],
  ])("%s", async (written, expected) => {
    const server = await servers((socket) => answer(socket, 429, "", { "retry-after": written }));
    expect(await post(server)).toMatchObject({ kind: "answer", status: 429, retryAfterMs: expected });
  });
});
