/** A run that somebody waits for: the end of it, or its place. */
import { describe, expect, test } from "vitest";
import { turnOfLoop } from "../../src/actors/turns.js";
import { WAITING_WORKERS } from "../../src/actors/workers/desk.js";
import { ONLOOKER_LIMITS } from "../../src/api/http/onlookers.js";
import { STREAM_LIMITS } from "../../src/api/http/sse.js";
import { API_LIMITS } from "../../src/api/limits.js";
import { RUN_WAITS, RunEnds } from "../../src/operations/now/run-ends.js";
import type { DeskOptions } from "../operations/endpoints/desk.js";
import { apiClient } from "./support/client.js";
import { placeOf } from "./support/daemon.js";
import { deskApi } from "./support/desk-api.js";

async function opened(options: DeskOptions = {}) {
  const api = await deskApi(options);
  const { key } = await api.key({ scope: "write" });
  const { id: jobId } = await api.desk.job();
  const { id } = await api.desk.endpoint(jobId, { baselineIntervalMs: 3_600_000 });
  const path = `/api/v1/endpoints/${id}/run`;
  return { api, key, path, desk: api.desk };
}

/** Lets what was asked for come so far that it waits. */
async function waited(ends: RunEnds, act: () => Promise<void>): Promise<void> {
  const of = ends.of.bind(ends);
  const hasCome = new Promise<void>((resolve) => {
    ends.of = (run) => {
      const awaited = of(run);
      return {
        ...awaited,
        within: (...asked) => {
          const over = awaited.within(...asked);
          resolve();
          return over;
        },
      };
    };
  });
  await act();
  await hasCome;
}

describe("wait", () => {
  test("the answer has the run once it has ended", async () => {
    const { api, key, path, desk } = await opened({ answer: () => ({ status: 503, answerMs: 5_000 }) });
    let reply: ReturnType<typeof api.send> | null = null;
    await waited(desk.runEnds, async () => {
      reply = api.send("POST", `${path}?wait=30`, { key });
    });
    await desk.world.pass(6_000);
    const { status, body } = await (reply as unknown as ReturnType<typeof api.send>);
    expect(status).toBe(201);
    expect(body.run).toMatchObject({ id: body.runId, status: "failure", httpStatus: 503 });
  });

  test("one that goes on is 202, with its place; it is not begun again", async () => {
    const { api, key, path, desk } = await opened({ answer: () => ({ answerMs: 20_000 }) });
    let reply: ReturnType<typeof api.send> | null = null;
    await waited(desk.runEnds, async () => {
      reply = api.send("POST", `${path}?wait=2.5`, { key });
    });
    await desk.world.pass(3_000);
    const { status, body } = await (reply as unknown as ReturnType<typeof api.send>);
    expect([status, body.run]).toEqual([202, null]);
    await desk.world.pass(30_000);
    expect((await api.send("GET", `/api/v1/runs/${body.runId}`, { key })).body.status).toBe("success");
    expect(desk.asked).toHaveLength(1);
  });

  test("who has asked for it is on record before it is waited for", async () => {
    const { api, key, path, desk } = await opened({ answer: () => ({ answerMs: 20_000 }) });
    const { key: admins } = await api.key({ scope: "admin" });
    let reply: ReturnType<typeof api.send> | null = null;
    await waited(desk.runEnds, async () => {
      reply = api.send("POST", `${path}?wait=30`, { key });
    });
    const { rows } = (await api.send("GET", "/api/v1/audit?limit=1", { key: admins })).body;
    expect(rows).toMatchObject([{ operation: "endpoints.run", scope: "write" }]);
    await desk.world.pass(30_000);
    expect((await (reply as unknown as ReturnType<typeof api.send>)).status).toBe(201);
  });

  type Asking = (path: string) => { readonly where: string; readonly body?: object };
  const overHttp: Asking = (path) => ({ where: `${path}?wait=60` });
  const overMcp: Asking = (path) => {
    const params = { name: "endpoints_run", arguments: { endpointId: path.split("/").at(-2), wait: 60 } };
    return { where: "/mcp", body: { jsonrpc: "2.0", id: 1, method: "tools/call", params } };
  };

  test.each<[name: string, asked: Asking]>([
    ["over HTTP", overHttp],
    ["over MCP", overMcp],
  ])("whoever goes away ends the waiting, and not the run: %s", async (_, asked) => {
    const { api, key, path, desk } = await opened({ answer: () => ({ answerMs: 20_000 }) });
    const { where, body } = asked(path);
    const headers = { accept: "application/json, text/event-stream" };
    const dying = apiClient(placeOf(api.door.address));
    const { runEnds } = desk;
    const of = runEnds.of.bind(runEnds);
    let left: () => void = () => undefined;
    const hasLeft = new Promise<void>((resolve) => {
      left = resolve;
    });
    runEnds.of = (run) => {
      const awaited = of(run);
      const leave = () => {
        awaited.leave();
        left();
      };
      return { ...awaited, leave };
    };
    let broken: Promise<unknown> = Promise.resolve();
    await waited(runEnds, async () => {
      const wish = { key, headers, ...(body === undefined ? {} : { body }) };
      broken = expect(dying.send("POST", where, wish)).rejects.toThrow();
    });
    dying.close();
    await broken;
    await hasLeft;
    await desk.world.pass(30_000);
    const { rows } = (await api.send("GET", "/api/v1/runs", { key })).body;
    expect(rows).toMatchObject([{ status: "success", source: "manual" }]);
  });

  test("without it the answer is at once, and more than a minute is refused", async () => {
    const { api, key, path } = await opened({ answer: () => ({ answerMs: 20_000 }) });
    const { status, body } = await api.send("POST", path, { key });
    expect([status, body.run]).toEqual([201, null]);
    for (const wait of ["61", "-1", "soon"]) {
      expect((await api.send("POST", `${path}?wait=${wait}`, { key })).status).toBe(400);
    }
  });

  test("sent again with its key it hears of the same run", async () => {
    const { api, key, path, desk } = await opened();
    const headers = { "idempotency-key": "once" };
    let reply: ReturnType<typeof api.send> | null = null;
    await waited(desk.runEnds, async () => {
      reply = api.send("POST", `${path}?wait=30`, { key, headers });
    });
    await desk.world.pass(2_000);
    const first = await (reply as unknown as ReturnType<typeof api.send>);
    const again = await api.send("POST", `${path}?wait=30`, { key, headers });
    expect([again.body, again.headers["idempotency-replayed"]]).toEqual([first.body, "true"]);
    expect(desk.asked).toHaveLength(1);
  });
});

