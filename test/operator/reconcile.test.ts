import { describe, expect, test } from "vitest";
import { decide } from "../../src/core/decision/decide.js";
import { readKronJob } from "../../src/operator/definition.js";
import { Leader } from "./support/drive.js";
import { at, kronJob } from "./support/samples.js";

const HOURLY = { schedule: "0 * * * *", policy: { concurrency: "forbid", deadline: "30s" } } as const;

function leader(spec: Parameters<typeof kronJob>[0] = HOURLY, options?: Parameters<typeof kronJob>[1]): Leader {
  return new Leader(kronJob(spec, options));
}

describe("a run, step by step", () => {
  test("READY ahead of its second, the claim in it, GO after it; then it rests until the next period", () => {
    const one = leader();
    expect(one.look("2026-03-01T00:10:00Z")).toEqual(["checkTemplate", "writeStatus"]);
    expect(one.status.nextChosenTime).toBe("2026-03-01T01:00:00Z");
    expect(one.lookAgainAt).toBe(at("2026-03-01T00:59:55Z"));
    expect(one.look("2026-03-01T00:59:55Z")).toEqual(["createGate"]);
    const [name = ""] = one.jobNames;
    expect(one.state.jobs[name]?.spec.suspend).toBe(true);
    expect(one.look("2026-03-01T00:59:58Z")).toEqual([]);
    expect(one.look("2026-03-01T01:00:00.030Z")).toEqual(["writeStatus", "go"]);
    expect(one.state.jobs[name]?.spec.suspend).toBe(false);
    expect(one.status).toMatchObject({
      lastPeriodID: "2026-03-01T01:00:00Z",
      lastOutcome: "executed",
      activeCount: 1,
      nextPeriodID: "2026-03-01T02:00:00Z",
      active: [{ name, periodID: "2026-03-01T01:00:00Z", startBy: "2026-03-01T01:01:30Z" }],
    });
    expect(one.look("2026-03-01T01:00:10Z")).toEqual([]);
    one.finish(name);
    expect(one.look("2026-03-01T01:01:00Z")).toEqual(["writeStatus"]);
    expect(one.status.active).toBeUndefined();
    expect(one.status.history).toMatchObject([{ outcome: "executed", result: "Succeeded", job: name }]);
    expect(one.look("2026-03-01T01:02:00Z")).toEqual([]);
    expect(one.news.map(({ kind }) => kind)).toEqual(["outcome", "started", "ended"]);
  });

  test("the chosen second is the one that decide gives for the identity namespace/name/uid", () => {
    const sample = kronJob({ ...HOURLY, window: { mode: "after", duration: "45m" } });
    const read = readKronJob(sample);
    if (!read.ok) throw new Error("cannot be read");
    expect(read.value.compiled.rule.identity).toBe("team/report/uid-1");
    const decision = decide(read.value.compiled, at("2026-03-01T01:00:00Z"));
    const one = new Leader(sample);
    one.look("2026-03-01T00:59:00Z");
    one.runUntil("2026-03-01T01:50:00Z");
    expect(at(one.status.lastChosenTime ?? "")).toBe(decision.chosenAt);
    expect(one.status.lastSeedHash).toBe(decision.seedHash);
  });

  test("a Job that was deleted while it ran: its end was not seen, and nothing runs twice", () => {
    const one = leader();
    one.look("2026-03-01T00:10:00Z");
    one.look("2026-03-01T01:00:00Z");
    one.state = { ...one.state, jobs: {} };
    one.look("2026-03-01T01:00:05Z");
    expect(one.status.history).toMatchObject([{ result: "Unknown", reason: "exit_unseen" }]);
    one.runUntil("2026-03-01T01:30:00Z");
    expect(one.jobNames).toEqual([]);
    expect(one.told("outcome")).toHaveLength(1);
  });

  test("claimed, and past the second that bounds GO: never released, and recorded as aborted (S20)", () => {
    const one = leader();
    one.look("2026-03-01T00:10:00Z");
    one.interfere = ({ type }) => (type === "go" ? { kind: "conflict" } : null);
    one.look("2026-03-01T01:00:00Z");
    one.interfere = () => null;
    one.look("2026-03-01T01:01:31Z");
    expect(one.jobNames).toEqual([]);
    expect(one.status.history).toMatchObject([{ result: "NotStarted", reason: "aborted_late" }]);
  });
});

