/** Several supervisors of one machine, each of which sees a stretch of the store and nothing else. */
import { expect, test } from "vitest";
import { SimulatedHost } from "../../../src/actors/launcher/daemon/simulated-launcher.js";
import { SimulatedClock } from "../../../src/actors/simulated-clock.js";
import type { Supervisor } from "../../../src/actors/supervisor/port.js";
import { Gates } from "../../../src/actors/supervisor/run/gates.js";
import { createSupervisor } from "../../../src/actors/supervisor/supervisor-actor.js";
import { SETTINGS_DEFAULTS } from "../../../src/core/config/settings.js";
import type { JobDefinition } from "../../../src/core/job/definition.js";
import { SECOND_MS } from "../../../src/core/time/instant.js";
import { isInRange, keyRanges } from "../../../src/persist/key-range.js";
import { documentKey } from "../../../src/persist/keys.js";
import { acquireMemoryLock } from "../../../src/persist/lock.js";
import { MemoryDisk } from "../../../src/persist/memory/disk.js";
import { openMemoryStore } from "../../../src/persist/memory/store.js";
import { requireOk } from "../../support/results.js";
import { job, START } from "./world.js";

const MAX_ARMED = 4;
const RANGES = keyRanges(2);

/** One launcher, one store, one term, one number of gates. */
class Node {
  readonly clock = new SimulatedClock({ startAt: START });
  readonly startedOf = new Map<string, number>();
  mostArmed = 0;
  readonly supervisors: readonly Supervisor[];
  #ids = 0;

  constructor(disk: MemoryDisk) {
    const host = new SimulatedHost(this.clock, () => ({ runMs: 1_000, exitCode: 0 }), {
      executed: ({ env }) => {
        const identity = env["KRON_IDENTITY"] ?? "";
        this.startedOf.set(identity, (this.startedOf.get(identity) ?? 0) + 1);
      },
      ended: () => undefined,
    });
    const runner = host.launcher(100);
    const gates = new Gates(runner);
    gates.limitProcesses(MAX_ARMED);
    const term = requireOk(acquireMemoryLock(disk));
    const store = requireOk(openMemoryStore(term, disk));
    this.supervisors = RANGES.map((range) =>
      createSupervisor({
        clock: this.clock,
        store: store.inRange(range),
        term,
        runner,
        gates,
        copies: { isKept: () => false, keep: (key) => `${key}.corrupt` },
        bootId: host.bootId,
        versions: { tzVersion: "test", engineVersion: "test" },
        outputDirectory: "/nowhere",
        baseEnv: {},
        newId: () => `attempt-${++this.#ids}`,
        onEvent: () => {
          this.mostArmed = Math.max(this.mostArmed, gates.armedCount);
        },
      }),
    );
  }

  async start(jobs: readonly JobDefinition[]): Promise<void> {
    const settings = { ...SETTINGS_DEFAULTS, maxArmed: MAX_ARMED };
    for (const [index, supervisor] of this.supervisors.entries()) {
      await supervisor.start(
        jobs.filter(({ identity }) => stretchOf(identity) === index),
        settings,
      );
    }
  }

  async pass(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second++) {
      this.clock.advance(SECOND_MS);
      await Promise.all(this.supervisors.map((supervisor) => supervisor.whenIdle()));
    }
  }
}

function stretchOf(identity: string): number {
  return RANGES.findIndex((range) => isInRange(documentKey(identity), range));
}

const JOBS = Array.from({ length: 12 }, (_, index) => job(`job/${index}`, "* * * * *"));

function startsOf(node: Node, stretch: number): number[] {
  return JOBS.filter(({ identity }) => stretchOf(identity) === stretch).map(({ identity }) => {
    return node.startedOf.get(identity) ?? 0;
  });
}

test("each runs its own jobs, and together they have no more gates than the node", async () => {
  const node = new Node(new MemoryDisk());
  await node.start(JOBS);
  expect(node.supervisors.map((supervisor) => supervisor.status().jobs)).toEqual(
    [0, 1].map((it) => startsOf(node, it).length),
  );
  expect(Math.min(startsOf(node, 0).length, startsOf(node, 1).length)).toBeGreaterThan(2);
  await node.pass(120);
  expect([...startsOf(node, 0), ...startsOf(node, 1)]).toEqual(JOBS.map(() => 2));
  expect(node.mostArmed).toBeLessThanOrEqual(MAX_ARMED);
});

test("one that is stopped closes its own gates and leaves those of the others", async () => {
  const node = new Node(new MemoryDisk());
  await node.start(JOBS);
  // Seconds before they are due, gates of both may be ready.
  await node.pass(57);
  await node.supervisors[0]?.stop({ graceful: false });
  await node.pass(10);
  expect([startsOf(node, 0), startsOf(node, 1)]).toEqual([
    startsOf(node, 0).map(() => 0),
    startsOf(node, 1).map(() => 1),
  ]);
});
