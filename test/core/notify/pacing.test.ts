import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { paceOf, retryAfterMs } from "../../../src/core/notify/pacing.js";
import { MINUTE_MS } from "../../../src/core/time/instant.js";

const NOW = 10 * MINUTE_MS;

describe("messages to one place", () => {
  test.each<[name: string, waiting: number, sentAgoMs: readonly number[], pace: unknown]>([
    ["the first goes by itself", 1, [], { kind: "one" }],
    ["as many as fit go one by one", 3, [], { kind: "one" }],
    ["of more the last one stands for all", 9, [3, 2], { kind: "group" }],
    ["of more those before it still go one by one", 9, [2], { kind: "one" }],
    ["the last one that fits goes by itself", 1, [3, 2], { kind: "one" }],
    ["no more than the limit", 1, [30_000, 20_000, 10_000], { kind: "wait", untilAt: NOW + 30_000 }],
    ["what was sent a minute ago no longer counts", 1, [MINUTE_MS, 20_000, 10_000], { kind: "one" }],
    ["a clock that went back silences nobody", 1, [-1, -2, -3], { kind: "one" }],
  ])("%s", (_, waiting, sentAgoMs, pace) => {
    const sentAt = sentAgoMs.map((ago) => NOW - ago);
    expect(paceOf(waiting, sentAt, 3, NOW)).toEqual(pace);
  });

  test("never more than the limit within a minute, and nothing waits for ever", () => {
    const arrivals = fc.array(fc.integer({ min: 0, max: 5 * MINUTE_MS }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(arrivals, fc.integer({ min: 1, max: 6 }), (times, limit) => {
        const queue = [...times].sort((a, b) => a - b);
        const sent: number[] = [];
        for (let now = 0; queue.length > 0; now += 1000) {
          const waiting = queue.filter((at) => at <= now).length;
          const pace = waiting === 0 ? null : paceOf(waiting, sent, limit, now);
          if (pace === null || pace.kind === "wait") continue;
          queue.splice(0, pace.kind === "group" ? waiting : 1);
          sent.push(now);
          expect(sent.filter((at) => at > now - MINUTE_MS).length).toBeLessThanOrEqual(limit);
          expect(now).toBeLessThan(10 * MINUTE_MS);
        }
      }),
    );
  });

  test("whoever cannot be reached is tried at growing distances, to a bound", () => {
    expect([1, 2, 3, 9, 10, 50].map(retryAfterMs)).toEqual([1000, 2000, 4000, 256_000, 300_000, 300_000]);
  });
});
