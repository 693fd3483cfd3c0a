/** Jobs and endpoints of tenants, made while a real daemon runs, sent to a real server, and found again after it was killed. */
import { once } from "node:events";
import * as fs from "node:fs";
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import * as path from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { ControlClient, ControlError } from "../../src/krond/control/client.js";
import { socketPathIn } from "../../src/krond/state/directory.js";
import type { EndpointAnswer, JobAnswer, RunAnswer } from "../../src/operations/endpoints/shapes.js";
import { type OperationRequest, operationNamed } from "../../src/operations/registry.js";
import { builtPrograms, krondProcesses } from "../support/krond.js";
import { job, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);
const CONFIGURED = `${job("t/configured", "true")}http: { allow: ["127.0.0.1"] }\n`;

interface Received {
  readonly url: string;
  readonly headers: http.IncomingHttpHeaders;
}

const servers: http.Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** Says what it was sent, as it comes. */
async function receiver() {
  const received: Received[] = [];
  const waiting = new Set<() => void>();
  const server = http.createServer((request, response) => {
    received.push({ url: request.url ?? "", headers: request.headers });
    for (const wake of waiting) wake();
    response.end("thank you");
  });
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const until = async (count: number): Promise<void> => {
    while (received.length < count) {
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          waiting.delete(wake);
          resolve();
        };
        waiting.add(wake);
      });
    }
  };
  return { received, until, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function connected(state: string) {
  const client = await ControlClient.connect(socketPathIn(state));
  if (client === null) throw new Error("no daemon");
  const ask = async <T>(request: OperationRequest, tenant = "acme"): Promise<T> => {
    const answer = await client.ask(request, undefined, tenant);
    const read = operationNamed(request.op)?.output.safeParse(answer);
    expect({ op: request.op, issues: read?.error?.issues ?? [] }).toEqual({ op: request.op, issues: [] });
    return answer as T;
  };
  return { ask, close: () => client.close() };
}

/** Every operation of a tenant, in an order in which each of them has something to tell. */
function allOf(jobId: string, endpointId: string, url: string): readonly OperationRequest[] {
  const hint = { reason: "test", ttlMinutes: 10 };
  return [
    { op: "jobs.list", cursor: null, limit: 9 },
    { op: "jobs.get", jobId },
    { op: "jobs.update", jobId, description: "what it is for" },
    { op: "endpoints.list", cursor: null, limit: 9, jobId },
    { op: "endpoints.get", endpointId },
    { op: "endpoints.update", endpointId, description: "what it is for" },
    { op: "endpoints.upsert", jobId, name: "second", url, baselineCron: "0 3 * * *" },
    { op: "endpoints.hint_interval", endpointId, intervalMs: 60_000, ...hint },
    { op: "endpoints.hint_oneshot", endpointId, nextRunAt: new Date(Date.now() + 600_000).toISOString(), reason: "" },
    { op: "endpoints.clear_hints", endpointId },
    { op: "endpoints.runs", endpointId, cursor: null, limit: 9 },
    { op: "endpoints.health", endpointId },
    { op: "endpoints.pause", endpointId, pausedUntil: new Date(Date.now() + 600_000).toISOString() },
    { op: "endpoints.resume", endpointId },
    { op: "runs.list", cursor: null, limit: 9 },
    { op: "audit.list", cursor: null, limit: 9 },
    { op: "endpoints.preview", name: "x", url, baselineIntervalMs: 60_000 },
    { op: "endpoints.pause_many", jobId, pausedUntil: new Date(Date.now() + 600_000).toISOString() },
    { op: "endpoints.resume_many", jobId },
    { op: "endpoints.hint_many", jobId, intervalMs: 60_000, ttlMinutes: 5 },
    { op: "endpoints.clear_hints_many", jobId },
    { op: "limits.get" },
    { op: "jobs.pause", jobId },
    { op: "jobs.resume", jobId },
    { op: "jobs.archive", jobId },
    { op: "endpoints.delete", endpointId },
    { op: "jobs.delete", jobId, force: true },
  ];
}

describe("endpoints on a real daemon", () => {
  test("are sent with their secrets, survive kill -9 and a reload, and are never in the clear on disk", async () => {
    const { received, until, url } = await receiver();
    const here = place(CONFIGURED);
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    const first = await connected(here.state);
    const { id: jobId } = await first.ask<JobAnswer>({ op: "jobs.create", name: "sync" });
    const secretHeaders = { Authorization: "Bearer s3cr3t-of-acme" };
    const wish = { name: "users", url: `${url}/users`, baselineIntervalMs: 1_000, secretHeaders };
    const made = await first.ask<EndpointAnswer>({ op: "endpoints.create", jobId, ...wish });
    await until(2);
    expect(received[0]).toMatchObject({ url: "/users", headers: { authorization: "Bearer s3cr3t-of-acme" } });
    expect(received[0]?.headers["x-kron-identity"]).toBe(`endpoint:acme/${jobId}/${made.id}`);
    await first.ask({ op: "reload" });
    first.close();
    await krond.kill("SIGKILL");
    const onDisk = fs.readFileSync(path.join(here.state, "kron.mdb")).includes("s3cr3t-of-acme");
    expect([onDisk, fs.statSync(path.join(here.state, "secret.key")).mode & 0o777]).toEqual([false, 0o600]);

    const again = startKrond(here.config, here.state);
    await again.ready();
    const count = received.length;
    await until(count + 2);
    // S40: no slot was sent twice.
    const keys = received.map(({ headers }) => headers["idempotency-key"]);
    expect(new Set(keys).size).toBe(keys.length);
    const second = await connected(here.state);
    await second.ask({ op: "endpoints.delete", endpointId: made.id });
    const { rows } = await second.ask<{ rows: RunAnswer[] }>({ op: "runs.list", cursor: null, limit: 50 });
    expect(rows.filter(({ status }) => status === "success").length).toBeGreaterThanOrEqual(3);
    second.close();
    expect(await again.kill("SIGTERM")).toBe(0);
  });

  test("one connection asks for many things at once: what waits keeps no other from its answer", async () => {
    const here = place(CONFIGURED);
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    const { ask, close } = await connected(here.state);
    let hasWaited = false;
    const waiting = ask({ op: "claims.take", limit: 1, withinMs: 20_000 }).then(() => {
      hasWaited = true;
    });
    for (let count = 0; count < 300; count++) await ask({ op: "jobs.list", cursor: null, limit: 9 });
    const made = await Promise.all(
      Array.from({ length: 300 }, (_, n) => ask<JobAnswer>({ op: "jobs.create", name: `j${n}` })),
    );
    expect([new Set(made.map(({ id }) => id)).size, hasWaited]).toEqual([300, false]);
    close();
    await waiting.catch(() => undefined);
    await krond.kill("SIGTERM");
  });

  test("every operation of a tenant answers as it promises, and a stranger finds nothing", async () => {
    const { until, url } = await receiver();
    const here = place(CONFIGURED);
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    const { ask, close } = await connected(here.state);
    const { id: jobId } = await ask<JobAnswer>({ op: "jobs.create", name: "sync" });
    const wish = { name: "users", url, baselineIntervalMs: 3_600_000 };
    const { id: endpointId } = await ask<EndpointAnswer>({ op: "endpoints.create", jobId, ...wish });
    const { runId } = await ask<{ runId: string }>({ op: "endpoints.run", endpointId });
    await until(1);
    await krond.event("completed", {});
    const requests = allOf(jobId, endpointId, url);
    const naming = requests.filter((request) => "jobId" in request || "endpointId" in request);
    for (const request of [{ op: "runs.get", runId } as const, ...naming]) {
      await expect(ask(request, "stranger")).rejects.toMatchObject({ kind: "not-found" });
    }
    expect(await ask<RunAnswer>({ op: "runs.get", runId })).toMatchObject({
      status: "success",
      responseExcerpt: "thank you",
    });
    for (const request of requests) await ask(request);
    close();
  });

  test("over the control socket every problem is told at its field, and no tenant is called what none can be", async () => {
    const here = place(CONFIGURED);
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    const { ask, close } = await connected(here.state);
    const { id: jobId } = await ask<JobAnswer>({ op: "jobs.create", name: "sync" });
    const wish = {
      op: "endpoints.create",
      jobId,
      name: "users",
      url: "https://hooks.test/",
      baselineIntervalMs: 60_000,
    };
    const refused = (more: object): Promise<unknown> =>
      ask({ ...wish, ...more } as OperationRequest).then(
        () => "it was done",
        (error: unknown) => (error instanceof ControlError ? error.problems : error),
      );
    // Of what cannot be read, and of what can be but makes no sense.
    expect(await refused({ method: "GOT", timeoutMs: 0, windwoMs: 5 })).toMatchObject([
      { path: ["method"], message: expect.stringContaining("expected one of GET, ") },
      { path: ["timeoutMs"], message: "must be at least 1, not the number 0" },
      { path: ["windwoMs"], hint: "did you mean windowMs?" },
    ]);
    expect(await refused({ baselineCron: "* * * * *" })).toMatchObject([
      { path: ["baselineIntervalMs"], hint: "set one of them to null" },
    ]);
    // The longest body there is comes through, whatever it takes to write it down.
    const body = '"'.repeat(1024 * 1024);
    expect(await ask<EndpointAnswer>({ ...wish, method: "POST", body } as OperationRequest)).toMatchObject({ body });
    await expect(ask({ op: "jobs.list", cursor: null, limit: 9 }, "a/b")).rejects.toMatchObject({
      kind: "bad-request",
    });
    close();
  });
});
