/** AE-34: whoever waits for a run and goes away is given none, whichever way he came. */
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { WAITING_WORKERS } from "../../src/actors/workers/desk.js";
import { ControlClient } from "../../src/krond/control/client.js";
import { ControlServer } from "../../src/krond/control/server.js";
import { LIST_RUNS_OF_ENDPOINT } from "../../src/operations/endpoints/runs.js";
import type { RunAnswer } from "../../src/operations/endpoints/shapes.js";
import type { Acting } from "../../src/operations/ports.js";
import { Desk } from "../operations/endpoints/desk.js";
import { temporaryDirectories } from "../support/temporary.js";
import { apiClient } from "./support/client.js";
import { placeOf } from "./support/daemon.js";
import { apiOf } from "./support/desk-api.js";

const newDirectory = temporaryDirectories();
const WITHIN_MS = 20_000;

/** A desk at which somebody sees who comes and who leaves. */
async function watched() {
  const desk = await Desk.open();
  const { id: jobId } = await desk.job();
  const wish = { by: "worker", baselineIntervalMs: 60_000, timeoutMs: 20_000 };
  const { id: endpointId } = await desk.endpoint(jobId, wish);
  let come: () => void = () => undefined;
  let leave: (rows: number) => void = () => undefined;
  const hasCome = new Promise<void>((resolve) => {
    come = resolve;
  });
  const hasLeft = new Promise<number>((resolve) => {
    leave = resolve;
  });
  const workers: Acting["workers"] = {
    take: (...asked) => {
      const claims = desk.workers.take(...asked);
      void claims.then(({ length }) => leave(length));
      come();
      return claims;
    },
    complete: (...said) => desk.workers.complete(...said),
  };
  await desk.world.pass(58_000);
  return { desk, endpointId, workers, hasCome, hasLeft };
}

async function goesToTheNext(desk: Desk, endpointId: string): Promise<void> {
  const next = desk.workers.take("acme", 10, WITHIN_MS);
  await desk.world.pass(6_000);
  const claims = await next;
  expect(claims).toHaveLength(1);
  const answered = { kind: "answered", status: 200, bytes: 0, excerpt: null } as const;
  for (const { claimId } of claims) desk.workers.complete("acme", claimId, answered);
  await desk.world.pass(1_000);
  const runs = await desk.ask<{ rows: RunAnswer[] }>(LIST_RUNS_OF_ENDPOINT, { endpointId, cursor: null, limit: 50 });
  expect(runs.rows).toMatchObject([{ status: "success" }]);
}

describe("a worker whose connection ends while it waits", () => {
  test("over HTTP: the run is the next one's", async () => {
    const { desk, endpointId, workers, hasCome, hasLeft } = await watched();
    const api = await apiOf(desk, undefined, { workers });
    const { key } = await api.key({});
    const dying = apiClient(placeOf(api.door.address));
    const asked = dying.send("POST", "/api/v1/claims", { key, body: { withinMs: WITHIN_MS } });
    const broken = expect(asked).rejects.toThrow();
    await hasCome;
    dying.close();
    await broken;
    expect(await hasLeft).toBe(0);
    await goesToTheNext(desk, endpointId);
  });

  test("over the control socket: the run is the next one's", async () => {
    const { desk, endpointId, workers, hasCome, hasLeft } = await watched();
    const socketPath = path.join(newDirectory(), "control.sock");
    const server = new ControlServer(socketPath, { ...desk.ports, workers });
    await server.listen();
    const client = await ControlClient.connect(socketPath);
    const asked = client?.ask({ op: "claims.take", limit: 10, withinMs: WITHIN_MS }, null, "acme");
    const broken = expect(asked).rejects.toThrow();
    await hasCome;
    client?.close();
    await broken;
    expect(await hasLeft).toBe(0);
    await goesToTheNext(desk, endpointId);
    await server.close();
  });

  test("it has gone before it was its turn: nothing is handed out", async () => {
    const { desk, endpointId } = await watched();
    await desk.world.pass(3_500);
    expect(await desk.workers.take("acme", 10, WITHIN_MS, AbortSignal.abort())).toEqual([]);
    await goesToTheNext(desk, endpointId);
  });
});

test("of one tenant so many workers wait; one more is told when to come again, and is given what is due all the same", async () => {
  const desk = await Desk.open();
  const { id: jobId } = await desk.job();
  await desk.endpoint(jobId, { by: "worker", baselineIntervalMs: 60_000, timeoutMs: 20_000 });
  const api = await apiOf(desk);
  const [{ key }, { key: other }] = [
    await api.key({ scope: "write", tenant: "acme" }),
    await api.key({ scope: "write", tenant: "beta" }),
  ];
  const waiting: Promise<readonly unknown[]>[] = [];
  const wait = (tenant: string) => desk.workers.take(tenant, 1, WITHIN_MS);
  for (let count = 0; count < WAITING_WORKERS.ofTenant; count++) waiting.push(wait("acme"));
  const claim = { limit: 1, withinMs: WITHIN_MS };
  const refused = await api.send("POST", "/api/v1/claims", { key, body: claim });
  expect([refused.status, refused.body.code, refused.headers["retry-after"]]).toEqual([429, "exhausted", "1"]);
  const now = await api.send("POST", "/api/v1/claims", { key, body: { ...claim, withinMs: 0 } });
  expect([now.status, now.body]).toEqual([200, { rows: [] }]);
  // Another tenant finds room, and where there is none any more the one that has most of it makes some.
  for (let count = 0; count < 20; count++) waiting.push(wait("beta"));
  expect(await waiting[0]).toEqual([]);
  expect((await api.send("POST", "/api/v1/claims", { key: other, body: { ...claim, withinMs: 0 } })).status).toBe(200);
  desk.workers.dismiss();
  await Promise.all(waiting);
});