describe("ends of runs", () => {
  const run = { identity: "endpoint:a", periodId: "2026-03-01T00:00:00Z", source: "manual" };
  const clock = { after: () => ({ cancel: () => undefined }) } as never;
  const told = { at: 0, event: "completed", component: "executor", level: "info", ...run, fields: run } as const;

  test("one that was told before anybody waits is not missed, and another run's end is none", async () => {
    const ends = new RunEnds(clock);
    const awaited = ends.of(run);
    ends.tell({ ...told, periodId: "2026-03-01T00:00:01Z" });
    ends.tell(told);
    await awaited.within(1_000);
    awaited.leave();
  });

  test("of one tenant only so many wait at once; another one's is not felt", async () => {
    const ends = new RunEnds(clock);
    const id = "0".repeat(16);
    const of = (tenant: string) => ends.of({ ...run, identity: `endpoint:${tenant}/job_${id}/ep_${id}` });
    const waits = Array.from({ length: RUN_WAITS.ofTenant }, () => of("acme").within(60_000));
    // Neither clock nor end would ever let it go on.
    await of("acme").within(60_000);
    let isOver = false;
    const others = of("beta").within(60_000);
    void others.then(() => (isOver = true));
    await turnOfLoop();
    expect(isOver).toBe(false);
    ends.dismiss();
    await Promise.all([...waits, others]);
  });

  test("whoever waits, for whatever, leaves connections to those who do not", () => {
    const waiting = RUN_WAITS.ofAll + WAITING_WORKERS.ofAll + STREAM_LIMITS.streams + ONLOOKER_LIMITS.onlookers;
    expect(waiting).toBeLessThan(API_LIMITS.connections - STREAM_LIMITS.perHolder);
  });

  test("a daemon that stops keeps nobody waiting", async () => {
    const ends = new RunEnds(clock);
    const [before, after] = [ends.of(run), null];
    ends.dismiss();
    await before.within(1_000);
    await ends.of(run).within(1_000);
    expect(after).toBeNull();
  });
});
