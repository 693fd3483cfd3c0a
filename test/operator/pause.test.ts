/** S17, by annotation: what passes in a pause is never run, whoever was there, and says so. */
import { describe, expect, test } from "vitest";
import type { KronJobSpec } from "../../src/operator/kube/types.js";
import { NOTHING_KNOWN } from "../../src/operator/plan/memory.js";
import { storyOf } from "../../src/operator/why.js";
import { Leader } from "./support/drive.js";
import { kronJob } from "./support/samples.js";

/** Late starts are welcome: only the pause is what keeps one from running. */
const PATIENT = { schedule: "0 * * * *", policy: { concurrency: "allow", deadline: "12h" } } as const;

function settled(spec: Partial<KronJobSpec> = PATIENT): Leader {
  const one = new Leader(kronJob(spec));
  one.look("2026-03-01T00:10:00Z");
  return one;
}

function pause(one: Leader, until: string | null, reason = "upgrade"): void {
  const annotations: Record<string, string> =
    until === null ? {} : { "kron.io/pause-until": until, "kron.io/pause-reason": reason };
  one.edit((it) => ({ ...it, metadata: { ...it.metadata, annotations } }));
}

describe("a pause by annotation", () => {
  test("is put on record, shows what runs after it, and ends by itself", () => {
    const one = settled();
    pause(one, "2026-03-01T03:30:00Z");
    one.look("2026-03-01T00:20:00Z");
    expect(one.status.pause).toEqual({
      until: "2026-03-01T03:30:00Z",
      reason: "upgrade",
      since: "2026-03-01T00:20:00Z",
    });
    expect(one.status.nextPeriodID).toBe("2026-03-01T04:00:00Z");
    expect(one.look("2026-03-01T01:00:00Z")).toEqual([]);
    one.runUntil("2026-03-01T03:40:00Z");
    expect(one.status.pause).toBeUndefined();
    expect(one.status.lastPeriodID).toBeUndefined();
    expect(one.status.notEvaluated).toMatchObject({
      count: 3,
      firstPeriodID: "2026-03-01T01:00:00Z",
      lastPeriodID: "2026-03-01T03:00:00Z",
      reason: "paused",
    });
    one.runUntil("2026-03-01T04:00:05Z");
    expect(one.status).toMatchObject({ lastPeriodID: "2026-03-01T04:00:00Z", lastOutcome: "executed" });
    expect(one.news.map(({ kind }) => kind)).toEqual(["paused", "pause_over", "not_evaluated", "outcome", "started"]);
  });

  test("what passed in it never runs, however late it might: nor after it was taken away", () => {
    const one = settled();
    pause(one, "2026-03-01T09:00:00Z");
    one.runUntil("2026-03-01T05:10:00Z");
    pause(one, null);
    one.look("2026-03-01T05:20:00Z");
    one.runUntil("2026-03-01T05:50:00Z");
    expect(one.state.ran).toEqual({});
    expect(one.status.notEvaluated).toMatchObject({ count: 5, lastPeriodID: "2026-03-01T05:00:00Z", reason: "paused" });
    const { kronJob: read } = one.state;
    if (read === null) throw new Error("no KronJob");
    expect(storyOf(read, "2026-03-01T05:00:00Z").text).toBe("not evaluated: the job was paused");
  });

  test("whoever takes over in it knows of it by the status; after it, nothing of it is made up for", () => {
    const one = settled();
    pause(one, "2026-03-01T03:30:00Z");
    one.look("2026-03-01T00:20:00Z");
    one.memory = NOTHING_KNOWN;
    one.look("2026-03-01T02:10:00Z");
    one.memory = NOTHING_KNOWN;
    one.look("2026-03-01T03:45:00Z");
    one.runUntil("2026-03-01T03:55:00Z");
    expect(one.state.ran).toEqual({});
    expect(one.status.notEvaluated).toMatchObject({ count: 3, reason: "paused" });
  });

  test("one that was asked for while nobody looked may have begun long ago: nothing up to its end runs", () => {
    const one = settled();
    pause(one, "2026-03-01T06:00:00Z");
    one.memory = NOTHING_KNOWN;
    one.look("2026-03-01T05:30:00Z");
    expect(one.status.pause).toEqual({ until: "2026-03-01T06:00:00Z", reason: "upgrade" });
    one.runUntil("2026-03-01T05:59:59Z");
    one.runUntil("2026-03-01T06:00:30Z");
    expect(Object.keys(one.state.ran)).toEqual(["2026-03-01T06:00:00Z"]);
  });

  test("what was tried before it is tried again until its own deadline (S24)", () => {
    const one = settled({ ...PATIENT, schedule: "0 */6 * * *" });
    one.interfere = ({ type }) =>
      type === "createGate" ? { kind: "refused", code: "job-quota", message: "exceeded quota" } : null;
    one.runUntil("2026-03-01T06:05:00Z");
    pause(one, "2026-03-01T07:00:00Z");
    one.look("2026-03-01T06:06:00Z");
    one.interfere = () => null;
    one.runUntil("2026-03-01T06:50:00Z");
    expect(one.state.ran).toEqual({});
    one.runUntil("2026-03-01T07:01:00Z");
    expect(Object.keys(one.state.ran)).toEqual(["2026-03-01T06:00:00Z"]);
  });

  test("a suspension comes before it (S17): nothing is said of what passed", () => {
    const one = settled({ ...PATIENT, suspend: true });
    pause(one, "2026-03-01T03:30:00Z");
    one.look("2026-03-01T00:20:00Z");
    one.runUntil("2026-03-01T04:10:00Z");
    expect(one.status.notEvaluated).toBeUndefined();
    expect(one.state.ran).toEqual({});
  });

  test("an API server that drops what it does not know is told of, with what to apply", () => {
    const one = settled();
    pause(one, "2026-03-01T03:30:00Z");
    one.interfere = (effect) => {
      if (effect.type !== "writeStatus" || one.state.kronJob === null) return null;
      const { pause: _, ...status } = effect.status;
      return { kind: "kronJob", kronJob: { ...one.state.kronJob, status } };
    };
    expect(() => one.look("2026-03-01T00:20:00Z")).toThrow(/does not keep status\.pause/);
  });
});
