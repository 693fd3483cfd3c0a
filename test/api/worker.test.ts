/** The library's worker over a real daemon's API: claims, carries out, and says how it ended, also beside a daemon that dies. */
import { describe, expect, test } from "vitest";
import { createWorker, type EndpointClaim } from "../../src/api/worker/index.js";
import { ControlClient } from "../../src/krond/control/client.js";
import { socketPathIn } from "../../src/krond/state/directory.js";
import type { EndpointAnswer, JobAnswer, RunAnswer } from "../../src/operations/endpoints/shapes.js";
import type { OperationRequest } from "../../src/operations/registry.js";
import { builtPrograms, krondProcesses } from "../support/krond.js";
import { job, type Place, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);
const CONFIGURED = job("t/configured", "true");
const ENDPOINTS = 10;

async function started(here: Place, address = "127.0.0.1:0") {
  const krond = startKrond(here.config, here.state, ["--api", address]);
  await krond.ready();
  const ready = await krond.event("ready", {});
  const client = await ControlClient.connect(socketPathIn(here.state));
  if (client === null) throw new Error("no daemon");
  const ask = async <T>(request: OperationRequest): Promise<T> => (await client.ask(request, null, "acme")) as T;
  return { krond, url: `http://${ready["api"]}`, ask, close: () => client.close() };
}

function keyOf(here: Place, scope: string): string {
  const { out } = here.krond("keys", "create", "--tenant", "acme", "--scope", scope, "-o", "json");
  return (JSON.parse(out) as { key: string }).key;
}

async function runs(ask: <T>(request: OperationRequest) => Promise<T>): Promise<readonly RunAnswer[]> {
  return (await ask<{ rows: readonly RunAnswer[] }>({ op: "runs.list", cursor: null, limit: 200 })).rows;
}

describe("a worker over the API", () => {
  test("two of them share what is due; no slot is carried out twice, also when the daemon is killed", async () => {
    const here = place(CONFIGURED);
    const first = await started(here);
    const key = keyOf(here, "write");
    const { id: jobId } = await first.ask<JobAnswer>({ op: "jobs.create", name: "work" });
    const wish = {
      jobId,
      url: "https://never.invalid/",
      by: "worker",
      baselineIntervalMs: 1_000,
      timeoutMs: 5_000,
    } as const;
    for (let n = 0; n < ENDPOINTS; n++) {
      await first.ask<EndpointAnswer>({ op: "endpoints.create", ...wish, name: `e${n}` });
    }
    const carried: string[] = [];
    const waiting = new Set<() => void>();
    const carriedOut = async (count: number): Promise<void> => {
      while (carried.length < count) await new Promise<void>((resolve) => waiting.add(resolve));
    };
    const over = new AbortController();
    const carryOut = async ({ request }: EndpointClaim) => {
      carried.push(request.headers["idempotency-key"] ?? "");
      for (const wake of waiting) wake();
      waiting.clear();
      if (carried.length % 7 === 0) throw new Error("it did not work");
      return { httpStatus: 200, responseExcerpt: "x".repeat(5_000) };
    };
    const workers = [createWorker({ url: first.url, key }), createWorker({ url: first.url, key })].map((worker) =>
      worker.run(carryOut, { signal: over.signal, limit: 3 }),
    );
    await carriedOut(3 * ENDPOINTS);
    first.close();
    await first.krond.kill("SIGKILL");
    const again = await started(here, new URL(first.url).host);
    const before = carried.length;
    await carriedOut(before + 2 * ENDPOINTS);
    await again.ask({ op: "jobs.pause", jobId });
    over.abort();
    await Promise.all(workers);
    expect(new Set(carried).size).toBe(carried.length);
    const all = await runs(again.ask);
    expect(all.filter(({ status }) => status === "success").length).toBeGreaterThan(3 * ENDPOINTS);
    expect(all.find(({ status }) => status === "success")).toMatchObject({ responseBytes: 5_000, httpStatus: 200 });
    const failure = { code: "worker-failed", message: "it did not work" };
    expect(all.filter(({ status }) => status === "failure").map(({ error }) => error)).toContainEqual(failure);
    again.close();
    expect(await again.krond.kill("SIGTERM")).toBe(0);
  });

  test("waits no longer than the daemon is there, which does not wait for it", async () => {
    const here = place(CONFIGURED);
    const { krond, url, close } = await started(here);
    const [worker, other] = [
      createWorker({ url, key: keyOf(here, "write") }),
      createWorker({ url, key: keyOf(here, "write") }),
    ];
    const waiting = worker.claimDueEndpoints(10, 20_000);
    // Answered after the first was read.
    expect(await other.claimDueEndpoints(10, 0)).toEqual([]);
    close();
    const status = krond.kill("SIGTERM");
    expect(await waiting).toEqual([]);
    expect(await status).toBe(0);
  });

  test("is heard while the daemon drains and waits for its run", async () => {
    const here = place(CONFIGURED);
    const { krond, url, ask, close } = await started(here);
    const { id: jobId } = await ask<JobAnswer>({ op: "jobs.create", name: "work" });
    const wish = { jobId, name: "e", url: "https://never.invalid/", by: "worker", baselineIntervalMs: 1_000 } as const;
    await ask({ op: "endpoints.create", ...wish });
    const worker = createWorker({ url, key: keyOf(here, "write") });
    const [claim] = await worker.claimDueEndpoints(1, 20_000);
    void ask({ op: "stop", graceful: true }).catch(() => undefined);
    await krond.event("draining", { graceful: true });
    expect(await worker.claimDueEndpoints(1, 0)).toEqual([]);
    expect(await worker.complete(claim?.claimId ?? "", { httpStatus: 200 })).toBe(true);
    expect(await krond.ended).toBe(0);
    close();
    const again = await started(here);
    expect(await runs(again.ask)).toContainEqual(expect.objectContaining({ status: "success", httpStatus: 200 }));
    again.close();
    await again.krond.kill("SIGTERM");
  });

  test("with the wrong key, or one that only reads, is refused with the reason", async () => {
    const here = place(CONFIGURED);
    const { krond, url, close } = await started(here);
    for (const [key, status] of [
      [keyOf(here, "read"), /403/],
      [`kron_${"0".repeat(40)}`, /401/],
    ] as const) {
      await expect(createWorker({ url, key }).claimDueEndpoints(1, 0)).rejects.toThrow(status);
    }
    const worker = createWorker({ url, key: keyOf(here, "write") });
    expect(await worker.claimDueEndpoints(1, 0)).toEqual([]);
    expect(await worker.complete("nobody-has-it", { httpStatus: 200 })).toBe(false);
    await expect(worker.claimDueEndpoints(0)).rejects.toThrow(/400/);
    close();
    await krond.kill("SIGTERM");
  });
});
