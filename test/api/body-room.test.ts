/** What bodies may take altogether, over real HTTP: of one key, of all, and by what they cost. */
import * as http from "node:http";
import { describe, expect, test } from "vitest";
import { BodyRoom } from "../../src/api/http/body-room.js";
import { API_LIMITS } from "../../src/api/limits.js";
import { deskApi } from "./support/desk-api.js";

describe("bodies that are being sent at once", () => {
  test("are bounded for each holder and over all; what is over does not count", async () => {
    const room = new BodyRoom({ ofHolder: 10, ofAll: 15 });
    let end: () => void = () => undefined;
    const held = room.within("one", async (place) => {
      place.add(6);
      place.add(4);
      await new Promise<void>((resolve) => {
        end = resolve;
      });
    });
    const send = (holder: string, bytes: number) => room.within(holder, async (place) => place.add(bytes));
    await expect(send("one", 1)).rejects.toMatchObject({ code: "rate-exceeded", status: 429 });
    await expect(send("other", 6)).rejects.toMatchObject({ code: "bodies-exceeded", status: 503 });
    await send("other", 5);
    end();
    await held;
    await send("one", 10);
  });

  test("a tenant whose bodies are on their way without end, by whatever keys, is told so; another one's is read", async () => {
    const api = await deskApi();
    const [{ key }, { key: another }, { key: other }] = [
      await api.key({ scope: "write", tenant: "acme" }),
      await api.key({ scope: "write", tenant: "acme" }),
      await api.key({ scope: "write", tenant: "beta" }),
    ];
    const [host = "", port = ""] = api.door.address.split(":");
    const headers = { "content-type": "application/json", "content-length": String(API_LIMITS.bodyBytes) };
    const options = { host, port: Number(port), method: "POST", path: "/api/v1/jobs" };
    const most = API_LIMITS.bodiesBytes.ofHolder / (API_LIMITS.bodyBytes / 2);
    // Each of them sends half of what it has promised, and waits.
    const begun = Array.from({ length: most + 1 }, (_, index) => {
      const authorization = `Bearer ${index % 2 === 0 ? key : another}`;
      return http.request({ ...options, headers: { ...headers, authorization } });
    });
    const refused = Promise.race(
      begun.map((request) => {
        request.on("error", () => undefined);
        return new Promise<http.IncomingMessage>((resolve) => request.once("response", resolve));
      }),
    );
    for (const request of begun) request.write("x".repeat(API_LIMITS.bodyBytes / 2));
    const response = await refused;
    response.resume();
    expect([response.statusCode, response.headers["retry-after"], response.headers.connection]).toEqual([
      429,
      "1",
      "close",
    ]);
    const made = await api.send("POST", "/api/v1/jobs", { key: other, body: { name: "heard" } });
    expect(made.status).toBe(201);
    for (const request of begun) request.destroy();
  });

  test("with a key that may ask little is taken all the same, once it has rested", async () => {
    const api = await deskApi({}, { perSecond: 1, burst: 4 });
    const { key } = await api.key({ scope: "write", tenant: "acme" });
    const body = { name: "large", description: "x".repeat(API_LIMITS.bodyBytes - 100) };
    const [first, second] = [
      await api.send("POST", "/api/v1/jobs", { key, body }),
      await api.send("POST", "/api/v1/jobs", { key, body }),
    ];
    // Too long for a description, which somebody has read.
    expect([first.status, second.status, second.body.code]).toEqual([400, 429, "rate-exceeded"]);
  });

  test("a large one costs its key as much as many requests", async () => {
    const api = await deskApi({}, { perSecond: 1, burst: 10 });
    const { key } = await api.key({ scope: "write", tenant: "acme" });
    const body = { name: "large", description: "x".repeat(9 * API_LIMITS.bodyBytesPerRequest) };
    const first = await api.send("POST", "/api/v1/jobs", { key, body });
    const second = await api.send("GET", "/api/v1/jobs", { key });
    expect([first.status, second.status, second.body.code]).toEqual([400, 429, "rate-exceeded"]);
  });
});
