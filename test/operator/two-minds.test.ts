/** What two leaders, a clock that is set back, and a rule that cannot be decided make of what was claimed or asked for. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { SimulatedClock } from "../../src/actors/simulated-clock.js";
import { decide } from "../../src/core/decision/decide.js";
import { Controller } from "../../src/operator/controller.js";
import type { KubeGateway } from "../../src/operator/gateway.js";
import type { KronJobSpec } from "../../src/operator/kube/types.js";
import type { Effect } from "../../src/operator/plan/effects.js";
import { type Memory, NOTHING_KNOWN } from "../../src/operator/plan/memory.js";
import { beginPass, folded, nextEffect, type Pass } from "../../src/operator/plan/pass.js";
import type { Reporter } from "../../src/operator/reporter.js";
import { Leader } from "./support/drive.js";
import { type ModelState, modelOf, observe, perform } from "./support/model-api.js";
import { at, kronJob } from "./support/samples.js";

vi.mock("../../src/core/decision/decide.js", { spy: true });
afterEach(() => void vi.mocked(decide).mockReset());

const HOURLY: Partial<KronJobSpec> = { schedule: "0 * * * *", policy: { concurrency: "forbid", deadline: "10m" } };
const PATIENT: Partial<KronJobSpec> = { schedule: "0 * * * *", policy: { concurrency: "allow", deadline: "12h" } };
const REFUSED = { kind: "refused", code: "job-quota", message: "exceeded quota" } as const;

function annotate(leader: Leader, annotations: Readonly<Record<string, string>>): void {
  leader.edit((it) => ({ ...it, metadata: { ...it.metadata, annotations } }));
}

/** S18: the decision of this one period cannot be computed. */
async function undecidable(nominal: string): Promise<void> {
  const actual = await vi.importActual<typeof import("../../src/core/decision/decide.js")>(
    "../../src/core/decision/decide.js",
  );
  vi.mocked(decide).mockImplementation((compiled, nominalAt) => {
    if (nominalAt === at(nominal)) throw new Error("out of memory");
    return actual.decide(compiled, nominalAt);
  });
}

/** Two leaders over one cluster, an effect at a time. */
class Cluster {
  state: ModelState;

  constructor(state: ModelState) {
    this.state = state;
  }

  begin(memory: Memory, time: string): Pass {
    const observed = observe(this.state);
    if (observed === null) throw new Error("the KronJob is gone");
    return beginPass(observed, memory, at(time));
  }

  step(pass: Pass, time: string): Pass {
    const effect = nextEffect(pass) as Effect;
    const [state, result] = perform(this.state, effect, pass.observed.kronJob, at(time));
    this.state = state;
    return folded(pass, result, at(time));
  }
}

test("S25: a claim that makes way in the same look is not said never to have begun while another leader can release it", () => {
  const spec = { schedule: "0,1 * * * *", policy: { concurrency: "replace", deadline: "12h" } } as const;
  const ahead = new Leader(kronJob(spec, { createdAt: "2026-03-01T00:10:00Z" }));
  ahead.look("2026-03-01T00:10:00Z");
  ahead.interfere = ({ type }) => (type === "createGate" ? { kind: "conflict" } : null);
  ahead.look("2026-03-01T01:00:30Z");
  const cluster = new Cluster(ahead.state);
  let one = cluster.begin(ahead.memory, "2026-03-01T01:01:00Z");
  // The Job of the first period is made, and claimed in a look that finds the second one due.
  one = cluster.step(cluster.step(one, "2026-03-01T01:01:00Z"), "2026-03-01T01:01:00Z");
  // Another leader, whose clock is a second behind, is about to release it.
  let other = cluster.begin(NOTHING_KNOWN, "2026-03-01T01:00:59Z");
  expect(nextEffect(other)?.type).toBe("go");
  one = cluster.step(one, "2026-03-01T01:01:00Z");
  other = cluster.step(other, "2026-03-01T01:00:59Z");
  for (let steps = 0; nextEffect(one) !== null && steps < 20; steps++) one = cluster.step(one, "2026-03-01T01:01:01Z");
  const { history = [], active = [] } = cluster.state.kronJob?.status ?? {};
  const notStarted = history.filter(({ result }) => result === "NotStarted").map(({ periodID }) => periodID);
  expect(notStarted.filter((id) => Object.hasOwn(cluster.state.ran, id))).toEqual([]);
  // Whatever ran and has not gone is on record as running.
  const ran = Object.keys(cluster.state.ran);
  const known = [...active, ...history].map(({ periodID }) => periodID);
  expect(ran.filter((id) => !known.includes(id))).toEqual([]);
});

describe("S40: a run that was asked for by annotation", () => {
  const spec = { schedule: "0 0 1 1 *", successfulJobsHistoryLimit: 0 };

  test("runs once, also when the clock is set back by hours and comes to its instant again", () => {
    const leader = new Leader(kronJob(spec));
    leader.look("2026-03-01T00:10:00Z");
    annotate(leader, { "kron.io/run": "2026-03-01T12:00:00Z" });
    leader.look("2026-03-01T12:00:01Z");
    leader.finish(leader.jobNames[0] ?? "");
    leader.look("2026-03-01T12:00:30Z");
    for (const time of ["2026-03-01T10:30:00Z", "2026-03-01T12:05:00Z"]) {
      leader.memory = NOTHING_KNOWN;
      leader.look(time);
      leader.look(time);
    }
    expect(Object.values(leader.state.ran).flat()).toHaveLength(1);
  });

  test("that is older than the last one is refused, with the reason", () => {
    const leader = new Leader(kronJob(spec));
    leader.look("2026-03-01T00:10:00Z");
    annotate(leader, { "kron.io/run": "2026-03-01T12:00:00Z" });
    leader.look("2026-03-01T12:00:01Z");
    annotate(leader, { "kron.io/run": "2026-03-01T11:59:00Z" });
    leader.look("2026-03-01T12:00:02Z");
    leader.look("2026-03-01T12:00:03Z");
    const why = "it is older than the last one, 2026-03-01T12:00:00Z";
    expect(leader.told("run_refused")).toEqual([{ kind: "run_refused", value: "2026-03-01T11:59:00Z", why }]);
  });
});