describe("policy", () => {
  test("a period that is found too late is missed, and so it is with deadline 0s in the second after (S20)", () => {
    const one = leader({ schedule: "0 * * * *" });
    one.look("2026-03-01T00:10:00Z");
    one.look("2026-03-01T01:00:01Z");
    expect(one.status).toMatchObject({ lastOutcome: "missed", lastReason: "stalled" });
    expect(one.jobNames).toEqual([]);
  });

  test("lateness is judged by the tick that found the period due, not by when its turn came (S2)", () => {
    const one = leader({ schedule: "0 * * * *" });
    one.look("2026-03-01T00:10:00Z");
    one.memory = { ...one.memory, judgedAt: at("2026-03-01T01:00:00.020Z") };
    one.look("2026-03-01T01:00:03Z");
    expect(one.status.lastOutcome).toBe("executed");
  });

  test("forbid: skipped while one is active", () => {
    const one = leader();
    one.look("2026-03-01T00:10:00Z");
    one.runUntil("2026-03-01T02:00:10Z");
    expect(one.status).toMatchObject({ lastOutcome: "skipped", lastReason: "concurrency_forbid", activeCount: 1 });
    expect(one.jobNames).toHaveLength(1);
  });

  test("allow: several are active, the newest last; maxActive bounds them", () => {
    const one = leader({ schedule: "0 * * * *", policy: { concurrency: "allow", deadline: "30s", maxActive: 2 } });
    one.look("2026-03-01T00:10:00Z");
    one.runUntil("2026-03-01T03:00:10Z");
    expect(one.status.active?.map(({ periodID }) => periodID)).toEqual([
      "2026-03-01T01:00:00Z",
      "2026-03-01T02:00:00Z",
    ]);
    expect(one.status).toMatchObject({ lastOutcome: "skipped", lastReason: "too_many_active" });
  });

  test("replace: the victim goes with its pods first, nothing starts beside it (S25)", () => {
    const one = leader({ schedule: "0 * * * *", policy: { concurrency: "replace", deadline: "5s" } });
    one.look("2026-03-01T00:10:00Z");
    one.runUntil("2026-03-01T01:00:10Z");
    const [victim = ""] = one.jobNames;
    const victimJob = one.state.jobs[victim];
    one.look("2026-03-01T01:59:56Z");
    // Its pods take their time.
    one.interfere = (effect) => (effect.type === "deleteJob" ? { kind: "done" } : null);
    one.look("2026-03-01T02:00:00Z");
    expect(one.status.lastPeriodID).toBe("2026-03-01T01:00:00Z");
    one.interfere = () => null;
    if (victimJob === undefined) throw new Error("no victim");
    const deleting = { ...victimJob, metadata: { ...victimJob.metadata, deletionTimestamp: "2026-03-01T02:00:00Z" } };
    one.state = {
      ...one.state,
      jobs: { ...one.state.jobs, [victim]: { ...deleting, spec: { ...deleting.spec, suspend: false } } },
    };
    one.look("2026-03-01T02:00:20Z");
    expect(one.status.lastPeriodID).toBe("2026-03-01T01:00:00Z");
    const { [victim]: _, ...rest } = one.state.jobs;
    one.state = { ...one.state, jobs: rest };
    one.look("2026-03-01T02:00:25Z");
    expect(one.status).toMatchObject({ lastPeriodID: "2026-03-01T02:00:00Z", lastOutcome: "executed" });
    expect(one.status.history).toMatchObject([{ periodID: "2026-03-01T01:00:00Z", reason: "replaced" }]);
  });

  test("replace: a victim that does not go is an error, and the period is missed in the end", () => {
    const one = leader({ schedule: "0 * * * *", policy: { concurrency: "replace", deadline: "5s" } });
    one.look("2026-03-01T00:10:00Z");
    one.runUntil("2026-03-01T01:00:10Z");
    one.interfere = (effect) => (effect.type === "deleteJob" ? { kind: "done" } : null);
    one.runUntil("2026-03-01T02:03:00Z");
    expect(one.told("replace_failed")).toHaveLength(1);
    expect(one.status).toMatchObject({ lastPeriodID: "2026-03-01T02:00:00Z", lastOutcome: "missed" });
  });

  test("replace: a victim that goes after all, long after its bound: the period runs, within its own", () => {
    const one = leader({ schedule: "0 * * * *", policy: { concurrency: "replace", deadline: "20m" } });
    one.look("2026-03-01T00:10:00Z");
    one.runUntil("2026-03-01T01:00:10Z");
    const [victim = ""] = one.jobNames;
    one.interfere = (effect) => (effect.type === "deleteJob" ? { kind: "done" } : null);
    one.runUntil("2026-03-01T02:00:00Z");
    // Given up, and not yet asked again.
    for (let looks = 0; one.told("replace_failed").length < 3 && looks < 1_000; looks++) {
      one.look(new Date(one.lookAgainAt ?? Number.NaN).toISOString());
    }
    expect(one.status.lastPeriodID).toBe("2026-03-01T01:00:00Z");
    const { [victim]: _, ...rest } = one.state.jobs;
    one.state = { ...one.state, jobs: rest };
    one.runUntil("2026-03-01T02:07:00Z");
    expect(one.status).toMatchObject({ lastPeriodID: "2026-03-01T02:00:00Z", lastOutcome: "executed" });
    expect(one.status.history).toMatchObject([{ periodID: "2026-03-01T01:00:00Z", reason: "replaced" }]);
  });

  test("replace: of two that are due at once the older makes way before it begins", () => {
    const one = leader({ schedule: "* * * * *", policy: { concurrency: "replace", deadline: "5m" } });
    one.look("2026-03-01T00:00:50Z");
    one.look("2026-03-01T00:00:57Z");
    one.look("2026-03-01T00:02:00Z");
    one.runUntil("2026-03-01T00:02:20Z");
    expect(Object.keys(one.state.ran)).toEqual(["2026-03-01T00:02:00Z"]);
    expect(one.status).toMatchObject({ lastPeriodID: "2026-03-01T00:02:00Z", lastOutcome: "executed", activeCount: 1 });
    expect(one.status.history).toMatchObject([{ periodID: "2026-03-01T00:01:00Z", result: "NotStarted" }]);
    expect(one.jobNames).toHaveLength(1);
  });

  test("suspended: nothing runs, nothing is handled; resumed, only the current period counts (S13, S17)", () => {
    const one = leader();
    one.look("2026-03-01T00:10:00Z");
    one.edit((it) => ({ ...it, spec: { ...it.spec, suspend: true } }));
    one.runUntil("2026-03-01T05:10:00Z");
    expect(one.status.lastPeriodID).toBeUndefined();
    expect(one.status.nextPeriodID).toBeUndefined();
    expect(one.jobNames).toEqual([]);
    one.edit((it) => ({ ...it, spec: { ...it.spec, suspend: false } }));
    one.look("2026-03-01T05:20:00Z");
    expect(one.status).toMatchObject({ lastPeriodID: "2026-03-01T05:00:00Z", lastOutcome: "missed" });
    expect(one.status.notEvaluated).toMatchObject({ count: 4, firstPeriodID: "2026-03-01T01:00:00Z" });
    expect(one.news.map(({ kind }) => kind)).toEqual(["suspended", "not_evaluated", "outcome", "resumed"]);
  });

  test("paused by annotation: it ends by itself", () => {
    const one = leader(HOURLY, { annotations: { "kron.io/pause-until": "2026-03-01T02:30:00Z" } });
    one.look("2026-03-01T00:10:00Z");
    expect(one.status.conditions).toMatchObject([{ type: "Ready", status: "False", reason: "Paused" }]);
    one.runUntil("2026-03-01T02:20:00Z");
    expect(one.status.lastPeriodID).toBeUndefined();
    one.runUntil("2026-03-01T03:00:10Z");
    expect(one.status).toMatchObject({ lastPeriodID: "2026-03-01T03:00:00Z", lastOutcome: "executed" });
  });

  test("unschedulable when the window opens, not before (S15)", () => {
    const one = leader({ ...HOURLY, constraints: { only: ["hours=5"] } });
    one.look("2026-03-01T00:10:00Z");
    expect(one.status.lastOutcome).toBeUndefined();
    one.look("2026-03-01T01:00:00Z");
    expect(one.status).toMatchObject({ lastOutcome: "unschedulable" });
    expect(one.status.conditions).toContainEqual(
      expect.objectContaining({ type: "Unschedulable", status: "True", reason: "NoCandidate" }),
    );
  });
});

