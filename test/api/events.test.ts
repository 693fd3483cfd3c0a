/** What happens, as it happens: who is told of what, and how a client that was away goes on. */
import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { STREAM_LIMITS } from "../../src/api/http/sse.js";
import { MINUTE_MS } from "../../src/core/time/instant.js";
import { job } from "../actors/supervisor/world.js";
import type { ApiClient } from "./support/client.js";
import { type DeskApi, deskApi } from "./support/desk-api.js";

interface Told {
  readonly id: string;
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: as it came
  readonly data: any;
}

/** What one client hears, event by event. */
class Follower {
  readonly told: Told[] = [];
  hasEnded = false;
  #rest = "";
  #wake: () => void = () => undefined;
  readonly response: IncomingMessage;

  constructor(response: IncomingMessage) {
    this.response = response;
    response.setEncoding("utf8").on("data", (piece: string) => this.#heard(piece));
    response
      .once("error", () => undefined)
      .once("close", () => {
        this.hasEnded = true;
        this.#wake();
      });
  }

  static async of(client: ApiClient, key: string, topics = "", headers = {}): Promise<Follower> {
    const query = topics === "" ? "" : `?topics=${encodeURIComponent(topics)}`;
    return new Follower(await client.open(`/api/v1/events${query}`, { key, headers }));
  }

  /** The first so many, once they have come. */
  async first(count: number): Promise<readonly Told[]> {
    while (this.told.length < count && !this.hasEnded) await this.#next();
    return this.told.slice(0, count);
  }

  async end(): Promise<void> {
    while (!this.hasEnded) await this.#next();
  }

  #next(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #heard(piece: string): void {
    const frames = (this.#rest + piece).split("\n\n");
    this.#rest = frames.pop() ?? "";
    for (const frame of frames) {
      const fields = Object.fromEntries(frame.split("\n").map((line) => /^(\w*): ?(.*)$/.exec(line)?.slice(1) ?? []));
      if (fields.event !== undefined) this.told.push({ ...fields, data: JSON.parse(fields.data) });
    }
    this.#wake();
  }
}

const ENDPOINT = { url: "https://hooks.test/users", baselineIntervalMs: 60_000 };

async function withEndpoints(api: DeskApi, ...tenants: string[]): Promise<readonly { id: string; jobId: string }[]> {
  const made = [];
  for (const tenant of tenants) {
    const { id } = await api.desk.job("sync", tenant);
    made.push(await api.desk.endpoint(id, ENDPOINT, tenant));
  }
  return made;
}

describe("events", () => {
  test("by topics: names of events, and patterns of identities", async () => {
    const api = await deskApi({ configured: [job("t/a", "* * * * *"), job("t/b", "* * * * *")] });
    const { key } = await api.key({ tenant: null, scope: "read" });
    const [all, named, one] = await Promise.all(
      ["", "completed", "schedule:*a,started,completed"].map((topics) => Follower.of(api.client, key, topics)),
    );
    await api.desk.world.pass(2.5 * MINUTE_MS);
    const events = (follower: Follower | undefined) => follower?.told.map(({ event, data }) => [event, data.identity]);
    await one?.first(4);
    expect(events(one)).toEqual([
      ["started", "t/a"],
      ["completed", "t/a"],
      ["started", "t/a"],
      ["completed", "t/a"],
    ]);
    await named?.first(4);
    expect(new Set(events(named)?.map(([event]) => event))).toEqual(new Set(["completed"]));
    expect(events(all)?.length).toBeGreaterThan(8);
    expect(one?.told[0]?.data.at).toMatch(/^2026-03-01T00:01:0\d(\.\d+)?Z$/);
    for (const topics of ["", ",", "schedule:", "COMPLETED", "a b", "complete", Array(33).fill("started").join(",")]) {
      const { status, body } = await api.send("GET", `/api/v1/events?topics=${encodeURIComponent(topics)}`, { key });
      expect([status, body.errors[0].pointer]).toEqual([400, "/topics"]);
    }
    const { body: unknown } = await api.send("GET", "/api/v1/events?topics=complete", { key });
    expect(unknown.detail).toBe('/topics: "complete" is no topic');
    for (const topic of ["schedule:PATTERN", "completed", "missed_deadline"]) {
      expect(unknown.errors[0].hint.split(/[ ,]+/)).toContain(topic);
    }
    expect((await api.send("GET", "/api/v1/events?topic=started", { key })).status).toBe(400);
  });

  test("Last-Event-ID: what was missed follows, once, and what nobody remembers is a gap", async () => {
    const api = await deskApi({ configured: [job("t/a", "* * * * *")] });
    const { key } = await api.key({ tenant: null, scope: "read" });
    const first = await Follower.of(api.client, key, "started,completed");
    await api.desk.world.pass(MINUTE_MS);
    const [seen] = await first.first(1);
    first.response.destroy();
    await api.desk.world.pass(2 * MINUTE_MS);
    const back = await Follower.of(api.client, key, "started,completed", { "last-event-id": seen?.id });
    const missed = await back.first(4);
    expect(missed.map(({ event }) => event)).toEqual(["completed", "started", "completed", "started"]);
    const last = missed.at(-1)?.id ?? "";
    const newest = await Follower.of(api.client, key, "started,completed", { "last-event-id": last });
    await api.desk.world.pass(MINUTE_MS);
    expect((await newest.first(2)).map(({ data }) => data.periodId)).toEqual([
      "2026-03-01T00:03:00Z",
      "2026-03-01T00:04:00Z",
    ]);
    for (const id of ["x", "", "A".repeat(22), last.toLowerCase()]) {
      const lost = await Follower.of(api.client, key, "", { "last-event-id": id });
      expect((await lost.first(1))[0]?.event).toBe("gap");
      lost.response.destroy();
    }
    // More than anybody remembers.
    await api.desk.world.pass((STREAM_LIMITS.remembered / 3) * MINUTE_MS, MINUTE_MS);
    const late = await Follower.of(api.client, key, "", { "last-event-id": last });
    const [gap] = await late.first(1);
    expect(gap?.event).toBe("gap");
    const after = await Follower.of(api.client, key, "", { "last-event-id": gap?.id });
    await api.desk.world.pass(MINUTE_MS);
    expect((await after.first(1))[0]?.event).not.toBe("gap");
  });

  test("a tenant is told of its own endpoints, and of nothing else", async () => {
    const api = await deskApi({ configured: [job("t/a", "* * * * *")] });
    const [ours, theirs] = await withEndpoints(api, "acme", "other");
    const [mine, host] = [(await api.key({ scope: "read" })).key, (await api.key({ tenant: null, scope: "read" })).key];
    const [own, all] = await Promise.all([Follower.of(api.client, mine), Follower.of(api.client, host)]);
    await api.desk.world.pass(3 * MINUTE_MS);
    await own.first(4);
    await all.first(10);
    const about = { jobId: ours?.jobId, endpointId: ours?.id };
    for (const { data } of own.told) expect(data).toMatchObject(about);
    const identities = new Set(all.told.map(({ data }) => data.identity));
    expect(identities).toContain(`endpoint:other/${theirs?.jobId}/${theirs?.id}`);
    expect(identities).toContain("t/a");
    const text = JSON.stringify(own.told);
    for (const foreign of ["t/a", "other", theirs?.id, theirs?.jobId]) expect(text).not.toContain(foreign);
    // Not even how much of it there was: names of events say nothing of each other.
    expect(new Set(own.told.map(({ id }) => id.length))).toEqual(new Set([22]));
    const prefixes = new Set(own.told.map(({ id }) => id.slice(0, 8)));
    expect(prefixes.size).toBe(own.told.length);
    // Whoever asks for others' by a pattern hears nothing.
    const curious = await Follower.of(api.client, mine, "schedule:endpoint:other/*");
    const heard = own.told.length;
    await api.desk.world.pass(2 * MINUTE_MS);
    await own.first(heard + 1);
    expect(curious.told).toEqual([]);
  });

  test("names are spelled as everywhere, and to a tenant without the processes of the host", async () => {
    const api = await deskApi();
    await withEndpoints(api, "acme");
    const [mine, host] = [(await api.key({ scope: "read" })).key, (await api.key({ tenant: null, scope: "read" })).key];
    const [own, all] = await Promise.all([mine, host].map((key) => Follower.of(api.client, key, "started,completed")));
    await api.desk.world.pass(2 * MINUTE_MS);
    const heard = [await own?.first(2), await all?.first(2)].map((told) => told?.map(({ data }) => data.fields));
    for (const fields of heard.flat()) expect(JSON.stringify(fields)).not.toMatch(/"[a-z]+_[a-z_]+":/);
    const [ours, hosts] = heard;
    expect(ours?.map((fields) => "pid" in fields)).toEqual([false, false]);
    expect(hosts?.map((fields) => "pid" in fields)).toEqual([true, true]);
    expect(ours?.[0]).toMatchObject({ attemptId: expect.any(String) });
    expect(ours?.[1]).toMatchObject({ durationMs: expect.any(Number), success: true });
  });

  test("what is wrong with the host is told to the host alone, and a tenant hears what kind of trouble it is", async () => {
    const message = "/srv/kron/secret.key is not there: copy it here from another node";
    const refusal = { code: "secret-unreadable", message } as const;
    const api = await deskApi({ answer: () => ({ refusal }) });
    const [ours] = await withEndpoints(api, "acme");
    const [mine, host] = [(await api.key({})).key, (await api.key({ tenant: null, scope: "write" })).key];
    const [own, all] = await Promise.all([mine, host].map((key) => Follower.of(api.client, key, "error")));
    const refused = await api.send("POST", `/api/v1/endpoints/${ours?.id}/run`, { key: mine, body: {} });
    const plain = "a secret, certificate or file of variables cannot be read or used";
    expect([refused.status, refused.body.detail]).toEqual([409, plain]);
    const schedule = encodeURIComponent(`endpoint:acme/${ours?.jobId}/${ours?.id}`);
    const told = await api.send("POST", `/api/v1/schedules/${schedule}/run`, { key: host, body: {} });
    expect(told.body.detail).toBe(message);
    expect((await own?.first(1))?.[0]?.data).toMatchObject({ code: "secret-unreadable", message: plain });
    expect((await all?.first(1))?.[0]?.data).toMatchObject({ code: "secret-unreadable", message });
  });

  test("a stream ends when its key does", async () => {
    const api = await deskApi();
    const { id, key } = await api.key({ scope: "read" });
    const follower = await Follower.of(api.client, key);
    await api.desk.world.pass(STREAM_LIMITS.keepAliveMs + 1_000);
    expect(follower.hasEnded).toBe(false);
    await api.revoke(id);
    await api.desk.world.pass(STREAM_LIMITS.keepAliveMs + 1_000);
    await follower.end();
  });

  test("a key follows so many streams, and all keys together so many", async () => {
    const api = await deskApi();
    const keys = await Promise.all(Array.from({ length: 9 }, () => api.key({ scope: "read" })));
    const open = async (key: string): Promise<number> => {
      const response = await api.client.open("/api/v1/events", { key });
      return response.statusCode ?? 0;
    };
    const [first, ...others] = keys.map(({ key }) => key);
    const statuses: number[] = [];
    for (let at = 0; at < STREAM_LIMITS.perHolder; at++) statuses.push(await open(first ?? ""));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(await open(first ?? "")).toBe(429);
    for (const key of others.slice(0, 7)) {
      for (let at = 0; at < STREAM_LIMITS.perHolder; at++) expect(await open(key)).toBe(200);
    }
    expect(await open(others[7] ?? "")).toBe(503);
  });

  test("a client that does not read is ended, and costs a bounded amount", async () => {
    const api = await deskApi();
    const { key } = await api.key({ tenant: null, scope: "read" });
    const response = await api.client.open("/api/v1/events", { key });
    const slow = new Follower(response);
    response.pause();
    const fields = { text: "x".repeat(10_000) };
    const about = { event: "error", component: "scheduler", level: "info", fields } as const;
    const follower = await Follower.of(api.client, key);
    // Kernels hold some of it too, but not so much.
    const all = 5_000;
    for (let sent = 0; sent < all; ) {
      for (let at = 0; at < 16; at++) api.desk.onEvent({ at: api.desk.world.clock.now(), ...about });
      sent += 16;
      await follower.first(sent);
    }
    response.resume();
    await slow.end();
    expect(follower.hasEnded).toBe(false);
    expect(slow.told.length).toBeLessThan(all / 2);
  });

  test("HEAD says what it would be", async () => {
    const api = await deskApi();
    const { key } = await api.key({ scope: "read" });
    const { status, headers, text } = await api.send("HEAD", "/api/v1/events", { key });
    expect([status, headers["content-type"], text]).toEqual([200, "text/event-stream; charset=utf-8", ""]);
  });
});