describe("S18: a period that cannot be decided", () => {
  test("after a pause: what is claimed is released all the same", async () => {
    const leader = new Leader(kronJob(HOURLY));
    leader.look("2026-03-01T00:10:00Z");
    leader.interfere = ({ type }) => (type === "go" ? { kind: "conflict" } : null);
    leader.look("2026-03-01T01:00:00Z");
    leader.interfere = () => null;
    annotate(leader, { "kron.io/pause-until": "2026-03-01T03:30:00Z" });
    await undecidable("2026-03-01T04:00:00Z");
    leader.look("2026-03-01T01:00:01Z");
    expect(Object.keys(leader.state.ran)).toEqual(["2026-03-01T01:00:00Z"]);
  });

  test("after one whose start is tried again: that goes on", async () => {
    const leader = new Leader(kronJob(HOURLY));
    leader.look("2026-03-01T00:10:00Z");
    leader.interfere = ({ type }) => (type === "createGate" ? REFUSED : null);
    await undecidable("2026-03-01T02:00:00Z");
    leader.look("2026-03-01T01:00:00Z");
    leader.interfere = () => null;
    leader.runUntil("2026-03-01T01:00:10Z");
    expect(Object.keys(leader.state.ran)).toEqual(["2026-03-01T01:00:00Z"]);
  });
});

test.each([false, true])(
  "S17, S24: what was due before a pause is tried on after it; the spec is edited too: %s",
  (isEdited) => {
    const leader = new Leader(kronJob(PATIENT));
    leader.look("2026-03-01T00:10:00Z");
    leader.interfere = ({ type }) => (type === "createGate" ? REFUSED : null);
    leader.runUntil("2026-03-01T01:05:00Z");
    leader.edit((it) => ({
      ...it,
      spec: { ...it.spec, ...(isEdited ? { successfulJobsHistoryLimit: 5 } : {}) },
      metadata: { ...it.metadata, annotations: { "kron.io/pause-until": "2026-03-01T01:30:00Z" } },
    }));
    leader.look("2026-03-01T01:05:10Z");
    expect(leader.status.pause).toMatchObject({ since: "2026-03-01T01:05:10Z" });
    leader.interfere = () => null;
    leader.runUntil("2026-03-01T01:40:00Z");
    expect(Object.keys(leader.state.ran)).toEqual(["2026-03-01T01:00:00Z"]);
  },
);

test("S17: a pause that ends while the KronJob is suspended is over then", () => {
  const leader = new Leader(kronJob({ ...HOURLY, suspend: true }));
  leader.look("2026-03-01T00:10:00Z");
  annotate(leader, { "kron.io/pause-until": "2026-03-01T00:30:00Z" });
  leader.look("2026-03-01T00:11:00Z");
  expect(leader.lookAgainAt).toBe(at("2026-03-01T00:30:00Z"));
  leader.look("2026-03-01T00:30:00Z");
  expect(leader.status.pause).toBeUndefined();
});

test.each(["pause", "lastSlot", "notEvaluated"])(
  "S32: a status whose %s is null is told as one that cannot be read",
  (field) => {
    const leader = new Leader(kronJob(HOURLY));
    leader.look("2026-03-01T00:10:00Z");
    leader.edit((it) => ({ ...it, status: { ...it.status, [field]: null } }) as typeof it);
    leader.look("2026-03-01T00:11:00Z");
    const ready = leader.status.conditions?.find(({ type }) => type === "Ready");
    expect(ready).toMatchObject({ status: "False", reason: "StatusUnreadable" });
    expect(ready?.message).toContain(`status.${field}`);
  },
);

test("S6: when the clock is set back everything is looked at again, before it has caught up", async () => {
  const clock = new SimulatedClock({ startAt: at("2026-03-01T12:30:00Z") });
  let state = modelOf(kronJob(HOURLY, { createdAt: "2026-03-01T12:29:00Z" }));
  const looks: number[] = [];
  const gateway = {
    readKronJob: async () => {
      looks.push(clock.now());
      return state.kronJob;
    },
    perform: async (effect: Effect, about: Parameters<typeof perform>[2]) => {
      const [next, result] = perform(state, effect, about, clock.now());
      state = next;
      return result;
    },
  } as unknown as KubeGateway;
  const reporter = new Proxy({}, { get: () => () => undefined }) as Reporter;
  const controller = new Controller({ gateway, clock, reporter, random: () => 0.5, standbyMs: 1_000 });
  controller.setFirst(true);
  controller.start();
  const handler = controller.kronJobHandler(null);
  handler.begin();
  if (state.kronJob !== null) handler.put(state.kronJob);
  handler.end();
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 10_000) {
      clock.advance(10_000);
      for (let turns = 0; turns < 50; turns++) await Promise.resolve();
    }
  };
  await pass(60_000);
  clock.jump(-2 * 3_600_000);
  const before = looks.length;
  await pass(3 * 60_000);
  expect(looks.length).toBeGreaterThan(before);
  await pass(3_600_000);
  expect(Object.keys(state.ran)).toEqual(["2026-03-01T11:00:00Z"]);
  await controller.stop();
});
