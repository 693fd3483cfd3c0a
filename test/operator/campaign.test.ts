/**
 * Two operators that are both active all the time, crashes between any two requests, requests that take a minute, watches
 * that lag, API servers that restart, users who delete Jobs: no period runs twice, none runs off the record, early or
 * late, and each up to now has its outcome or is told as not evaluated. Over the double and its fast clock; real
 * processes and real clusters: campaign-processes.test.ts.
 */
import { afterEach, describe, expect, test } from "vitest";
import { SplitMix64 } from "../../src/core/decision/prng.js";
import type { KronJob } from "../../src/operator/kube/types.js";
import { type Crew, campaign } from "../support/kube/campaign.js";
import { TestCluster } from "../support/kube/cluster.js";
import type { Begun } from "../support/kube/kubelet.js";
import { type Evidence, type Findings, findingsOf } from "../support/kube/ledger.js";
import { kronJob } from "./support/samples.js";

const SECONDS = Number(process.env["KRON_TEST_CAMPAIGN_SECONDS"] ?? 14);
const SEED = process.env["KRON_TEST_SEED"] ?? "00000000c0ffee00";
let cluster: TestCluster | null = null;

afterEach(async () => {
  await cluster?.close();
  cluster = null;
});

async function crewOf(it: TestCluster, chance: (share: number) => boolean): Promise<Crew> {
  const slots = [await it.operator(), await it.operator()];
  const disturb = async (): Promise<string> => {
    const place = chance(0.5) ? 0 : 1;
    slots[place]?.operator.abort();
    slots[place] = await it.operator();
    return "deaths";
  };
  const settle = async (): Promise<void> => {
    const { server } = it;
    if (server === null) return;
    server.faultOf = () => null;
    server.watchLagMs = () => 0;
  };
  const stop = async (): Promise<void> => {
    for (const { operator } of slots) await operator.stop();
  };
  return { disturb, settle, stop };
}

test("0 duplicates, nothing off the record, early or late, every period up to now accounted for", {
  timeout: (SECONDS + 90) * 1000,
}, async () => {
  const it = await TestCluster.openDouble();
  cluster = it;
  const random = new SplitMix64(SEED);
  const chance = (share: number): boolean => random.nextUnit() < share;
  const crew = await crewOf(it, chance);
  const { server } = it;
  if (server === null) throw new Error("not the double");
  server.watchLagMs = () => (chance(0.3) ? random.nextUnit() * 60 : 0);
  let isReplacing = false;
  server.faultOf = ({ verb, resource }) => {
    if (resource.name === "pods" || verb === "watch" || verb === "list") return null;
    // Between any two requests a leader may die; another one comes up in its place.
    if (chance(0.01) && !isReplacing) {
      isReplacing = true;
      void crew.disturb().finally(() => {
        isReplacing = false;
      });
    }
    if (chance(0.02)) return { kind: "reset", when: chance(0.5) ? "after" : "before" };
    // A minute of the clock that the operators go by: one of them is frozen in the middle of what it does.
    if (chance(0.01)) return { kind: "delay", ms: random.nextUnit() * 1_500 };
    return chance(0.01) ? { kind: "status", status: 500, reason: "InternalError" } : null;
  };
  const windowOf = (n: number) => (n % 4 === 1 ? { mode: "around", duration: "30s" } : null);
  const shares = { disturbances: 0.05, restarts: 0.08, deletions: 0.3 };
  const told = await campaign(it, crew, { random, kronJobs: 8, seconds: SECONDS, stepMs: 150, windowOf, ...shares });
  if (SECONDS > 60) console.log(`${told}, seed ${SEED}`);
});

