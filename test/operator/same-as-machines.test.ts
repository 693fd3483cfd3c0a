/**
 * One definition, one course of events, told to the operator's plan and to the supervisor's machines: the same periods
 * run, and every one has the same outcome for the same reason. Both stand on the same core; what each does on top of it,
 * turning from period to period, holding, retrying, replacing, returning, is compared here.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { readKronJob } from "../../src/operator/definition.js";
import type { KronJob, KronJobSpec } from "../../src/operator/kube/types.js";
import { NOTHING_KNOWN } from "../../src/operator/plan/memory.js";
import { Leader } from "./support/drive.js";
import { MachineTwin } from "./support/machine-twin.js";
import { at, kronJob } from "./support/samples.js";

const CREATED = "2026-03-01T00:00:30Z";
const MINUTE_MS = 60_000;
const RUNS = process.env["KRON_TEST_LONG"] === "1" ? 3_000 : 60;

type Happening =
  | { readonly kind: "pass"; readonly minutes: number }
  /** The run of the oldest period ends. */
  | { readonly kind: "finish" }
  /** Nothing can be made for a while; the time is chosen so that no deadline falls near its end. */
  | { readonly kind: "refuse" }
  /** Nobody is there. */
  | { readonly kind: "away"; readonly minutes: number }
  /** The clock jumps, or everybody sleeps, while a period cannot be started. */
  | { readonly kind: "lose"; readonly minutes: number }
  | { readonly kind: "suspend"; readonly isSuspended: boolean };

const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("pass"), minutes: fc.integer({ min: 1, max: 200 }) }) },
  { weight: 4, arbitrary: fc.constant({ kind: "finish" } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: "refuse" } as const) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("away"), minutes: fc.integer({ min: 2, max: 400 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("lose"), minutes: fc.integer({ min: 15, max: 400 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("suspend"), isSuspended: fc.boolean() }) },
);

const spec: fc.Arbitrary<Partial<KronJobSpec>> = fc.record({
  schedule: fc.constantFrom("0 * * * *", "*/30 * * * *", "5,20,50 * * * *", "0 */3 * * *"),
  window: fc.constantFrom(
    { mode: "after", duration: "0s" },
    { mode: "after", duration: "14m" },
    { mode: "before", duration: "10m" },
    { mode: "around", duration: "12m" },
  ),
  policy: fc.record({
    concurrency: fc.constantFrom("allow", "forbid", "replace"),
    deadline: fc.constantFrom("0s", "30s", "9m"),
  }),
  constraints: fc.constantFrom({}, { avoid: ["hours=2-4"] }),
});

/** That time was lost is told by the machines alone: a leader that begins remembers nothing of what was before it. */
function withoutLostTime(told: string): string {
  return told.replace(/\b(?:stalled|clock_jump|down)$/, "deadline");
}

class Pair {
  readonly #leader: Leader;
  readonly #twin: MachineTwin;
  readonly #outcomes = new Map<string, string>();
  #now = at(CREATED);

  constructor(sample: KronJob) {
    const read = readKronJob(sample);
    if (!read.ok) throw new Error(JSON.stringify(read.error));
    this.#leader = new Leader(sample);
    this.#twin = new MachineTwin(read.value, CREATED);
    this.#leader.look(CREATED);
    this.#twin.wake(this.#now, true);
  }

  happen(what: Happening): void {
    switch (what.kind) {
      case "pass":
        this.#pass(what.minutes);
        return;
      case "finish":
        this.#finishOldest();
        return;
      case "refuse":
        this.#refuse();
        return;
      case "away":
        this.#now += what.minutes * MINUTE_MS;
        this.#leader.memory = NOTHING_KNOWN;
        this.#leader.look(this.#text());
        this.#twin.forget(this.#now);
        this.#settle();
        return;
      case "lose":
        this.#lose(what.minutes);
        return;
      case "suspend":
        this.#leader.edit((kronJob) => ({ ...kronJob, spec: { ...kronJob.spec, suspend: what.isSuspended } }));
        this.#leader.look(this.#text());
        this.#twin.suspend(what.isSuspended, this.#now);
        this.#settle();
    }
  }

  /** A Job takes a look or two to go, a process none. */
  #settle(): void {
    this.#now += 5_000;
    this.#leader.runUntil(this.#text());
    this.#twin.runUntil(this.#now);
  }

  judge(): void {
    this.#note();
    const ran = Object.keys(this.#leader.state.ran).sort();
    expect(ran).toEqual([...this.#twin.ran].sort());
    expect(Object.fromEntries(this.#outcomes)).toEqual(
      Object.fromEntries([...this.#twin.outcomes].map(([id, told]) => [id, withoutLostTime(told)])),
    );
  }

  #pass(minutes: number): void {
    this.#now += minutes * MINUTE_MS;
    this.#leader.runUntil(this.#text());
    this.#twin.runUntil(this.#now);
  }

  #refuse(): void {
    this.#refusing(true);
    this.#toNext(2 * MINUTE_MS);
    this.#refusing(false);
    this.#pass(3);
  }

  #lose(minutes: number): void {
    this.#refusing(true);
    this.#toNext(30_000);
    this.#now += minutes * MINUTE_MS;
    this.#leader.look(this.#text());
    this.#twin.wake(this.#now, true);
    this.#refusing(false);
    this.#pass(3);
  }

  #refusing(isRefusing: boolean): void {
    const refusal = { kind: "refused", code: "job-quota", message: "exceeded quota" } as const;
    this.#leader.interfere = ({ type }) => (isRefusing && type === "createGate" ? refusal : null);
    this.#twin.isRefusing = isRefusing;
  }

  #toNext(afterMs: number): void {
    const dueAt = at(this.#leader.status.nextChosenTime ?? this.#text());
    this.#now = Math.max(this.#now, dueAt) + afterMs;
    this.#leader.runUntil(this.#text());
    this.#twin.runUntil(this.#now);
  }

  #finishOldest(): void {
    const [oldest] = [...this.#twin.running].sort();
    const run = this.#leader.status.active?.find(({ periodID }) => periodID === oldest);
    expect(run?.periodID).toBe(oldest);
    if (oldest === undefined || run === undefined) return;
    this.#now += 1_000;
    this.#leader.finish(run.name);
    this.#leader.look(this.#text());
    this.#twin.finish(oldest, this.#now);
  }

  #note(): void {
    for (const news of this.#leader.told("outcome")) {
      if (news.kind !== "outcome") continue;
      this.#outcomes.set(news.periodId, `${news.outcome} ${withoutLostTime(news.reason ?? "")}`);
    }
  }

  #text(): string {
    return new Date(this.#now).toISOString();
  }
}

test("the operator and the supervisor come to the same outcomes, for the same reasons", () => {
  let outcomes = 0;
  fc.assert(
    fc.property(spec, fc.array(happening, { minLength: 3, maxLength: 14 }), (definition, course) => {
      const pair = new Pair(kronJob(definition, { createdAt: CREATED }));
      for (const what of course) {
        pair.happen(what);
        pair.judge();
        outcomes += 1;
      }
    }),
    { numRuns: RUNS },
  );
  expect(outcomes).toBeGreaterThan(RUNS);
});
