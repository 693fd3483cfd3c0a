/** Endpoints are looked at when their runs have ended: a few at a time, tenant after tenant, and none before its time. */
import { describe, expect, test } from "vitest";
import { ANALYST_LIMITS, Analyst } from "../../../src/actors/endpoints/analyst.js";
import { SimulatedClock } from "../../../src/actors/simulated-clock.js";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "../../../src/core/time/instant.js";

const START = Date.parse("2026-03-01T00:00:00Z");

function identity(name: string | number, tenant = "acme"): string {
  return `endpoint:${tenant}/job_${"a".repeat(16)}/ep_${String(name).padStart(16, "0")}`;
}

class Bench {
  readonly clock = new SimulatedClock({ startAt: START });
  readonly failures: string[] = [];
  readonly looked: string[] = [];
  /** Of looks that were begun and go on. */
  readonly open: (() => void)[] = [];
  mostAtOnce = 0;
  mayStart = true;
  answer: (identity: string) => number | null = () => this.clock.now() + MINUTE_MS;
  waits = false;
  readonly analyst = new Analyst({ clock: this.clock, onFailure: (_, of) => this.failures.push(of) });

  constructor() {
    this.analyst.open({ look: (of) => this.#look(of), mayStart: () => this.mayStart });
  }

  async pass(ms: number): Promise<void> {
    for (let at = 0; at < ms; at += ANALYST_LIMITS.everyMs) {
      this.clock.advance(ANALYST_LIMITS.everyMs);
      for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async #look(of: string): Promise<number | null> {
    this.looked.push(of);
    if (this.waits) {
      const over = new Promise<void>((resolve) => this.open.push(resolve));
      this.mostAtOnce = Math.max(this.mostAtOnce, this.open.length);
      await over;
    }
    return this.answer(of);
  }
}

describe("when", () => {
  test("some while after a run has ended, once for many, and not again before its time", async () => {
    const bench = new Bench();
    for (let run = 0; run < 5; run++) bench.analyst.ended(identity("a"));
    expect(bench.looked).toEqual([]);
    await bench.pass(2 * SECOND_MS);
    expect(bench.looked).toEqual([identity("a")]);
    bench.analyst.ended(identity("a"));
    await bench.pass(30 * SECOND_MS);
    expect(bench.looked).toHaveLength(1);
    await bench.pass(MINUTE_MS);
    bench.analyst.ended(identity("a"));
    await bench.pass(2 * SECOND_MS);
    expect(bench.looked).toHaveLength(2);
  });

  test("what is no endpoint is none of its business", async () => {
    const bench = new Bench();
    bench.analyst.ended("prod/backup");
    await bench.pass(5 * SECOND_MS);
    expect(bench.looked).toEqual([]);
  });

  test("null: not before somebody has changed it, also in the middle of a look", async () => {
    const bench = new Bench();
    bench.answer = () => null;
    bench.analyst.ended(identity("a"));
    await bench.pass(2 * SECOND_MS);
    bench.analyst.ended(identity("a"));
    await bench.pass(DAY_MS / 24);
    expect(bench.looked).toHaveLength(1);
    bench.analyst.forget(identity("a"));
    bench.waits = true;
    bench.analyst.ended(identity("a"));
    await bench.pass(2 * SECOND_MS);
    expect(bench.looked).toHaveLength(2);
    bench.analyst.forget(identity("a"));
    // An end while it is being looked at: of what it has become since, nobody has seen anything yet.
    bench.analyst.ended(identity("a"));
    for (const end of bench.open.splice(0)) end();
    await bench.pass(3 * SECOND_MS);
    expect(bench.looked).toHaveLength(3);
    for (const end of bench.open.splice(0)) end();
  });

  test("S14: a rest by a clock that ran ahead is not waited for", async () => {
    const bench = new Bench();
    bench.answer = () => bench.clock.now() + MINUTE_MS;
    bench.analyst.ended(identity("a"));
    await bench.pass(2 * SECOND_MS);
    bench.clock.jump(-3 * DAY_MS);
    bench.analyst.ended(identity("a"));
    await bench.pass(2 * SECOND_MS);
    expect(bench.looked).toHaveLength(2);
  });

  test("what could not be looked at is told, and rests for a while", async () => {
    const bench = new Bench();
    bench.answer = () => {
      throw new Error("unreadable");
    };
    bench.analyst.ended(identity("a"));
    await bench.pass(2 * SECOND_MS);
    bench.analyst.ended(identity("a"));
    await bench.pass(MINUTE_MS);
    expect([bench.failures, bench.looked]).toEqual([[identity("a")], [identity("a")]]);
  });
});

describe("how many", () => {
  test("no more than its pace, however many have ended at once, and each of them once", async () => {
    const bench = new Bench();
    const all = Array.from({ length: 200 }, (_, at) => identity(at));
    for (const one of all) bench.analyst.ended(one);
    await bench.pass(ANALYST_LIMITS.afterMs);
    expect(bench.looked.length).toBeLessThanOrEqual(ANALYST_LIMITS.begunAtOnce);
    await bench.pass(5 * SECOND_MS);
    expect([...bench.looked].sort()).toEqual(all);
  });

  test("some at once, fewer of one tenant, and the others do not wait for it", async () => {
    const bench = new Bench();
    bench.waits = true;
    for (let at = 0; at < 100; at++) bench.analyst.ended(identity(at, "flood"));
    for (let at = 0; at < 3; at++) bench.analyst.ended(identity(at, "other"));
    await bench.pass(10 * SECOND_MS);
    const of = (tenant: string): number => bench.looked.filter((name) => name.includes(tenant)).length;
    expect([of("flood"), of("other")]).toEqual([ANALYST_LIMITS.underWayOfTenant, 3]);
    for (let round = 0; round < 60; round++) {
      for (const end of bench.open.splice(0)) end();
      await bench.pass(200);
    }
    expect([of("flood"), of("other")]).toEqual([100, 3]);
    expect(bench.mostAtOnce).toBeLessThanOrEqual(ANALYST_LIMITS.underWay);
  });

  test("none, while nothing may be started", async () => {
    const bench = new Bench();
    bench.analyst.ended(identity("a"));
    bench.mayStart = false;
    await bench.pass(2 * SECOND_MS);
    expect(bench.looked).toEqual([]);
  });
});

test("closed, it waits for what is under way and begins nothing", async () => {
  const bench = new Bench();
  bench.waits = true;
  bench.analyst.ended(identity("a"));
  await bench.pass(2 * SECOND_MS);
  bench.analyst.ended(identity("b"));
  let isClosed = false;
  const closed = bench.analyst.close().then(() => {
    isClosed = true;
  });
  await bench.pass(5 * SECOND_MS);
  expect([isClosed, bench.looked]).toEqual([false, [identity("a")]]);
  for (const end of bench.open.splice(0)) end();
  await closed;
  expect(bench.looked).toEqual([identity("a")]);
});
