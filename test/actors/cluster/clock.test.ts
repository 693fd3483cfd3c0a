/** C11: the time that all nodes share, whatever the clock of a machine says. */
import { expect, test } from "vitest";
import { ClusterClock } from "../../../src/actors/cluster/clock.js";
import { lastStartAt } from "../../../src/actors/cluster/lease.js";
import type { Armed, Runner } from "../../../src/actors/runner/port.js";
import { SimulatedClock } from "../../../src/actors/simulated-clock.js";
import { Gates } from "../../../src/actors/supervisor/run/gates.js";
import { ok } from "../../../src/core/base/result.js";
import { SECOND_MS } from "../../../src/core/time/instant.js";

const START = Date.parse("2026-03-01T00:00:00Z");

/** A server whose clock is `aheadMs` ahead of this machine's; its answer takes `tripMs`. */
function shared(aheadMs: number, tripMs = 0) {
  const machine = new SimulatedClock({ startAt: START });
  const sample = () => {
    const sentMs = machine.monotonicMs();
    machine.advance(tripMs / 2);
    const at = machine.now() + aheadMs;
    machine.advance(tripMs / 2);
    return { at, sentMs, receivedMs: machine.monotonicMs() };
  };
  return { machine, sample, clock: new ClusterClock(machine, sample()) };
}

test.each([0, 5_000, -5_000])(
  "is the server's, %i ms ahead of the machine's, and goes on between two samples",
  (aheadMs) => {
    const { machine, clock } = shared(aheadMs, 40);
    expect(clock.now()).toBe(START + 40 + aheadMs);
    machine.advance(10_000);
    expect(clock.now()).toBe(START + 10_040 + aheadMs);
  },
);

test("a machine's clock that is moved changes nothing", () => {
  const { machine, clock } = shared(0);
  machine.jump(3_600_000);
  machine.advance(1_000);
  expect(clock.now()).toBe(START + 1_000);
});

test("a small difference is made up for little by little, never backwards", () => {
  const { machine, clock, sample } = shared(0);
  const { at, ...about } = sample();
  clock.take({ at: at - 200, ...about });
  const seen: number[] = [];
  for (let step = 0; step < 500; step++) {
    machine.advance(10);
    seen.push(clock.now());
  }
  expect(seen.every((now, index) => index === 0 || now >= (seen[index - 1] ?? 0))).toBe(true);
  expect(clock.now()).toBe(START + 5_000 - 200);
});

test("a large one is a jump, which schedules are to see (S6)", () => {
  const { machine, clock, sample } = shared(0);
  const { at, ...about } = sample();
  clock.take({ at: at + 60_000, ...about });
  machine.advance(1);
  expect(clock.now()).toBe(START + 60_001);
});

test("what a slow answer leaves open is no difference", () => {
  const { machine, clock, sample } = shared(0, 400);
  const { at, ...about } = sample();
  clock.take({ at: at + 150, ...about });
  const before = clock.now();
  machine.advance(10_000);
  expect(clock.now()).toBe(before + 10_000);
});

test.each([
  ["ends in the middle of a second", 9_500, "00:00:08"],
  ["ends with a second", 9_000, "00:00:08"],
  ["has ended", -500, "23:59:58"],
])("C8: of a lease that %s, the last second of a start is over before", (_, leftMs, last) => {
  const machine = new SimulatedClock({ startAt: START });
  machine.advance(5_000);
  const at = lastStartAt(
    { trustedUntilMs: machine.monotonicMs() + leftMs },
    { now: () => START, monotonicMs: () => machine.monotonicMs() },
  );
  expect(new Date(at).toISOString().slice(11, 19)).toBe(last);
});

test("C8: a store that is held for good bounds no start", () => {
  const clock = new SimulatedClock({ startAt: START });
  expect(lastStartAt({ trustedUntilMs: Number.POSITIVE_INFINITY }, clock)).toBe(Number.POSITIVE_INFINITY);
});

test("C8: GO carries whichever is earlier, its own bound or that of the lease, as it is in that moment", async () => {
  const told: number[] = [];
  const armed: Armed = { attemptId: "a", holder: { kind: "process", pid: 1, startTicks: null, bootId: null } };
  const runner = {
    capacity: { process: 10 },
    arm: async ({ attemptId }: { readonly attemptId: string }) => ok({ ...armed, attemptId }),
    go: async (_: Armed, latestAt: number) => {
      told.push(latestAt);
      return "started";
    },
  } as unknown as Runner;
  let heldUntilAt = START;
  const gates = new Gates(
    runner,
    () => false,
    () => heldUntilAt,
  );
  for (const attemptId of ["a", "b"]) {
    await gates.arm({ attemptId, kind: "process" } as Parameters<Gates["arm"]>[0]);
    await gates.go(attemptId, START + 60 * SECOND_MS);
    heldUntilAt = START + 90 * SECOND_MS;
  }
  expect(told).toEqual([START, START + 60 * SECOND_MS]);
});
