import { describe, expect, test } from "vitest";
import {
  judgeClock,
  judgeHost,
  judgePlace,
  judgeServer,
  judgeSpawn,
  judgeSync,
  judgeTimers,
} from "../../../src/krond/doctor/judge.js";
import { sampleOf } from "../../../src/krond/doctor/model.js";

const sample = (p50: number, p99 = p50) => ({ p50, p99, max: p99 });
const place = { directory: "/var/lib/krond", freeBytes: 50e9, totalBytes: 100e9, fileSystem: "ext4" };
const clock = { driftMs: 0, watchedMs: 1_000, isSynchronised: true, source: "tsc" };
const server = { version: "18.4", isSynced: true, answersMs: [0.1], commitsMs: [2, 3] };
const host = { node: "20.20.2", cores: 4, zoneData: "2026c", openFiles: 524_288, missing: [], isRoot: true };

describe("what the figures of a machine mean", () => {
  test.each([
    ["a disk", judgeSync(sample(1)), "ok", /1 ms .*20000 starts a second/],
    ["a busy disk", judgeSync(sample(20, 200)), "warn", /p99 200 ms/],
    ["a disk that confirms what it cannot have done", judgeSync(sample(0.01)), "warn", /faster than a disk can be/],
    ["a server", judgeServer(server), "ok", /PostgreSQL 18.4 answers in 0.1 ms; something kept takes 3 ms/],
    ["a server far away", judgeServer({ ...server, commitsMs: [80] }), "warn", /takes 80 ms/],
    ["a server that forgets", judgeServer({ ...server, isSynced: false }), "bad", /does not wait for its disk/],
    [
      "quick starts",
      judgeSpawn({ count: 200, armedMs: 200, releasedMs: 100 }),
      "ok",
      /1000 processes .*2000 started.*0.5 s/,
    ],
    ["slow starts", judgeSpawn({ count: 200, armedMs: 200, releasedMs: 4_000 }), "warn", /50 started; .* 20 s/],
    ["timers", judgeTimers(sample(0.2, 3)), "ok", /0.2 ms late/],
    ["late timers", judgeTimers(sample(5, 60)), "warn", /p99 60 ms/],
    ["a machine that is stopped now and then", judgeTimers(sample(5, 800)), "bad", /p99 800 ms/],
    ["a clock", judgeClock(clock), "ok", /source tsc.*synchronised/],
    ["S6: a clock that is set", judgeClock({ ...clock, driftMs: -3_000 }), "bad", /moved by -3000 ms/],
    ["a clock on its own", judgeClock({ ...clock, isSynchronised: false }), "warn", /not synchronised/],
    ["nobody knows", judgeClock({ ...clock, isSynchronised: null, source: null }), "unknown", /cannot be told/],
    ["room", judgePlace(place), "ok", /ext4, 47700 MB free/],
    ["little room", judgePlace({ ...place, freeBytes: 200e6 }), "warn", /191 MB free/],
    ["no room", judgePlace({ ...place, freeBytes: 1e6 }), "bad", /0.954 MB free/],
    ["state in memory", judgePlace({ ...place, fileSystem: "tmpfs" }), "bad", /lost when the machine restarts/],
    ["state elsewhere", judgePlace({ ...place, fileSystem: "nfs" }), "bad", /on nfs/],
    ["a host", judgeHost(host), "ok", /4 cores/],
    ["few descriptors", judgeHost({ ...host, openFiles: 1_024 }), "warn", /1024 open files/],
    ["a bare image", judgeHost({ ...host, missing: ["flock"] }), "bad", /not found: flock/],
  ])("%s", (_name, finding, verdict, message) => {
    expect([finding.verdict, finding.message]).toEqual([verdict, expect.stringMatching(message)]);
    // Whoever is warned is told what to do.
    expect(finding.advice !== null).toBe(verdict === "warn" || verdict === "bad");
  });

  test("percentiles of few and of no values", () => {
    expect([sampleOf([3, 1, 2]), sampleOf([])]).toEqual([
      { p50: 2, p99: 3, max: 3 },
      { p50: 0, p99: 0, max: 0 },
    ]);
  });
});
