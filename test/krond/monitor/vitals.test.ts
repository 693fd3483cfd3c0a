import { describe, expect, test } from "vitest";
import { SimulatedClock } from "../../../src/actors/simulated-clock.js";
import { KronError } from "../../../src/core/base/errors/kron-error.js";
import { VITAL_LIMITS, Vitals } from "../../../src/krond/monitor/vitals.js";
import { CommitMeter } from "../../../src/krond/state/observed-store.js";
import type { HealthPhase } from "../../../src/machines/supervisor-phase.js";
import type { LockTerm } from "../../../src/persist/lock.js";
import type { StateStore } from "../../../src/persist/store.js";

interface World {
  readonly clock: SimulatedClock;
  readonly vitals: Vitals;
  phase: HealthPhase;
  nextDueAt: number | null;
  oldestCommitMs: number;
  stalledMs: number | null;
}

function world(): World {
  const clock = new SimulatedClock({ startAt: 1_000_000 });
  const phase = "running" as HealthPhase;
  const it = { clock, phase, nextDueAt: null as number | null, oldestCommitMs: 0, stalledMs: null as number | null };
  const vitals = new Vitals({
    clock,
    phase: () => it.phase,
    jobs: () => 3,
    nextDueAt: () => it.nextDueAt,
    oldestCommitMs: () => it.oldestCommitMs,
    stalledMs: () => it.stalledMs,
  });
  return Object.assign(it, { vitals });
}

const FAILURE = new KronError("state-write-failed", "/secret/path: EIO", { component: "persist", operation: "commit" });

const ROWS: readonly (readonly [
  title: string,
  make: (it: World) => void,
  isHealthy: boolean,
  reason: string | null,
])[] = [
  ["all is well", () => undefined, true, null],
  ["it starts", (it) => Object.assign(it, { phase: "starting" }), true, "starting"],
  ["it reloads", (it) => Object.assign(it, { phase: "reloading" }), true, null],
  ["it drains", (it) => Object.assign(it, { phase: "draining" }), true, "draining"],
  ["jobs were rejected", (it) => it.vitals.configurationRead(2, false), true, null],
  [
    "a file could not be read",
    (it) => it.vitals.configurationRead(2, true),
    true,
    "the configuration could not be read: 2 problems",
  ],
  ["the file is in order again", (it) => [true, false].map((is) => it.vitals.configurationRead(2, is)), true, null],
  ["the supervisor failed", (it) => it.vitals.failed(FAILURE), false, "failed: state-write-failed"],
  ["something else failed", (it) => it.vitals.failed(new TypeError("x")), false, "failed: internal"],
  ["the store failed", (it) => it.vitals.storeFailed(), false, "a write to the store failed"],
  ["a commit takes long", (it) => Object.assign(it, { oldestCommitMs: VITAL_LIMITS.commitMs }), true, null],
  [
    "a commit hangs",
    (it) => Object.assign(it, { oldestCommitMs: VITAL_LIMITS.commitMs + 1 }),
    false,
    "a commit has been under way for 60 s",
  ],
  ["the loop stalled", (it) => Object.assign(it, { stalledMs: 12_345 }), false, "the event loop stood still for 12 s"],
  ["a job is due", (it) => Object.assign(it, { nextDueAt: it.clock.now() - VITAL_LIMITS.behindMs }), true, null],
  [
    "jobs that are due are not looked at",
    (it) => Object.assign(it, { nextDueAt: it.clock.now() - VITAL_LIMITS.behindMs - 1 }),
    false,
    "scheduling is 120 s behind",
  ],
];

describe("health is for whoever restarts it, readiness for whoever waits for it", () => {
  test.each(ROWS)("%s", (_title, make, isHealthy, reason) => {
    const it = world();
    make(it);
    const [health, readiness] = [it.vitals.health(), it.vitals.readiness()];
    expect([health.isOk, readiness.isOk, readiness.details["reason"] ?? null]).toEqual([
      isHealthy,
      reason === null,
      reason,
    ]);
    expect(health.details["reason"] ?? null).toBe(isHealthy ? null : reason);
    expect(JSON.stringify([health, readiness])).not.toContain("secret");
  });
});

describe("a store that is watched", () => {
  function store(): { readonly store: StateStore; end: (error?: Error) => void } {
    const it = {
      storeId: "s",
      counts: async () => ({ documents: 1, ledger: 2, definitions: 3 }),
      commit: () =>
        new Promise<void>((resolve, reject) => {
          made.end = (error) => (error === undefined ? resolve() : reject(error));
        }),
    };
    const made = { store: it as unknown as StateStore, end: (_error?: Error): void => undefined };
    return made;
  }

  const TERM = {} as LockTerm;

  test("does what it did; commits are measured until they are durable", async () => {
    const clock = new SimulatedClock({ startAt: 0 });
    const seen: unknown[] = [];
    const observer = {
      committed: (ms: number) => void seen.push(["committed", ms]),
      held: (what: string, ms: number) => void seen.push([what, ms]),
      failed: () => void seen.push("failed"),
    };
    const meter = new CommitMeter(clock, observer);
    const inner = store();
    const watched = meter.observed(inner.store);
    expect(await watched.counts()).toEqual({ documents: 1, ledger: 2, definitions: 3 });
    expect(watched.storeId).toBe("s");
    expect(meter.oldestMs()).toBe(0);
    const done = watched.commit(TERM, { ledger: [], meta: [] });
    clock.advance(70);
    expect(meter.oldestMs()).toBe(70);
    inner.end();
    await done;
    const failing = watched.commit(TERM, {});
    inner.end(new Error("EIO"));
    await expect(failing).rejects.toThrow("EIO");
    expect(meter.oldestMs()).toBe(0);
    const text = "a commit of 0 documents, 0 entries";
    expect(seen).toEqual([[text, 0], ["committed", 70], [text, 0], "failed"]);
  });
});