describe("what changes under way", () => {
  test("S14: a KronJob stands since its creation; what lies before it is never run", () => {
    const one = leader({ schedule: "0 0 * * *", policy: { deadline: "8784h" } }, { createdAt: "2026-03-01T00:00:01Z" });
    one.look("2026-03-01T00:10:00Z");
    expect(one.status.lastPeriodID).toBeUndefined();
    expect(one.status.nextPeriodID).toBe("2026-03-02T00:00:00Z");
  });

  test("S14: an edit inside the window does not turn the live period into the past", () => {
    const spec = {
      schedule: "0 0 * * *",
      window: { mode: "after", duration: "12h" },
      policy: { concurrency: "allow", deadline: "12h" },
    } as const;
    const one = leader(spec, { createdAt: "2026-02-01T00:00:00Z" });
    one.look("2026-02-28T12:10:00Z");
    const chosen = at(one.status.nextChosenTime ?? "");
    const before = new Date(chosen - 60_000).toISOString();
    one.look(before);
    one.edit((it) => ({ ...it, spec: { ...it.spec, window: { mode: "after", duration: "0s" } } }));
    one.look(before);
    expect(one.status).toMatchObject({ lastPeriodID: "2026-03-01T00:00:00Z", lastOutcome: "executed" });
  });

  test("S16: an edit that another leader has told the machines of is one for every leader", () => {
    const [one, other] = [leader(), leader()];
    const share = (from: Leader, to: Leader, time: string): void => {
      to.state = from.state;
      to.look(time);
    };
    one.look("2026-03-01T00:10:00Z");
    share(one, other, "2026-03-01T00:10:01Z");
    one.edit((it) => ({ ...it, spec: { ...it.spec, schedule: "30 * * * *" } }));
    one.look("2026-03-01T00:20:00Z");
    share(one, other, "2026-03-01T00:20:01Z");
    other.runUntil("2026-03-01T01:10:00Z");
    expect(Object.keys(other.state.ran)).toEqual(["2026-03-01T00:30:00Z"]);
    share(other, one, "2026-03-01T01:10:01Z");
    other.edit((it) => ({ ...it, spec: { ...it.spec, suspend: true } }));
    other.look("2026-03-01T01:20:00Z");
    share(other, one, "2026-03-01T01:30:00Z");
    expect(one.lookAgainAt === null || one.lookAgainAt > at("2026-03-01T01:30:00Z")).toBe(true);
  });

  test("S14: an edit never fires a period that was not live before", () => {
    const one = leader({ schedule: "0 23 * * *", policy: { deadline: "12h" } });
    one.look("2026-03-01T00:10:00Z");
    one.edit((it) => ({ ...it, spec: { ...it.spec, schedule: "0 1 * * *" } }));
    one.look("2026-03-01T05:00:00Z");
    expect(one.status.lastPeriodID).toBeUndefined();
    expect(one.status.nextPeriodID).toBe("2026-03-02T01:00:00Z");
  });

  test("S14: a spec that takes the place of one that could not be read never fires what lies before it", () => {
    const one = leader({ schedule: "nonsense", policy: { deadline: "12h" } });
    one.look("2026-03-01T00:10:00Z");
    one.edit((it) => ({ ...it, spec: { ...it.spec, schedule: "0 4 * * *" } }));
    one.look("2026-03-01T05:00:00Z");
    expect(one.status.lastPeriodID).toBeUndefined();
    expect(one.status.nextPeriodID).toBe("2026-03-02T04:00:00Z");
  });

  test("a gate that was made from another spec is made anew", () => {
    const one = leader();
    one.look("2026-03-01T00:10:00Z");
    one.look("2026-03-01T00:59:57Z");
    const image = (): unknown => Object.values(one.state.jobs)[0]?.spec.template.spec["containers"];
    one.edit((it) => ({
      ...it,
      spec: { ...it.spec, jobTemplate: { spec: { template: { spec: { containers: ["another"] } } } } },
    }));
    one.look("2026-03-01T01:00:00Z");
    expect(one.status.lastOutcome).toBe("executed");
    expect(image()).toEqual(["another"]);
  });

  test("clock back: what is handled stays handled; clock ahead: only the current period (S12, S13)", () => {
    const one = leader();
    one.look("2026-03-01T00:10:00Z");
    one.runUntil("2026-03-01T01:00:00Z");
    for (const name of one.jobNames) one.finish(name);
    one.runUntil("2026-03-01T00:30:00Z");
    one.runUntil("2026-03-01T01:00:05Z");
    expect(one.told("outcome")).toHaveLength(1);
    one.look("2026-03-01T09:00:10Z");
    expect(one.status).toMatchObject({ lastPeriodID: "2026-03-01T09:00:00Z", lastOutcome: "executed" });
    expect(one.status.notEvaluated).toMatchObject({ count: 7, lastPeriodID: "2026-03-01T08:00:00Z" });
  });

  test("being deleted: nothing is done any more", () => {
    const one = leader();
    one.look("2026-03-01T00:10:00Z");
    one.edit((it) => ({ ...it, metadata: { ...it.metadata, deletionTimestamp: "2026-03-01T00:30:00Z" } }));
    expect(one.look("2026-03-01T01:00:00Z")).toEqual([]);
  });
});

