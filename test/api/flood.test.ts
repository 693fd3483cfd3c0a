/** A tenant whose servers accept and never answer: what it holds others up is nothing. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import * as net from "node:net";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { apiDaemon } from "./support/daemon.js";
import { type Receiver, receiverOf } from "./support/routes.js";

const ROOM = 8;
const HOUR_MS = 3_600_000;
const daemon = apiDaemon({
  jobs: `  []\nhttp: { max_concurrent: ${ROOM}, max_per_origin: ${ROOM} }\n`,
  args: ["--allow-private", "--api-rate", "10000"],
});

/** Takes every request and says nothing. */
class Silent {
  readonly open = new Set<net.Socket>();
  #ended = 0;
  readonly #server = net.createServer((socket) => {
    this.open.add(socket);
    socket
      .on("error", () => undefined)
      .on("close", () => {
        this.open.delete(socket);
        this.#ended += 1;
      });
    socket.resume();
  });

  get ended(): number {
    return this.#ended;
  }

  async url(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  close(): void {
    for (const socket of this.open) socket.destroy();
    this.#server.close();
  }
}

const silent = new Silent();
let silentUrl = "";
let receiver: Receiver;
beforeAll(async () => {
  silentUrl = await silent.url();
  receiver = await receiverOf();
});
afterAll(() => {
  silent.close();
  receiver.close();
});

async function endpointsOf(tenant: string, count: number, url: string): Promise<{ key: string; ids: string[] }> {
  const { key } = await daemon.key(tenant, "write");
  const job = await daemon.send("POST", "/api/v1/jobs", { key, body: { name: "all" } });
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const body = { name: `e-${index}`, url, baselineIntervalMs: 24 * HOUR_MS, timeoutMs: HOUR_MS };
    ids.push((await daemon.send("POST", `/api/v1/jobs/${job.body.id}/endpoints`, { key, body })).body.id);
  }
  return { key, ids };
}

test("tenants whose servers never answer keep nobody else's requests from being sent", async () => {
  for (const tenant of ["flood", "deluge"]) {
    const { key, ids } = await endpointsOf(tenant, 3 * ROOM, silentUrl);
    for (const id of ids) expect((await daemon.send("POST", `/api/v1/endpoints/${id}/run`, { key })).status).toBe(201);
  }
  // Half of the room, and half of what is left of it.
  await vi.waitFor(() => expect(silent.open.size).toBe(4 + 2), { timeout: 60_000 });
  for (const tenant of ["acme", "beta", "gamma"]) {
    const { key, ids } = await endpointsOf(tenant, 4, receiver.url);
    const runs = await Promise.all(
      ids.map((id) => daemon.send("POST", `/api/v1/endpoints/${id}/run?wait=60`, { key })),
    );
    expect(runs.map(({ status, body }) => [status, body.run?.status])).toEqual(ids.map(() => [201, "success"]));
  }
  expect([silent.open.size, silent.ended]).toEqual([6, 0]);
});
