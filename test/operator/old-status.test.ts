/** What version 0.1.0 has written goes on being read: a KronJob at rest is left as it is, and what was claimed comes to its end. */
import { expect, test } from "vitest";
import { jobNameOf } from "../../src/operator/identity.js";
import type { KronJobStatus } from "../../src/operator/kube/types.js";
import { Leader } from "./support/drive.js";
import { kronJob } from "./support/samples.js";

const SPEC = { schedule: "0 * * * *", policy: { concurrency: "allow", deadline: "30s" } } as const;
const [FIRST, SECOND] = ["2026-03-01T01:00:00Z", "2026-03-01T02:00:00Z"];
const NAME = jobNameOf(kronJob(SPEC), null, FIRST);

const RESTING: KronJobStatus = {
  definedAt: "2026-03-01T00:00:30Z",
  definitionHash: "906fa2e945b7bdeed8fd5c2f32349c62cbb9285718ebef8084f8cffcac3c32b2",
  observedGeneration: 1,
  window: "0s",
  suspended: false,
  activeCount: 0,
  conditions: [
    {
      type: "Ready",
      status: "True",
      reason: "Scheduled",
      message: "next run at 2026-03-01T03:00:00Z",
      lastTransitionTime: "2026-03-01T00:10:00Z",
      observedGeneration: 1,
    },
  ],
  lastPeriodID: SECOND,
  lastNominalTime: SECOND,
  lastChosenTime: SECOND,
  lastOutcome: "missed",
  lastReason: "deadline",
  lastSeedHash: "70c87dc2885a1e367a735d1f3fa31581d2cc871c0cdcb16c61a49456230c630a",
  lastStartTime: FIRST,
  lastSuccessfulTime: "2026-03-01T00:05:30Z",
  history: [{ periodID: SECOND, outcome: "missed", reason: "deadline", completedAt: "2026-03-01T02:01:00Z" }],
  nextPeriodID: "2026-03-01T03:00:00Z",
  nextNominalTime: "2026-03-01T03:00:00Z",
  nextWindowStart: "2026-03-01T03:00:00Z",
  nextChosenTime: "2026-03-01T03:00:00Z",
};

function leaderWith(status: KronJobStatus): Leader {
  return new Leader({ ...kronJob(SPEC), status });
}

test("at rest: nothing is written, and the next period runs", () => {
  const one = leaderWith(RESTING);
  expect(one.look("2026-03-01T02:30:00Z")).toEqual([]);
  one.runUntil("2026-03-01T03:00:01Z");
  expect(one.status).toMatchObject({ lastPeriodID: "2026-03-01T03:00:00Z", lastOutcome: "executed" });
  expect(one.status.notEvaluated).toBeUndefined();
});

const CLAIMED: KronJobStatus = {
  ...RESTING,
  lastPeriodID: FIRST,
  lastNominalTime: FIRST,
  lastChosenTime: FIRST,
  lastOutcome: "executed",
  activeCount: 1,
  active: [
    { uid: "job-1", name: NAME, periodID: FIRST, chosenTime: FIRST, startedAt: FIRST, startBy: "2026-03-01T01:01:30Z" },
  ],
};

/** With the Job that was claimed, as it was made: suspended. */
function claimed(): Leader {
  const made = new Leader(kronJob(SPEC));
  made.look("2026-03-01T00:10:00Z");
  made.look("2026-03-01T00:59:56Z");
  const one = leaderWith(CLAIMED);
  one.state = { ...one.state, jobs: made.state.jobs };
  return one;
}

test("claimed, and its leader died before GO: it is released until its bound, and its end is recorded", () => {
  const one = claimed();
  expect(one.look("2026-03-01T01:00:20Z")).toContain("go");
  expect(one.state.ran[FIRST]).toEqual(["job-1"]);
  one.finish(NAME);
  one.look("2026-03-01T01:10:00Z");
  expect(one.status.history?.at(-1)).toMatchObject({ periodID: FIRST, result: "Succeeded", job: NAME });
  expect(one.status.active).toBeUndefined();
});

test("claimed, and found after its bound: it never runs", () => {
  const one = claimed();
  one.look("2026-03-01T01:01:32Z");
  expect(one.jobNames).toEqual([]);
  expect(one.status.history?.at(-1)).toMatchObject({ result: "NotStarted", reason: "aborted_late" });
});

test("paused by its annotation alone, as it was: the pause is put on record, and kept", () => {
  const one = leaderWith(RESTING);
  one.edit((it) => ({
    ...it,
    metadata: { ...it.metadata, annotations: { "kron.io/pause-until": "2026-03-01T04:30:00Z" } },
  }));
  one.look("2026-03-01T02:30:00Z");
  expect(one.status.pause).toEqual({ until: "2026-03-01T04:30:00Z", reason: "" });
  one.runUntil("2026-03-01T04:45:00Z");
  expect(one.status.lastPeriodID).toBe(SECOND);
  expect(one.status.notEvaluated).toMatchObject({ count: 2, reason: "paused" });
});
