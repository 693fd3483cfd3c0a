/** Which KronJob is looked at when: once at a time, urgent ones first, and never later than somebody asked for. */
import { expect, test } from "vitest";
import { SimulatedClock } from "../../src/actors/simulated-clock.js";
import { type Urgency, WorkQueue } from "../../src/operator/queue.js";
import { at } from "./support/samples.js";

interface Bench {
  readonly clock: SimulatedClock;
  readonly queue: WorkQueue;
  /** `key@seconds` of every piece of work that was begun. */
  readonly begun: string[];
  finish(): void;
}

function bench(limit = 1): Bench {
  const clock = new SimulatedClock({ startAt: at("2026-03-01T00:00:00Z") });
  const begun: string[] = [];
  let waiting: (() => void)[] = [];
  const queue = new WorkQueue(clock, limit, (key) => {
    begun.push(`${key}@${clock.monotonicMs() / 1000}`);
    return new Promise((done) => waiting.push(done));
  });
  const finish = (): void => {
    for (const done of waiting.splice(0)) done();
    waiting = [];
  };
  return { clock, queue, begun, finish };
}

const rows: readonly (readonly [string, readonly (readonly [Urgency, number])[], string])[] = [
  [
    "an earlier time wins over a later one",
    [
      ["calm", 30_000],
      ["urgent", 2_000],
    ],
    "a@2",
  ],
  [
    "a later time takes nothing back",
    [
      ["urgent", 2_000],
      ["calm", 30_000],
    ],
    "a@2",
  ],
  [
    "at once is at once",
    [
      ["calm", 30_000],
      ["calm", 0],
    ],
    "a@0",
  ],
];

test.each(rows)("%s", async (_name, wishes, expected) => {
  const { clock, queue, begun } = bench();
  for (const [urgency, delayMs] of wishes) queue.add("a", urgency, delayMs);
  await clock.advanceAsync(60_000);
  expect(begun).toEqual([expected]);
});

test("a delayed wish stays urgent when a calm one comes earlier", async () => {
  const { clock, queue, begun, finish } = bench();
  queue.add("busy", "calm");
  queue.add("calm", "calm", 1_000);
  queue.add("a", "urgent", 5_000);
  queue.add("a", "calm", 2_000);
  await clock.advanceAsync(3_000);
  finish();
  await clock.advanceAsync(1_000);
  expect(begun).toEqual(["busy@0", "a@3"]);
});

test("what is worked on is worked on again, and for how long is known", async () => {
  const { clock, queue, begun, finish } = bench(2);
  queue.add("a", "calm");
  await clock.advanceAsync(7_000);
  queue.add("a", "calm");
  queue.add("b", "calm");
  expect([queue.longestMs, begun]).toEqual([7_000, ["a@0", "b@7"]]);
  finish();
  await clock.advanceAsync(0);
  expect([queue.longestMs, begun]).toEqual([0, ["a@0", "b@7", "a@7"]]);
});