describe("trouble", () => {
  test("an invalid spec is told with lint's words and its place, once a generation; nothing is decided", () => {
    const one = leader({ schedule: "0 * * * *", window: { duration: "2h" }, distribution: { params: { shape: -1 } } });
    one.look("2026-03-01T00:10:00Z");
    const message =
      "spec.window.duration: window 2h exceeds the smallest gap between periods, 1h; " +
      'spec.distribution.params.shape: unknown parameter "shape" of the distribution';
    expect(one.status.conditions).toMatchObject([
      { type: "Ready", status: "False", reason: "InvalidSpec" },
      { type: "InvalidSpec", status: "True" },
    ]);
    for (const part of message.split("; ")) expect(one.status.conditions?.[0]?.message).toContain(part.slice(0, 60));
    one.look("2026-03-01T01:00:00Z");
    expect(one.told("invalid")).toHaveLength(1);
    expect(one.jobNames).toEqual([]);
    one.edit((it) => ({ ...it, spec: { ...it.spec, window: { duration: "10m" }, distribution: {} } }));
    one.look("2026-03-01T01:30:00Z");
    expect(one.status.conditions).toMatchObject([
      { type: "Ready", status: "True" },
      { type: "InvalidSpec", status: "False" },
    ]);
  });

  test("S24: a Job that is refused is tried again until the deadline, then missed with the reason", () => {
    const one = leader();
    one.look("2026-03-01T00:10:00Z");
    one.interfere = (effect) =>
      effect.type === "createGate" ? { kind: "refused", code: "job-quota", message: "exceeded quota: pods" } : null;
    one.runUntil("2026-03-01T01:00:10Z");
    expect(one.status.lastPeriodID).toBeUndefined();
    expect(one.status.conditions).toContainEqual(
      expect.objectContaining({ type: "SchedulingError", status: "True", reason: "QuotaExceeded" }),
    );
    one.runUntil("2026-03-01T01:00:35Z");
    expect(one.status).toMatchObject({ lastOutcome: "missed", lastReason: "not_started:job-quota" });
    one.interfere = () => null;
    one.runUntil("2026-03-01T02:00:10Z");
    expect(one.status.lastOutcome).toBe("executed");
    expect(one.status.conditions).toContainEqual(expect.objectContaining({ type: "SchedulingError", status: "False" }));
  });

  test("a Job that is refused ahead of its second is tried again in it, even with deadline 0s", () => {
    const one = leader({ schedule: "0 * * * *" });
    one.look("2026-03-01T00:10:00Z");
    one.interfere = (effect) =>
      effect.type === "createGate" ? { kind: "refused", code: "job-quota", message: "exceeded quota: pods" } : null;
    one.look("2026-03-01T00:59:58Z");
    one.interfere = () => null;
    one.look("2026-03-01T01:00:00.010Z");
    expect(one.status.lastOutcome).toBe("executed");
  });

  test("a Job of the same name that belongs to somebody else is never touched", () => {
    const one = leader();
    one.look("2026-03-01T00:59:56Z");
    const [name = ""] = one.jobNames;
    const job = one.state.jobs[name];
    if (job === undefined) throw new Error("no gate");
    const foreign = { ...job, metadata: { ...job.metadata, uid: "foreign", ownerReferences: [] } };
    one.state = { ...one.state, jobs: { [name]: foreign } };
    one.runUntil("2026-03-01T01:01:00Z");
    expect(one.status).toMatchObject({ lastOutcome: "missed", lastReason: "not_started:job-name-taken" });
    expect(one.state.jobs[name]).toBe(foreign);
  });

  test("a Job of the same name that does not go is waited for, until nothing can be started any more", () => {
    const one = leader();
    one.look("2026-03-01T00:59:56Z");
    const [name = ""] = one.jobNames;
    const job = one.state.jobs[name];
    if (job === undefined) throw new Error("no gate");
    const leaving = { ...job, metadata: { ...job.metadata, deletionTimestamp: "2026-03-01T00:59:57Z" } };
    one.state = { ...one.state, jobs: { [name]: leaving } };
    one.runUntil("2026-03-01T01:01:20Z");
    expect(one.status.lastPeriodID).toBeUndefined();
    one.runUntil("2026-03-01T01:02:00Z");
    expect(one.status).toMatchObject({ lastOutcome: "missed", lastReason: "not_started:job-name-taken" });
    expect(one.state.ran).toEqual({});
  });

  test("a gate that does not hold: nothing is scheduled, and the condition says why", () => {
    const one = leader();
    one.interfere = (effect) =>
      effect.type === "checkTemplate" ? { kind: "job", isSuspended: false, job: null as never } : null;
    one.look("2026-03-01T00:10:00Z");
    one.interfere = () => null;
    one.runUntil("2026-03-01T01:00:10Z");
    expect(one.jobNames).toEqual([]);
    expect(one.status.conditions).toMatchObject([{ type: "Ready", status: "False", reason: "GateBypassed" }]);
  });

  test("a status that the operator never wrote: that KronJob is left alone, and says so (S32)", () => {
    const one = leader();
    one.edit((it) => ({ ...it, status: { lastPeriodID: "yesterday" } }));
    one.look("2026-03-01T01:00:00Z");
    expect(one.jobNames).toEqual([]);
    expect(one.status.conditions).toMatchObject([{ type: "Ready", status: "False", reason: "StatusUnreadable" }, {}]);
  });
});

