/** How a kind of object is kept up with: what makes a list complete, and how often a server that is no use is asked. */
import { setMaxListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { SimulatedClock } from "../../../src/actors/simulated-clock.js";
import { type ApiRequest, KubeClient } from "../../../src/operator/kube/client.js";
import { ApiFailure } from "../../../src/operator/kube/failure.js";
import type { KubeObject } from "../../../src/operator/kube/types.js";
import { Watch, type WatchClient, type WatchHandler } from "../../../src/operator/kube/watch.js";
import { ApiServer } from "../../support/kube/api-server.js";
import { configOf } from "../../support/kube/cluster.js";
import { RESOURCES } from "../../support/kube/store.js";
import { at } from "../support/samples.js";

const TARGET = { path: "/apis/kron.io/v1alpha1/kronjobs", resource: "kronjobs" };
const HOUR_MS = 3_600_000;

/** What a handler was told, and what it holds for true when a list has ended. */
class Told implements WatchHandler<KubeObject> {
  readonly names = new Set<string>();
  readonly troubles: string[] = [];
  lists = 0;
  #listed = new Set<string>();
  #onEnd: () => void = () => undefined;
  readonly listed = new Promise<void>((done) => {
    this.#onEnd = done;
  });

  begin(): void {
    this.#listed = new Set();
  }

  put({ metadata: { name } }: KubeObject): void {
    this.#listed.add(name);
    this.names.add(name);
  }

  gone({ metadata: { name } }: KubeObject): void {
    this.names.delete(name);
  }

  end(): void {
    for (const name of this.names) if (!this.#listed.has(name)) this.names.delete(name);
    this.lists += 1;
    this.#onEnd();
  }

  trouble(_error: unknown, restart: string): void {
    this.troubles.push(restart);
  }
}

/** A client whose watches do what a test says; its lists are empty. */
function scripted(watched: (call: number) => Promise<void>): {
  readonly client: WatchClient;
  readonly calls: () => number;
} {
  let calls = 0;
  const client: WatchClient = {
    send: <T>() => {
      calls += 1;
      return Promise.resolve({ metadata: { resourceVersion: "1" }, items: [] } as T);
    },
    stream: (_request: ApiRequest, signal: AbortSignal, onLine: (line: string) => void) => {
      calls += 1;
      const metadata = { resourceVersion: "1", annotations: { "k8s.io/initial-events-end": "true" } };
      onLine(JSON.stringify({ type: "BOOKMARK", object: { metadata } }));
      setMaxListeners(0, signal);
      const stopped = new Promise<void>((done) => signal.addEventListener("abort", () => done()));
      return Promise.race([watched(calls), stopped]);
    },
  };
  return { client, calls: () => calls };
}

function expired(): ApiFailure {
  const answer = { status: 410, reason: "Expired", message: "too old resource version", retryAfterMs: null };
  return new ApiFailure(answer, "watch kronjobs");
}

async function anHourOf(watched: (clock: SimulatedClock, call: number) => Promise<void>): Promise<{
  readonly calls: number;
  readonly told: Told;
}> {
  const clock = new SimulatedClock({ startAt: at("2026-03-01T00:00:00Z") });
  const told = new Told();
  const { client, calls } = scripted((call) => watched(clock, call));
  const watch = new Watch<KubeObject>(client, TARGET, told, clock, () => 0.5);
  const running = watch.run();
  await clock.advanceAsync(HOUR_MS);
  watch.stop();
  await running;
  return { calls: calls(), told };
}

describe("a server that is no use is asked less and less", () => {
  // Ten tries up to the longest pause, then one in 22.5 s: 0.75 of 30 s.
  const MOST = 10 + HOUR_MS / 22_500;

  test("every watch is too old at once: 410 after 410", async () => {
    const { calls, told } = await anHourOf(() => Promise.reject(expired()));
    expect(calls).toBeLessThan(MOST);
    expect(calls).toBeGreaterThan(100);
    expect(told.troubles.every((restart) => restart === "relist")).toBe(true);
  });

  test("every watch ends at once, in peace", async () => {
    const { calls, told } = await anHourOf(() => Promise.resolve());
    expect(calls).toBeLessThan(MOST);
    expect(told.troubles.every((restart) => restart === "resume")).toBe(true);
  });

  test("after a watch that was of use the pause is the first one again, and an end in peace is no trouble", async () => {
    const lasting = (clock: SimulatedClock): Promise<void> =>
      new Promise<void>((done) => clock.after(300_000, () => done()));
    const { calls, told } = await anHourOf((clock) => lasting(clock));
    expect([calls, told.troubles]).toEqual([13, []]);
    const broken = await anHourOf((clock, call) => (call % 2 === 0 ? lasting(clock) : Promise.reject(expired())));
    // A pair takes five minutes and one first pause: pauses that grew would leave fewer of them.
    expect(broken.calls).toBeGreaterThanOrEqual(24);
  });
});

describe("a list in pages", () => {
  test("its second page fails: it is not complete, and begun again until it is", async () => {
    const server = new ApiServer({ canStreamLists: false });
    await server.listen();
    const client = new KubeClient(configOf(server));
    const kind = RESOURCES.find(({ name }) => name === "kronjobs");
    if (kind === undefined) throw new Error("no KronJobs");
    for (let n = 0; n < 1_100; n++) {
      server.store.create(kind, "team", { metadata: { name: `many-${n}` }, spec: {} }, false);
    }
    let pages = 0;
    server.faultOf = ({ verb, query }) => {
      if (verb !== "list") return null;
      pages += 1;
      const isFirstTry = pages === 2 && query.has("continue");
      return isFirstTry ? { kind: "status", status: 500, reason: "InternalError" } : null;
    };
    const told = new Told();
    told.names.add("long-gone");
    const clock = new SimulatedClock({ startAt: at("2026-03-01T00:00:00Z") });
    const watch = new Watch<KubeObject>(client, TARGET, told, clock, () => 0.5);
    const running = watch.run();
    while (told.troubles.length === 0) await clock.advanceAsync(0);
    expect([told.lists, told.troubles]).toEqual([0, ["relist"]]);
    await clock.advanceAsync(1_000);
    await told.listed;
    watch.stop();
    await running;
    expect([told.names.size, told.names.has("long-gone"), pages]).toEqual([1_100, false, 5]);
    client.close();
    await server.close();
  });
});
