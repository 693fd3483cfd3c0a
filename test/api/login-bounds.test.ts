/** What whoever has no key yet may cost the door: real requests to the part of it that lets people in. */
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { ClientGone, parseBody, readBody } from "../../src/api/http/body.js";
import { HttpProblem } from "../../src/api/http/problem.js";
import { RateBook } from "../../src/api/http/rate.js";
import { API_LIMITS } from "../../src/api/limits.js";
import { SessionDoor, type SessionPorts } from "../../src/api/web/session-door.js";
import { LoginCodes } from "../../src/operations/page/login-codes.js";
import { ask, FROM_PAGE, logIn, type Told, withBoth } from "../support/page.js";

const clock = { monotonicMs: () => 0 };
const servers: http.Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

async function listening(serve: http.RequestListener): Promise<string> {
  const server = http.createServer(serve);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

interface Entrance {
  readonly logins: LoginCodes;
  logIn(body: unknown): Promise<Told>;
}

async function entrance(
  authority: SessionPorts["authority"] = { holderOfKey: async () => null, pace: () => ({}) },
): Promise<Entrance> {
  const logins = new LoginCodes(clock);
  const door = new SessionDoor({ clock, logins, isSecure: false, onSessionEnd: () => undefined, authority });
  const address = await listening((request, response) => {
    door.logIn(request, "somewhere").then(
      ({ status, headers, body }) => response.writeHead(status, headers).end(body),
      ({ status, headers, code }: HttpProblem) => response.writeHead(status, headers).end(code),
    );
  });
  return { logins, logIn: (body) => ask(address, "/web/session", { method: "POST", headers: FROM_PAGE, body }) };
}

describe("a logout", () => {
  test("has what is followed looked at only where it has ended a session", async () => {
    const logins = new LoginCodes(clock);
    let ends = 0;
    const authority = { holderOfKey: async () => null, pace: () => ({}) };
    const onSessionEnd = (): void => {
      ends += 1;
    };
    const door = new SessionDoor({ clock, logins, isSecure: false, onSessionEnd, authority });
    const address = await listening((request, response) => {
      const answered = request.method === "POST" ? door.logIn(request, "somewhere") : door.logOut(request);
      void Promise.resolve(answered).then(({ status, headers, body }) => response.writeHead(status, headers).end(body));
    });
    const out = async (headers: Readonly<Record<string, string>>): Promise<number> =>
      (await ask(address, "/web/session", { method: "DELETE", headers })).status;
    const own = await logIn(address, { code: logins.issue("read", null).code });
    expect([await out(FROM_PAGE), await out(withBoth({ ...own, page: "of somebody else" })), ends]).toEqual([
      204, 204, 0,
    ]);
    expect([await out(withBoth(own)), ends]).toEqual([204, 1]);
    expect([await out(withBoth(own)), ends]).toEqual([204, 1]);
  });
});

describe("a login", () => {
  test("is small: nothing larger is read", async () => {
    const { logIn } = await entrance();
    const told = await logIn({ code: ["x".repeat(API_LIMITS.credentialBytes)] });
    expect([told.status, told.body]).toEqual([413, "body-too-large"]);
  });

  test("that cannot be understood is a wrong one; a right one is let in all the same", async () => {
    const { logins, logIn } = await entrance();
    const told = [];
    for (let count = 0; count <= API_LIMITS.wrongLogins.burst; count++) told.push((await logIn({ no: count })).status);
    expect(told).toEqual([...Array.from({ length: API_LIMITS.wrongLogins.burst }, () => 400), 429]);
    expect((await logIn({ code: "x".repeat(API_LIMITS.credentialBytes) })).status).toBe(429);
    expect((await logIn({ code: logins.issue("read", null).code })).status).toBe(201);
  });
});

test("a login by a key is at the rate of the key", async () => {
  const rate = { perSecond: 1, burst: 2 };
  const asked = new RateBook(10);
  const holder = { tenant: "acme", keyId: "one", scope: "read", rate, name: "one" } as const;
  const pace = (): Readonly<Record<string, string>> => {
    if (asked.take(holder.keyId, rate, 0).isAllowed) return {};
    throw new HttpProblem("rate-exceeded", "too often");
  };
  const { logIn } = await entrance({ holderOfKey: async () => holder, pace });
  const told = [await logIn({ key: "k" }), await logIn({ key: "k" }), await logIn({ key: "k" })];
  expect(told.map((each) => each.status)).toEqual([201, 201, 429]);
});

describe("a body", () => {
  const parsed = (value: unknown) => parseBody(Buffer.from(JSON.stringify(value)));

  test("has so many elements, however they are nested", () => {
    const list = (length: number) => Array.from({ length }, () => 1);
    const fits = { a: list(API_LIMITS.bodyElements - 3), b: { c: 1 } };
    expect(parsed(fits)).toEqual(fits);
    const tooMany = expect.objectContaining({ code: "input-invalid", message: expect.stringContaining("elements") });
    expect(() => parsed({ ...fits, d: 1 })).toThrow(tooMany);
    const objects = Array.from({ length: API_LIMITS.bodyElements / 2 }, () => ({ a: 1 }));
    expect(() => parsed({ objects })).toThrow(tooMany);
    expect(() => parsed({ a: { b: [0, "\ud800"] } })).toThrow("/a/b/1: half a character");
  });

  test("of a client that has gone before anybody listens is waited for by nobody", async () => {
    let came: (request: http.IncomingMessage) => void = () => undefined;
    const gone = new Promise<http.IncomingMessage>((resolve) => {
      came = resolve;
    });
    const address = await listening((request) => {
      request.once("error", () => undefined).once("close", () => came(request));
      request.socket.destroy();
    });
    await ask(address, "/", { method: "POST", body: {} }).catch(() => undefined);
    await expect(readBody(await gone, null)).rejects.toBeInstanceOf(ClientGone);
  });
});