describe("run now, and tidying up", () => {
  test("S40: an annotation runs it once for each value, whatever the policy says", () => {
    const one = leader({ ...HOURLY, suspend: true });
    one.look("2026-03-01T00:10:00Z");
    const ask = (value: string): void =>
      one.edit((it) => ({ ...it, metadata: { ...it.metadata, annotations: { "kron.io/run": value } } }));
    ask("2026-03-01T00:20:00Z");
    one.look("2026-03-01T00:20:01Z");
    one.look("2026-03-01T00:20:02Z");
    expect(one.jobNames).toHaveLength(1);
    expect(one.status).toMatchObject({
      lastSlot: { manual: "2026-03-01T00:20:00Z" },
      active: [{ source: "manual", periodID: "2026-03-01T00:20:00Z" }],
    });
    expect(one.status.lastPeriodID).toBeUndefined();
    ask("2026-03-01T00:00:00Z");
    one.look("2026-03-01T00:21:00Z");
    ask("soon");
    one.look("2026-03-01T00:22:00Z");
    one.look("2026-03-01T00:23:00Z");
    expect(one.jobNames).toHaveLength(1);
    expect(one.told("run_refused")).toMatchObject([{ why: "it is more than 10 minutes old" }, { value: "soon" }]);
  });

  test("a wish that is old when it is first seen is not granted", () => {
    const one = leader(HOURLY, { annotations: { "kron.io/run": "2026-02-28T00:00:00Z" } });
    one.look("2026-03-01T00:10:00Z");
    expect(one.told("run_refused")).toMatchObject([{ why: "it is more than 10 minutes old" }]);
    expect(one.jobNames).toEqual([]);
  });

  test("history limits drop the oldest ended Jobs; gates that nobody claimed go too", () => {
    const one = leader({ ...HOURLY, successfulJobsHistoryLimit: 2 });
    one.look("2026-03-01T00:10:00Z");
    for (const hour of ["01", "02", "03", "04"]) {
      one.runUntil(`2026-03-01T${hour}:00:05Z`);
      for (const { name } of one.status.active ?? []) one.finish(name);
      one.look(`2026-03-01T${hour}:10:00Z`);
    }
    expect(one.jobNames).toHaveLength(2);
    one.look("2026-03-01T04:59:56Z");
    expect(one.jobNames).toHaveLength(3);
    one.look("2026-03-01T05:01:40Z");
    expect(one.status.lastOutcome).toBe("missed");
    expect(one.jobNames).toHaveLength(2);
  });
});
