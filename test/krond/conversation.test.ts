/** What a client of the control socket may ask at a time, and when it is not listened to any more. */
import { Duplex } from "node:stream";
import { expect, test } from "vitest";
import { Conversation } from "../../src/krond/control/conversation.js";
import { CONTROL_LIMITS } from "../../src/krond/control-answers.js";
import type { Acting } from "../../src/operations/ports.js";
import { Desk } from "../operations/endpoints/desk.js";

/** The daemon's end of a connection: what the client sends is pushed, and what it is told is kept. */
class DaemonEnd extends Duplex {
  readonly told: { readonly id: number; readonly ok: boolean }[] = [];
  readonly timeouts: number[] = [];
  readonly #isRead: boolean;

  /** A client that does not read takes no answer. */
  constructor(isRead = true) {
    super();
    this.#isRead = isRead;
    this.setEncoding("utf8");
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.told.push(JSON.parse(chunk.toString()));
    if (this.#isRead) done();
  }

  setTimeout(ms: number): void {
    this.timeouts.push(ms);
  }

  /** As a socket does it: when everything is written. */
  destroySoon(): void {
    this.once("finish", () => this.destroy());
    this.end();
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function turns(): Promise<void> {
  for (let count = 0; count < 5; count++) await turn();
}

function line(id: number, op: string, more: object = {}): string {
  return `${JSON.stringify({ id, tenant: "acme", request: { op, ...more } })}\n`;
}

const waiting = (id: number): string => line(id, "claims.take", { limit: 1, withinMs: 20_000 });

/** A desk whose workers wait until they are let go, one after another. */
async function heldDesk() {
  const desk = await Desk.open();
  const held: (() => void)[] = [];
  const workers: Acting["workers"] = {
    take: () => new Promise((resolve) => held.push(() => resolve([]))),
    complete: (...said) => desk.workers.complete(...said),
  };
  return { ports: { ...desk.ports, workers } as Acting, held };
}

test("more requests than the bound in one piece: the others wait, and each is answered", async () => {
  const { ports, held } = await heldDesk();
  const end = new DaemonEnd();
  new Conversation(end, ports);
  const count = CONTROL_LIMITS.underWay + 44;
  end.push(Array.from({ length: count }, (_, index) => waiting(index)).join(""));
  await turns();
  expect(held).toHaveLength(CONTROL_LIMITS.underWay);
  expect(end.isPaused()).toBe(true);
  held[0]?.();
  await turns();
  expect(held).toHaveLength(CONTROL_LIMITS.underWay + 1);
  while (end.told.length < count) {
    for (const letGo of held.splice(0)) letGo();
    await turn();
  }
  expect(new Set(end.told.map(({ id }) => id)).size).toBe(count);
  expect(end.isPaused()).toBe(false);
});

test("after a request that is too long nothing more is read, also of a client that takes no answer", async () => {
  const { ports } = await heldDesk();
  const end = new DaemonEnd(false);
  new Conversation(end, ports);
  end.push("x".repeat(CONTROL_LIMITS.requestBytes + 1));
  await turns();
  expect(end.told).toMatchObject([{ id: 0, ok: false }]);
  const more = "x".repeat(60_000);
  end.push(more);
  end.push(`\n${waiting(1)}`);
  await turns();
  expect(end.isPaused()).toBe(true);
  expect(end.readableLength).toBeGreaterThan(more.length);
  expect(end.told).toHaveLength(1);
  // It does not stay for ever either.
  expect(end.timeouts.at(-1)).toBe(CONTROL_LIMITS.idleMs);
});

test("what is answered after a stop does not bound how long its end is waited for", async () => {
  const { ports, held } = await heldDesk();
  const stops: boolean[] = [];
  const stopping = { ...ports, stop: (isGraceful: boolean) => stops.push(isGraceful) };
  const end = new DaemonEnd();
  new Conversation(end, stopping as unknown as Acting);
  end.push(waiting(1) + line(2, "stop", { graceful: true }) + waiting(3));
  await turns();
  expect(stops).toEqual([true]);
  for (const letGo of held) letGo();
  await turns();
  expect(end.told.map(({ id }) => id).sort()).toEqual([1, 2, 3]);
  expect(end.timeouts.at(-1)).toBe(0);
});
