/**
 * Whole runs through the supervisor, with a real store and a runner that answers at once: what is left is what Kron itself
 * costs. What a version of Kron called otherwise before is said both ways, so that it can be measured too.
 */
import { systemClock } from "../../src/actors/clock.js";
import type { SupervisorPorts } from "../../src/actors/supervisor/port.js";
import { createSupervisor } from "../../src/actors/supervisor/supervisor-actor.js";
import { SETTINGS_DEFAULTS } from "../../src/core/config/settings.js";
import type { JobDefinition } from "../../src/core/job/definition.js";
import { readJobDefinition } from "../../src/core/job/schema.js";
import { copiesIn } from "../../src/persist/corrupt-copies.js";
import { openLmdbStore } from "../../src/persist/lmdb/open.js";
import { acquireDirectoryLock } from "../../src/persist/lock.js";

export interface Bench {
  /** Microseconds of processor time a run, of all threads. */
  measure(runs: number, atATime: number): Promise<number>;
  close(): Promise<void>;
}

const BOOT_ID = "4b0a1c52-91d3-4c0e-8f5b-0d2f6f1f7c11";
const EXIT = { kind: "exited", code: 0, signal: null, reason: null };

function ended(attemptId: string): object {
  return { kind: "ended", attemptId, pid: 1, ending: EXIT, endedAt: systemClock.now() };
}

/** As versions before the runner port heard it. */
function exited(attemptId: string): object {
  const seen = { exitCode: 0, signal: null, wasObserved: true, cause: null };
  return { kind: "exited", attemptId, pid: 1, ...seen, endedAt: systemClock.now() };
}

interface Asked {
  readonly attemptId: string;
}

/** Everything that is asked for is done, and every run has ended as soon as it has begun. */
function instantRunner(endOf: (attemptId: string) => object): object {
  let pid = 0;
  let tell = (_event: object): void => {};
  return {
    capacity: { process: 1_000 },
    maxArmed: 1_000,
    arm: async ({ attemptId }: Asked) => {
      pid += 1;
      const holder = { kind: "process", pid, startTicks: 1, bootId: BOOT_ID };
      return { ok: true, value: { attemptId, holder, pid, startTicks: 1 } };
    },
    go: async ({ attemptId }: Asked) => {
      setImmediate(() => tell(endOf(attemptId)));
      return "started";
    },
    abort: async () => {},
    adopt: async () => "gone",
    terminate: async () => ({ survivors: [], wasKilled: false }),
    subscribe: (listener: (event: object) => void) => {
      tell = listener;
      return () => {};
    },
    close: async () => {},
  };
}

function definitionOf(identity: string): JobDefinition {
  const read = readJobDefinition({ identity, schedule: "@yearly", command: ["/usr/bin/backup", "--all"] });
  if (!read.ok) throw new Error(`invariant broken: ${read.error[0]?.message}`);
  return read.value;
}

/** `historyLimit`: past runs that a document keeps, which is most of its bytes. */
export async function startBench(directory: string, jobs: number, historyLimit: number): Promise<Bench> {
  const lock = acquireDirectoryLock(directory);
  if (!lock.ok) throw lock.error;
  const opened = await openLmdbStore(lock.value);
  if (!opened.ok) throw opened.error;
  const [term, store] = [lock.value, opened.value];
  let endedCount = 0;
  let onEnded = (): void => {};
  let attempts = 0;
  const supervisor = createSupervisor({
    clock: systemClock,
    store,
    term,
    runner: instantRunner(ended),
    launcher: instantRunner(exited),
    copies: copiesIn(directory),
    bootId: BOOT_ID,
    versions: { tzVersion: "bench", engineVersion: "bench" },
    outputDirectory: directory,
    baseEnv: { PATH: "/usr/bin:/bin" },
    newId: () => `bench-${String(++attempts).padStart(9, "0")}`,
    onEvent: ({ event }: { readonly event: string }) => {
      if (event !== "completed") return;
      endedCount += 1;
      onEnded();
    },
  } as unknown as SupervisorPorts);
  await supervisor.start(
    Array.from({ length: jobs }, (_, index) => definitionOf(`bench/${index}`)),
    { ...SETTINGS_DEFAULTS, history: { keep: historyLimit } },
  );
  const cursor = { next: 0 };
  const runOne = async (): Promise<void> => {
    const started = await supervisor.runNow(`bench/${cursor.next++ % jobs}`);
    if (!started.ok) throw new Error(started.message);
  };
  const runAll = async (runs: number, atATime: number): Promise<void> => {
    const wanted = endedCount + runs;
    const isOver = new Promise<void>((resolve) => {
      onEnded = () => {
        if (endedCount === wanted) resolve();
      };
    });
    let left = runs;
    const lane = async (): Promise<void> => {
      for (; left > 0; ) {
        left -= 1;
        await runOne();
      }
    };
    await Promise.all(Array.from({ length: atATime }, lane));
    await isOver;
    await supervisor.whenIdle();
  };
  return {
    measure: async (runs, atATime) => {
      const from = process.cpuUsage();
      await runAll(runs, atATime);
      const { user, system } = process.cpuUsage(from);
      return (user + system) / runs;
    },
    close: async () => {
      await supervisor.stop({ graceful: false });
      await store.close();
      term.release();
    },
  };
}
