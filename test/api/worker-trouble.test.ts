/** The library's worker beside an API that does not do what it should: no result is lost, and nothing waits for the slowest. */
import { once } from "node:events";
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, describe, expect, test, vi } from "vitest";
import { type ClaimResult, createWorker, type RunOptions } from "../../src/api/worker/index.js";

interface Heard {
  readonly path: string;
  readonly body: { readonly limit?: number } & Readonly<Record<string, unknown>>;
  readonly response: http.ServerResponse;
}

const open: http.Server[] = [];
afterEach(() => {
  vi.restoreAllMocks();
  for (const server of open.splice(0)) server.close().closeAllConnections();
});

/** An API whose every answer the test gives. */
class Api {
  readonly #heard: Heard[] = [];
  readonly #listeners = new Set<() => void>();
  url = "";

  static async open(): Promise<Api> {
    const api = new Api();
    const server = http.createServer((request, response) => void api.#hear(request, response));
    open.push(server);
    await once(server.listen(0, "127.0.0.1"), "listening");
    api.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return api;
  }

  async #hear(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const body = JSON.parse(await text(request)) as Heard["body"];
    this.#heard.push({ path: (request.url ?? "").replace("/api/v1/", ""), body, response });
    for (const wake of this.#listeners) wake();
    this.#listeners.clear();
  }

  /** The next request to this path that has not been looked at yet. */
  async next(path: string): Promise<Heard> {
    for (;;) {
      const at = this.#heard.findIndex((heard) => heard.path === path);
      const [heard] = at < 0 ? [] : this.#heard.splice(at, 1);
      if (heard !== undefined) return heard;
      await new Promise<void>((resolve) => this.#listeners.add(resolve));
    }
  }
}

function answer({ response }: Heard, status: number, body: object = {}): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function claims(...ids: readonly string[]) {
  return { rows: ids.map((claimId) => ({ claimId, request: { timeoutMs: 60_000 } })) };
}

async function running(carryOut: (claimId: string) => Promise<ClaimResult>, options: RunOptions = {}) {
  const api = await Api.open();
  const over = new AbortController();
  const troubles: string[] = [];
  const onTrouble = ({ message }: Error): void => void troubles.push(message);
  const worker = createWorker({ url: api.url, key: "k" });
  const run = worker.run(({ claimId }) => carryOut(claimId), { signal: over.signal, onTrouble, ...options });
  return { api, over, run, troubles };
}

const WELL = { httpStatus: 200 };

describe("a worker", () => {
  test("says again what the API did not take", async () => {
    const { api, over, run, troubles } = await running(() => Promise.resolve(WELL));
    answer(await api.next("claims"), 200, claims("a"));
    for (const status of [503, 429, 500]) {
      const said = await api.next("claims/a/complete");
      expect(said.body).toEqual(WELL);
      answer(said, status, { detail: "not now" });
    }
    const said = await api.next("claims/a/complete");
    over.abort();
    said.response.destroy();
    const last = await api.next("claims/a/complete");
    expect(last.body).toEqual(WELL);
    answer(last, 200);
    await run;
    expect(troubles).toHaveLength(4);
    expect(troubles[0]).toBe("the API answered 503: not now");
  });

  test("says once what is refused for good, and what nobody waits for any more", async () => {
    const { api, over, run, troubles } = await running(() => Promise.resolve(WELL));
    answer(await api.next("claims"), 200, claims("a", "b"));
    answer(await api.next("claims/a/complete"), 403);
    answer(await api.next("claims/b/complete"), 404);
    over.abort();
    await run;
    expect(troubles).toEqual([expect.stringContaining("403")]);
  });

  test("gives up when the run's time is over", async () => {
    const { api, over, run, troubles } = await running(() => Promise.resolve(WELL));
    const rows = [{ claimId: "a", request: { timeoutMs: 1 } }];
    answer(await api.next("claims"), 200, { rows });
    answer(await api.next("claims/a/complete"), 503);
    over.abort();
    await run;
    expect(troubles).toHaveLength(1);
  });

  test("has failed where it throws at once, later, or gives no result", async () => {
    const carryOut = (claimId: string): Promise<ClaimResult> => {
      if (claimId === "a") throw new Error("at once");
      return claimId === "b"
        ? Promise.reject(new Error("later"))
        : Promise.resolve(undefined as unknown as ClaimResult);
    };
    const { api, over, run } = await running(carryOut);
    answer(await api.next("claims"), 200, claims("a", "b", "c"));
    for (const [claimId, error] of [
      ["a", "at once"],
      ["b", "later"],
      ["c", expect.any(String)],
    ] as const) {
      const said = await api.next(`claims/${claimId}/complete`);
      expect(said.body).toEqual({ error });
      answer(said, 200);
    }
    over.abort();
    await run;
  });

  test("claims anew for each one that has ended, and does not wait for the slowest", async () => {
    let end: (result: ClaimResult) => void = () => undefined;
    const slow = new Promise<ClaimResult>((resolve) => {
      end = resolve;
    });
    const carryOut = (claimId: string) => (claimId === "slow" ? slow : Promise.resolve(WELL));
    const { api, over, run } = await running(carryOut, { limit: 2 });
    const first = await api.next("claims");
    expect(first.body.limit).toBe(2);
    answer(first, 200, claims("slow", "a"));
    answer(await api.next("claims/a/complete"), 200);
    const second = await api.next("claims");
    expect(second.body.limit).toBe(1);
    answer(second, 200, claims("b"));
    answer(await api.next("claims/b/complete"), 200);
    await api.next("claims");
    over.abort();
    end({ httpStatus: 204 });
    const said = await api.next("claims/slow/complete");
    expect(said.body).toEqual({ httpStatus: 204 });
    answer(said, 200);
    await run;
  });

  test("that is to end waits for nothing: its long poll ends at once", async () => {
    const { api, over, run, troubles } = await running(() => Promise.resolve(WELL));
    const { response } = await api.next("claims");
    const closed = once(response, "close");
    over.abort();
    await run;
    await closed;
    expect(troubles).toEqual([]);
  });

  test("that is to end while an answer comes carries out what is in it", async () => {
    const { fetch } = globalThis;
    const hasBegun = new Promise<void>((resolve) => {
      vi.spyOn(globalThis, "fetch").mockImplementation(async (...asked) => {
        const response = await fetch(...asked);
        resolve();
        return response;
      });
    });
    const { api, over, run } = await running(() => Promise.resolve(WELL));
    const { response } = await api.next("claims");
    const whole = JSON.stringify(claims("a"));
    response.writeHead(200, { "content-type": "application/json" }).write(whole.slice(0, 10));
    await hasBegun;
    await nextTurn();
    over.abort();
    response.end(whole.slice(10));
    answer(await api.next("claims/a/complete"), 200);
    await run;
  });
});
