/** What a planner may use is promised by the book of everything that tenants use, and a restart gives nothing of it back. */
import { describe, expect, test } from "vitest";
import { QuotaBook } from "../../../src/actors/endpoints/quota-book.js";
import { NO_LIMITS } from "../../../src/actors/endpoints/tenant-limits.js";
import { SimulatedClock } from "../../../src/actors/simulated-clock.js";
import { DAY_MS } from "../../../src/core/time/instant.js";
import { budgetOf } from "../../../src/operations/planner/budget.js";
import { acquireMemoryLock } from "../../../src/persist/lock.js";
import { MemoryDisk } from "../../../src/persist/memory/disk.js";
import { openMemoryStore } from "../../../src/persist/memory/store.js";
import type { ObjectWrite } from "../../../src/persist/store.js";
import { requireOk } from "../../support/results.js";

const START = Date.parse("2026-03-01T12:00:00Z");

async function opened() {
  const clock = new SimulatedClock({ startAt: START });
  const disk = new MemoryDisk();
  const term = requireOk(acquireMemoryLock(disk));
  const store = requireOk(openMemoryStore(term, disk));
  const failures: unknown[] = [];
  const writes: (readonly ObjectWrite[])[] = [];
  const book = (): QuotaBook => {
    const write = async (objects: readonly ObjectWrite[]): Promise<void> => {
      writes.push(objects);
      await store.commit(term, { objects });
    };
    return new QuotaBook({ clock, reader: store, write, onFailure: (error) => failures.push(error) });
  };
  const first = book();
  await first.setLimits("acme", { ...NO_LIMITS, plannerCallsPerDay: 3, plannerTokensPerDay: 1_000 });
  return { clock, book, first, writes };
}

describe("a planner's budget", () => {
  test("is durable before anything may be sent", async () => {
    const { first, writes, book } = await opened();
    const before = writes.length;
    expect(await first.reservePlanner("acme", 400)).toMatchObject({ ok: true });
    expect(writes.length).toBe(before + 1);
    // Killed here: nobody settles it, and nobody flushes.
    const { state } = await book().use("acme");
    expect(state).toMatchObject({ plannerCalls: 1, plannerTokens: 400 });
  });

  test("what is left over is there again, and known to the next daemon", async () => {
    const { first, book } = await opened();
    const promised = await budgetOf(first, "acme").reserve(900, START);
    if (!promised.ok) throw new Error(promised.message);
    await promised.settle(100);
    await first.close();
    const next = budgetOf(book(), "acme");
    expect(await next.reserve(900, START)).toMatchObject({ ok: true });
    expect(await next.reserve(1, START)).toEqual({
      ok: false,
      message: "no tokens of the planner are left until 2026-03-02T00:00:00Z",
    });
  });

  test("calls are counted across restarts too, each tenant for itself, until the day is over", async () => {
    const { clock, book } = await opened();
    for (let call = 0; call < 3; call++) expect((await book().reservePlanner("acme", 1)).ok).toBe(true);
    expect(await budgetOf(book(), "acme").reserve(1, START)).toMatchObject({
      ok: false,
      message: /calls of the planner/,
    });
    expect((await book().reservePlanner("other", 1)).ok).toBe(true);
    clock.jump(DAY_MS);
    expect((await book().reservePlanner("acme", 1)).ok).toBe(true);
  });
});
