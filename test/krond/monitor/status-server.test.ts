import * as http from "node:http";
import * as net from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import type { OpenDoor } from "../../../src/actors/doors/listen.js";
import { KronError } from "../../../src/core/base/errors/kron-error.js";
import { type StatusServerOptions, startStatusServer } from "../../../src/krond/monitor/status-server.js";

const running: OpenDoor[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

async function start(options: Partial<StatusServerOptions> = {}): Promise<OpenDoor> {
  const server = await startStatusServer({
    port: 0,
    metrics: () => "kron_jobs 1\n",
    health: () => ({ isOk: true, details: {} }),
    readiness: () => ({ isOk: false, details: { phase: "recovering" } }),
    ...options,
  });
  running.push(server);
  return server;
}

interface Reply {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

function ask({ host, port }: OpenDoor, path: string, options: http.RequestOptions = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = http.request({ host, port, path, agent: false, ...options }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (text: string) => {
        body += text;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
    });
    request.on("error", reject);
    request.end();
  });
}

/** Sends bytes as they are, and gives the first line of the answer. */
function send({ host, port }: OpenDoor, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = "";
    const socket = net.connect({ host, port }, () => socket.end(text));
    socket.setEncoding("utf8");
    socket.on("data", (piece: string) => {
      received += piece;
    });
    socket.on("close", () => resolve(received.split("\r\n", 1)[0] ?? ""));
    socket.on("error", reject);
  });
}

describe("what it answers", () => {
  test("/metrics: the text format of Prometheus", async () => {
    const { status, headers, body } = await ask(await start(), "/metrics");
    expect([status, headers["content-type"], body]).toEqual([
      200,
      "text/plain; version=0.0.4; charset=utf-8",
      "kron_jobs 1\n",
    ]);
    expect(headers).toMatchObject({ "cache-control": "no-store", "x-content-type-options": "nosniff" });
    expect(headers["access-control-allow-origin"]).toBeUndefined();
  });

  test("/healthz and /readyz: 200 or 503, with a few words", async () => {
    const server = await start();
    const [health, ready] = [await ask(server, "/healthz?verbose"), await ask(server, "/readyz")];
    expect([health.status, JSON.parse(health.body)]).toEqual([200, { status: "ok" }]);
    expect([ready.status, JSON.parse(ready.body)]).toEqual([503, { status: "unavailable", phase: "recovering" }]);
  });

  test("HEAD: the same without a body", async () => {
    const { status, headers, body } = await ask(await start(), "/metrics", { method: "HEAD" });
    expect([status, headers["content-length"], body]).toEqual([200, "12", ""]);
  });

  test.each(["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])("%s is refused", async (method) => {
    const { status, headers } = await ask(await start(), "/metrics", { method });
    expect([status, headers.allow]).toEqual([405, "GET, HEAD"]);
  });

  test.each(["/", "/metrics/", "/metricsx", "/../metrics", "/%6detrics", "/favicon.ico"])(
    "%s is not there",
    async (path) => {
      expect((await ask(await start(), path)).status).toBe(404);
    },
  );

  test("what goes wrong inside is not told to strangers", async () => {
    const fail = (): never => {
      throw new Error("secret path /private/x");
    };
    const server = await start({ metrics: fail, health: fail, readiness: fail });
    for (const path of ["/metrics", "/healthz", "/readyz"]) {
      expect(await ask(server, path)).toMatchObject({ status: 500, body: "internal error\n" });
    }
  });
});

describe("whom it answers", () => {
  const hosts: readonly [host: string, status: number][] = [
    ["localhost", 200],
    ["LOCALHOST:9000", 200],
    ["localhost.", 200],
    ["127.0.0.1", 200],
    ["127.0.0.1:9000", 200],
    ["10.1.2.3:80", 200],
    ["[::1]", 200],
    ["[::1]:9000", 200],
    ["kron.example.org", 200],
    ["Kron.Example.ORG:443", 200],
    ["evil.example.org", 421],
    ["kron.example.org.evil.net", 421],
    ["localhost.evil.net", 421],
    ["127.0.0.1.evil.net", 421],
    ["127.0.0.1:80:80", 421],
    ["[::1", 421],
    ["[evil]", 421],
    ["", 421],
    ["a".repeat(300), 421],
  ];

  test.each(hosts)("Host: %s: %s", async (host, status) => {
    const server = await start({ allowedHosts: ["kron.example.org"] });
    expect((await ask(server, "/healthz", { headers: { Host: host }, setHost: false })).status).toBe(status);
  });

  test("loopback by default", async () => {
    expect((await start()).host).toBe("127.0.0.1");
  });
});

describe("what it withstands", () => {
  const requests: readonly [title: string, text: string, status: string][] = [
    ["no host", "GET /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 400 Bad Request"],
    ["an old client without a host", "GET /metrics HTTP/1.0\r\n\r\n", "HTTP/1.1 421 Misdirected Request"],
    ["no HTTP at all", "hello\r\n\r\n", "HTTP/1.1 400 Bad Request"],
    [
      "headers without end",
      `GET / HTTP/1.1\r\nHost: x\r\nA: ${"x".repeat(20_000)}`,
      "HTTP/1.1 431 Request Header Fields Too Large",
    ],
    ["an endless address", `GET /${"x".repeat(3000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`, "HTTP/1.1 414 URI Too Long"],
    [
      "two lengths",
      "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
      "HTTP/1.1 400 Bad Request",
    ],
  ];

  test.each(requests)("%s", async (_title, text, status) => {
    const server = await start();
    expect(await send(server, text)).toBe(status);
    expect((await ask(server, "/healthz")).status).toBe(200);
  });

  test("a client that goes away in the middle", async () => {
    const server = await start({ metrics: () => "x".repeat(5_000_000) });
    const socket = net.connect({ host: server.host, port: server.port }, () => {
      socket.write("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    });
    await new Promise((resolve) => socket.once("data", resolve));
    socket.resetAndDestroy();
    expect((await ask(server, "/healthz")).status).toBe(200);
  });

  test("close ends connections that say nothing", async () => {
    const server = await start();
    const socket = net.connect({ host: server.host, port: server.port });
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.on("error", () => undefined);
    await new Promise((resolve) => socket.once("connect", resolve));
    await server.close();
    await closed;
  });

  test("an address that is taken is an operating failure with a code", async () => {
    const { port } = await start();
    const second = await startStatusServer({
      port,
      metrics: () => "",
      health: () => ({ isOk: true, details: {} }),
      readiness: () => ({ isOk: true, details: {} }),
    }).catch((error: unknown) => error);
    expect(second).toBeInstanceOf(KronError);
    expect(second).toMatchObject({ code: "socket-unavailable", component: "api", operation: "listen" });
  });
});
