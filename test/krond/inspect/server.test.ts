import * as http from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import type { OpenDoor } from "../../../src/actors/doors/listen.js";
import { KronError } from "../../../src/core/base/errors/kron-error.js";
import type { InspectFilter } from "../../../src/krond/inspect/filter.js";
import {
  INSPECT_SERVER_LIMITS,
  type InspectServerOptions,
  startInspectServer,
} from "../../../src/krond/inspect/server.js";

const running: OpenDoor[] = [];
const attached: WebSocket[] = [];
afterEach(async () => {
  for (const socket of attached.splice(0)) socket.terminate();
  await Promise.all(running.splice(0).map((server) => server.close()));
});

interface Door {
  readonly server: OpenDoor;
  readonly filters: InspectFilter[];
}

async function open(options: Partial<InspectServerOptions> = {}): Promise<Door> {
  const filters: InspectFilter[] = [];
  const server = await startInspectServer({
    host: "127.0.0.1",
    port: 0,
    origins: ["https://inspector.example"],
    clientCount: () => filters.length,
    accept: (socket, filter) => {
      filters.push(filter);
      socket.send("hello");
    },
    ...options,
  });
  running.push(server);
  return { server, filters };
}

/** What came of it: the first words, or the status with which it was refused and why. */
function attach({ server }: Door, path = "/", headers: Record<string, string> = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}${path}`, { headers });
    attached.push(socket);
    socket.on("message", (data) => resolve(String(data)));
    socket.on("error", reject);
    socket.on("unexpected-response", (_, response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (piece: string) => {
        body += piece;
      });
      response.on("end", () => resolve(`${response.statusCode} ${body.trim()}`));
    });
  });
}

const ATTEMPTS: readonly (readonly [name: string, path: string, headers: Record<string, string>, expected: string])[] =
  [
    ["by its address", "/", {}, "hello"],
    ["by localhost", "/", { Host: "localhost:1" }, "hello"],
    ["with a filter", "/?kind=job&identity=prod/*", {}, "hello"],
    ["a page that was allowed", "/", { Origin: "https://inspector.example" }, "hello"],
    [
      "any other page",
      "/",
      { Origin: "https://evil.example" },
      "403 this web page may not attach: name its origin with --inspect-origin",
    ],
    [
      "a page without an origin of its own",
      "/",
      { Origin: "null" },
      "403 this web page may not attach: name its origin with --inspect-origin",
    ],
    ["through a name of somebody else", "/", { Host: "evil.example:80" }, "421 not known by this name"],
    ["another path", "/inspect", {}, "404 the stream is at /"],
    [
      "a bad filter",
      "/?kind=jobs",
      {},
      '400 kind: "jobs" is unknown; there is supervisor, job, period, execution, launcher',
    ],
    ["too long", `/?identity=${"x".repeat(9_000)}`, {}, "414 the address is too long"],
  ];

describe("who may attach", () => {
  test.each(ATTEMPTS)("%s", async (_, path, headers, expected) => {
    expect(await attach(await open(), path, headers)).toBe(expected);
  });

  test("a name that it was told to listen on is a name it is known by", async () => {
    const door = await open({ host: "localhost" });
    expect(await attach(door, "/", { Host: "localhost" })).toBe("hello");
  });

  test("the filter reaches whoever serves the client", async () => {
    const door = await open();
    await attach(door, "/?identity=prod/*&resting=none");
    expect(door.filters).toMatchObject([{ patterns: ["prod/*"], resting: 0 }]);
  });

  test("only so many", async () => {
    const door = await open({ clientCount: () => INSPECT_SERVER_LIMITS.clients });
    expect(await attach(door)).toBe("503 there are 8 clients already");
  });

  test("who asks without a WebSocket is told what to attach with, or what is wrong", async () => {
    const { server } = await open();
    const plain = await fetch(`http://127.0.0.1:${server.port}/`);
    expect([plain.status, await plain.text()]).toEqual([426, expect.stringContaining("WebSocket")]);
    const wrong = await fetch(`http://127.0.0.1:${server.port}/?resting=x`);
    expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining("resting=all")]);
  });

  test("an address that is taken is refused with an error that says so", async () => {
    const { server } = await open();
    const second = open({ port: server.port });
    await expect(second).rejects.toThrow(KronError);
    await expect(second).rejects.toThrow(`cannot listen on 127.0.0.1:${server.port} for inspectors`);
  });
});

describe("who talks", () => {
  const closing = (socket: WebSocket): Promise<number> => new Promise((resolve) => socket.on("close", resolve));

  test("a few words are ignored; who does not stop is shown out", async () => {
    await attach(await open());
    const [socket] = attached;
    if (socket === undefined) throw new Error("not attached");
    const closed = closing(socket);
    for (let count = 0; count <= INSPECT_SERVER_LIMITS.messages; count += 1) socket.send("{}");
    expect(await closed).toBe(1008);
  });

  test("more than fits is not read", async () => {
    await attach(await open());
    const [socket] = attached;
    if (socket === undefined) throw new Error("not attached");
    const closed = closing(socket);
    socket.send("x".repeat(INSPECT_SERVER_LIMITS.messageBytes + 1));
    expect(await closed).toBe(1009);
  });

  test("a connection that breaks in the middle of a handshake disturbs nobody", async () => {
    const door = await open();
    const request = http.request({ port: door.server.port, headers: { Upgrade: "websocket", Connection: "Upgrade" } });
    request.on("error", () => undefined).end();
    request.destroy();
    expect(await attach(door)).toBe("hello");
  });
});
