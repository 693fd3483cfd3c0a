import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

const long = process.env["KRON_TEST_LONG"] === "1";

/**
 * What takes long by nature: daemons that are killed, starved and stopped, mutants that have to be noticed, and long walks
 * through random worlds. `npm run test:long`.
 */
const LONG = [
  "test/faults/**/*.test.ts",
  "test/operator/campaign-processes.test.ts",
  "test/operator/crash-points.test.ts",
  "test/operator/protocol-model-long.test.ts",
  "test/torture/**/*.test.ts",
  "test/actors/supervisor/crash-points.test.ts",
  "test/persist/store-crash.test.ts",
  "test/scheduler/process/kill.test.ts",
  "test/scheduler/traces/model-*.test.ts",
  "test/scheduler/traces/mutants.test.ts",
];
/** Without processes, and with no clock but their own: these files share one world, which saves most of their time. */
const PURE = [
  "test/core/**/*.test.ts",
  "test/machines/**/*.test.ts",
  "test/simulation/**/*.test.ts",
  "test/actors/supervisor/**/*.test.ts",
  "test/scheduler/*.test.ts",
  "test/scheduler/{testing,traces}/**/*.test.ts",
];
/** They put other modules in the place of ours: each needs a world of its own. */
const REPLACING = ["test/actors/supervisor/decision-failure.test.ts", "test/core/decision/seed.test.ts"];
/** Everything else: real processes, files and clocks. */
const HOST = ["test/**/*.test.ts"];
/** Builds what processes are started from, once a run. */
const PROGRAMS = "test/support/built-programs.ts";

export default defineConfig({
  test: {
    // Nothing is told by how long it takes: this bounds what hangs, on a machine with other work too.
    testTimeout: long ? 3_600_000 : 180_000,
    hookTimeout: 180_000,
    pool: "forks",
    // Much of a test of daemons is waiting, and some other test can have the core meanwhile.
    maxWorkers: availableParallelism() + 1,
    projects: [
      { extends: true, test: { name: "pure", include: PURE, exclude: [...LONG, ...REPLACING], isolate: false } },
      { extends: true, test: { name: "replacing", include: REPLACING } },
      {
        extends: true,
        test: { name: "host", include: HOST, exclude: [...PURE, ...LONG], globalSetup: PROGRAMS },
      },
      {
        extends: true,
        // One after the other: they load the machine as much as it bears, and ask whether starts are in time.
        test: { name: "long", include: LONG, globalSetup: PROGRAMS, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
    // A test that needs what this machine lacks says so in its name when it skips.
    reporters: process.env["CI"] ? ["default", "json"] : ["default"],
    outputFile: { json: "node_modules/.cache/vitest-report.json" },
  },
});