describe("the judge of a campaign can tell", () => {
  const claim = (minute: number, uid: string, claimedAt = minute) => ({
    uid,
    name: `report-${uid}`,
    periodID: `2026-03-01T00:0${minute}:00Z`,
    chosenTime: `2026-03-01T00:0${minute}:00Z`,
    startedAt: `2026-03-01T00:0${claimedAt}:00Z`,
    startBy: `2026-03-01T00:0${claimedAt + 1}:00Z`,
  });
  const version = (minute: number, uid: string, more: NonNullable<KronJob["status"]> = {}): KronJob => ({
    ...kronJob({ schedule: "* * * * *", policy: { concurrency: "replace", deadline: "0s" } }),
    status: {
      lastPeriodID: `2026-03-01T00:0${minute}:00Z`,
      lastOutcome: "executed",
      active: [claim(minute, uid)],
      ...more,
    },
  });
  const pod = (minute: number, jobUid: string, second = 0, endedSecond = 30): Begun => {
    const at = Date.UTC(2026, 2, 1, 0, minute, second);
    const periodId = `2026-03-01T00:0${minute}:00Z`;
    const endedAt = Date.UTC(2026, 2, 1, 0, minute, endedSecond);
    return {
      namespace: "team",
      kronJob: "report",
      periodId,
      job: `report-${jobUid}`,
      jobUid,
      podUid: `pod-${jobUid}`,
      at,
      endedAt,
    };
  };
  const fine: Evidence = {
    versions: [version(2, "a"), version(3, "b"), version(4, "c")],
    begun: [pod(2, "a"), pod(3, "b"), pod(4, "c")],
    deletedUids: new Set(),
    endedAt: Date.UTC(2026, 2, 1, 0, 9, 30),
  };
  const rows: readonly (readonly [string, Partial<Evidence>, Partial<Findings>])[] = [
    ["nothing, where nothing is", {}, {}],
    [
      "one that stalls after its first period",
      { versions: [version(2, "a")], begun: [pod(2, "a")] },
      {
        silent: ["report 2026-03-01T00:03:00Z", "report 2026-03-01T00:04:00Z"],
      },
    ],
    [
      "a period that is passed over without a word, as soon as a later one has its outcome",
      {
        versions: [version(2, "a"), version(4, "c")],
        begun: [pod(2, "a"), pod(4, "c")],
        endedAt: Date.UTC(2026, 2, 1, 0, 5, 0),
      },
      { silent: ["report 2026-03-01T00:03:00Z"] },
    ],
    [
      "a period that ran twice",
      { versions: [...fine.versions, version(4, "d")], begun: [...fine.begun, pod(4, "d", 40, 50)] },
      { twice: ["report 2026-03-01T00:04:00Z"] },
    ],
    ["a Job that had two pods", { begun: [...fine.begun, pod(4, "c", 40, 50)] }, {}],
    [
      "a Job that had a pod more beside the next one",
      { begun: [...fine.begun, { ...pod(3, "b", 40, 90), podUid: "more" }] },
      {},
    ],
    [
      "a pod that outlives its Job, right after a restart of the API server",
      {
        begun: [pod(2, "a"), pod(3, "b", 0, 70), pod(4, "c")],
        restartsAt: [Date.UTC(2026, 2, 1, 0, 2, 50)],
      },
      {},
    ],
    ["a pod of a Job that nobody claimed", { begun: [...fine.begun, pod(5, "x")] }, { unclaimed: ["x"] }],
    [
      "an outcome that changed",
      { versions: [...fine.versions, version(4, "c", { lastOutcome: "missed" })] },
      {
        changed: ["report 2026-03-01T00:04:00Z"],
      },
    ],
    [
      "executed, and no pod began, and no reason",
      {
        begun: fine.begun.slice(1),
        versions: [
          ...fine.versions,
          version(4, "c", {
            history: [
              {
                periodID: "2026-03-01T00:02:00Z",
                outcome: "executed",
                completedAt: "",
                result: "Unknown",
                job: "report-a",
              },
            ],
          }),
        ],
      },
      { neverRan: ["report 2026-03-01T00:02:00Z"] },
    ],
    [
      "a pod before its second",
      { begun: [...fine.begun.slice(0, 2), { ...pod(4, "c"), at: Date.UTC(2026, 2, 1, 0, 3, 59) }] },
      {
        early: ["report 2026-03-01T00:04:00Z"],
      },
    ],
    [
      "a claim long after its second",
      { versions: [...fine.versions, version(4, "c", { active: [claim(4, "c", 8)] })] },
      {
        late: ["report-c"],
      },
    ],
    [
      "a pod that begins before the one that it replaces has gone",
      { begun: [pod(2, "a"), pod(3, "b", 0, 99), pod(4, "c")] },
      {
        overlaps: ["report 2026-03-01T00:04:00Z"],
      },
    ],
    [
      "a pod that outlives the Job that a user has deleted is no fault of ours",
      { begun: [pod(2, "a"), pod(3, "b", 0, 99), pod(4, "c")], deletedUids: new Set([pod(3, "b").jobUid]) },
      {},
    ],
  ];

  test.each(rows)("%s", (_name, more, found) => {
    const nothing = {
      twice: [],
      unclaimed: [],
      changed: [],
      silent: [],
      neverRan: [],
      early: [],
      late: [],
      overlaps: [],
    };
    expect(findingsOf({ ...fine, ...more })).toEqual({ ...nothing, ...found });
  });
});
