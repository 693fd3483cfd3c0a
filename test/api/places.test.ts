/** Places of those who follow something: free again when nobody is there, however their connection came to its end. */
import * as http from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { ClientGone } from "../../src/api/http/body.js";
import { ONLOOKER_LIMITS, Onlookers } from "../../src/api/http/onlookers.js";
import { EventStreams, readTopics, STREAM_LIMITS } from "../../src/api/http/sse.js";
import { Feed } from "../../src/api/web/feed.js";
import { ok } from "../../src/core/base/result.js";
import type { Watching } from "../../src/operations/watching.js";

/** Nothing is due in here: what frees a place is not only the time. */
const clock = { now: () => 0, monotonicMs: () => 0, after: () => ({ cancel: () => undefined }) } as never;
const mayGoOn = async (): Promise<boolean> => true;
const status = () => ({ jobs: 0, active: 0, armed: 0, nextDueAt: null }) as never;

interface Seats {
  /** Of one holder. */
  readonly most: number;
  open(response: http.ServerResponse): void;
  watched(): number;
}

function streams(): Seats {
  const all = new EventStreams(clock);
  const about = { topics: readTopics(null), tenant: null, holder: "one", mayGoOn };
  return {
    most: STREAM_LIMITS.perHolder,
    open: (response) => all.open({ response, ...about }, undefined, {}),
    watched: () => 0,
  };
}

function feed(): Seats {
  const all = new Feed({ clock, status, watchCommits: () => () => undefined });
  const about = { holder: "one", tenant: null, mayGoOn };
  const open = (response: http.ServerResponse) => all.open({ response, ...about }, {});
  return { most: STREAM_LIMITS.perHolder, open, watched: () => 0 };
}

function onlookers(): Seats {
  let watched = 0;
  const watch: Watching["watch"] = (_wish, onlooker) => {
    watched += 1;
    onlooker.send("{}", () => undefined);
    return ok(() => {
      watched -= 1;
    });
  };
  const all = new Onlookers({ watch }, clock);
  const open = (response: http.ServerResponse) => all.open({ response, holder: "one", mayGoOn }, "", {});
  return { most: ONLOOKER_LIMITS.perHolder, open, watched: () => watched };
}

const servers: http.Server[] = [];
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

async function served(serve: http.RequestListener): Promise<number> {
  const server = http.createServer(serve);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

/** So many requests on one connection, of which none is answered to its end. */
async function asked(port: number, count: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  sockets.push(socket);
  socket.on("error", () => undefined).write("GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(count));
  await new Promise((resolve) => socket.once("data", resolve).once("close", resolve));
  return socket;
}

describe.each([
  ["events", streams],
  ["the feed of a page", feed],
  ["an inspector", onlookers],
])("places of %s", (_title, seatsOf) => {
  test("of answers that wait behind others are free when their connection has ended", async () => {
    const seats = seatsOf();
    const opened: unknown[] = [];
    const ended: Promise<unknown>[] = [];
    const port = await served((request, response) => {
      ended.push(new Promise((resolve) => request.socket.once("close", resolve)));
      request.socket.setMaxListeners(0);
      try {
        seats.open(response);
        opened.push("opened");
      } catch (error) {
        opened.push((error as { readonly code: string }).code);
        response.writeHead(429).end();
      }
    });
    const first = await asked(port, seats.most + 1);
    expect(opened).toEqual([...Array.from({ length: seats.most }, () => "opened"), "rate-exceeded"]);
    first.destroy();
    await Promise.all(ended);
    opened.length = 0;
    await asked(port, seats.most);
    expect(opened).toEqual(Array.from({ length: seats.most }, () => "opened"));
    expect(seats.watched()).toBe(seatsOf === onlookers ? seats.most : 0);
  });

  test("are not taken by whoever left before", async () => {
    const seats = seatsOf();
    const refused: unknown[] = [];
    const left = await served((_request, response) => {
      response.once("close", () => {
        try {
          seats.open(response);
        } catch (error) {
          refused.push(error);
        }
      });
      response.socket?.destroy();
    });
    for (let count = 0; count < seats.most; count++) await asked(left, 1);
    expect(refused).toEqual(Array.from({ length: seats.most }, () => expect.any(ClientGone)));
    let isOpen = false;
    const port = await served((_request, response) => {
      seats.open(response);
      isOpen = true;
    });
    await asked(port, 1);
    expect(isOpen).toBe(true);
  });
});
