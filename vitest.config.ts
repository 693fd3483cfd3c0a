import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const long = process.env["KRON_TEST_LONG"] === "1";

/**
 * Judges of time: daemons that are starved, stopped and fed with nonsense, and a page over very many jobs. One after the other,
 * with the machine to themselves. They and `HEAVY` are `npm run test:long`.
 */
const LONG = ["test/faults/**/*.test.ts", "test/web/many-jobs.test.ts"];
/**
 * Long, but no judge of time: browsers, databases, many programs, daemons that are killed, mutants that have to be noticed, walks
 * through every crash and through random worlds. Side by side like the others.
 */
const HEAVY = [
  "test/actors/cluster/nodes-crash.test.ts",
  "test/actors/pool/faults.test.ts",
  "test/actors/supervisor/crash-points.test.ts",
  "test/api/{doors,flood,inspect,worker}.test.ts",
  "test/api/mcp/{http,stdio}.test.ts",
  "test/cli/endpoints/*.test.ts",
  "test/cli/{environment,several-nodes,simulate-docs}.test.ts",
  "test/cli/forecast/environment.test.ts",
  "test/core/cron/schedule-oracle.test.ts",
  "test/deploy/debian.test.ts",
  "test/krond/{apply-nodes,endpoints-between-nodes,exec-failures,glance,groups,hint,list,many-jobs}.test.ts",
  "test/krond/{json-spelling,new-version,notify,surroundings,survival}.test.ts",
  "test/krond/{output-log,planner,postgres-daemon}.test.ts",
  "test/krond/{inspect,operating,requests,runs-between-nodes,several-nodes}.test.ts",
  "test/machines/model-check.test.ts",
  "test/operator/{campaign,crash-points,protocol-model-long,random-courses}.test.ts",
  "test/operator/campaign-processes.test.ts",
  "test/persist/postgres-*.test.ts",
  "test/persist/store-crash.test.ts",
  "test/scheduler/process/kill.test.ts",
  "test/scheduler/traces/{model-*,mutants}.test.ts",
  "test/simulation/forecast-equals-simulation.test.ts",
  "test/torture/**/*.test.ts",
  "test/web/{endpoints,features,narrow,nodes,pages,security,stays}.test.ts",
  "test/web/inspector/page.test.ts",
];
/** Without processes, and with no clock but their own: these files share one world, which saves most of their time. */
const PURE = [
  "test/core/**/*.test.ts",
  "test/machines/**/*.test.ts",
  "test/planner/*.test.ts",
  "test/simulation/**/*.test.ts",
  "test/actors/{cluster,supervisor}/**/*.test.ts",
  "test/operations/endpoints/**/*.test.ts",
  "test/scheduler/*.test.ts",
  "test/scheduler/{testing,traces}/**/*.test.ts",
];
/** They put other modules in the place of ours: each needs a world of its own. */
const REPLACING = ["test/actors/supervisor/decision-failure.test.ts", "test/core/decision/seed.test.ts"];
/** Everything else: real processes, files and clocks. */
const HOST = ["test/**/*.test.ts"];
/** What walks through every crash takes a minute or two, and several times that where others have the machine. */
const HEAVY_BOUND_MS = long ? 3_600_000 : 900_000;
/** They take one or several minutes, most of it waiting: begun last, they would be all that is left to wait for. */
const LONGEST = [
  /\/test\/torture\//,
  /\/test\/krond\/several-nodes\./,
  /\/test\/operator\/(campaign-processes|protocol-model-long)\./,
  /\/test\/actors\/cluster\/nodes-crash\./,
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLongest = ({ moduleId }: TestSpecification): boolean => LONGEST.some((one) => one.test(moduleId));
    return [...sorted.filter(isLongest), ...sorted.filter((file) => !isLongest(file))];
  }
}

/** Builds what processes are started from, once a run. */
const PROGRAMS = "test/support/built-programs.ts";

export default defineConfig({
  test: {
    // Nothing is told by how long it takes: this bounds what hangs, on a machine with other work too.
    testTimeout: long ? 3_600_000 : 180_000,
    hookTimeout: 180_000,
    // Whoever waits for something to become true waits as long as it takes there: half of a test's time at the most.
    expect: { poll: { timeout: 90_000, interval: 20 } },
    pool: "forks",
    // Much of a test of daemons is waiting, and some other test can have the core meanwhile.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: { name: "pure", include: PURE, exclude: [...LONG, ...HEAVY, ...REPLACING], isolate: false },
      },
      { extends: true, test: { name: "replacing", include: REPLACING } },
      {
        extends: true,
        test: { name: "host", include: HOST, exclude: [...PURE, ...LONG, ...HEAVY], globalSetup: PROGRAMS },
      },
      {
        extends: true,
        test: { name: "long-wide", include: HEAVY, globalSetup: PROGRAMS, testTimeout: HEAVY_BOUND_MS },
      },
      {
        extends: true,
        // One after the other: they load the machine as much as it bears, and ask whether starts are in time.
        test: {
          name: "long",
          include: LONG,
          exclude: HEAVY,
          globalSetup: PROGRAMS,
          testTimeout: HEAVY_BOUND_MS,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
    // A test that needs what this machine lacks says so in its name when it skips.
    reporters: process.env["CI"] ? ["default", "json"] : ["default"],
    outputFile: { json: "node_modules/.cache/vitest-report.json" },
  },
});
