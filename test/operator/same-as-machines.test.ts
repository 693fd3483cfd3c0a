/**
 * One definition, one course of events, told to the machines directly and by way of Jobs and a status: the same periods run,
 * every one has the same outcome for the same reason, and the same ones are passed over. What is compared is how the operator
 * tells its machines what it sees, and what it makes of what they want.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { LostTime } from "../../src/core/period/cause.js";
import { readKronJob } from "../../src/operator/definition.js";
import type { KronJob, KronJobSpec } from "../../src/operator/kube/types.js";
import { NOTHING_KNOWN } from "../../src/operator/plan/memory.js";
import { Leader } from "./support/drive.js";
import { gapOf, MachineTwin } from "./support/machine-twin.js";
import { at, kronJob } from "./support/samples.js";

const CREATED = "2026-03-01T00:00:30Z";
const MINUTE_MS = 60_000;
/** Another one: KRON_TEST_SEED=17 npx vitest run test/operator/same-as-machines.test.ts */
const SEED = Number(process.env["KRON_TEST_SEED"] ?? 20_261_119);
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
  | { readonly kind: "suspend"; readonly isSuspended: boolean }
  /** S17: 0: what pauses it is taken away. */
  | { readonly kind: "pause"; readonly minutes: number };

const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("pass"), minutes: fc.integer({ min: 1, max: 200 }) }) },
  { weight: 4, arbitrary: fc.constant({ kind: "finish" } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: "refuse" } as const) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("away"), minutes: fc.integer({ min: 2, max: 400 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("lose"), minutes: fc.integer({ min: 15, max: 400 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("suspend"), isSuspended: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("pause"), minutes: fc.constantFrom(0, 7, 45, 200) }) },
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

class Pair {
  readonly #leader: Leader;
  readonly #twin: MachineTwin;
  readonly #outcomes = new Map<string, string>();
  readonly #gaps = new Set<string>();
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
        this.#goOver(what.minutes, "down");
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
        return;
      case "pause":
        this.#pause(what.minutes);
    }
  }

  #pause(minutes: number): void {
    const untilAt = this.#now + minutes * MINUTE_MS;
    const until = new Date(untilAt).toISOString();
    const annotations: Record<string, string> = minutes === 0 ? {} : { "kron.io/pause-until": until };
    this.#leader.edit((kronJob) => ({ ...kronJob, metadata: { ...kronJob.metadata, annotations } }));
    this.#leader.look(this.#text());
    if (minutes > 0) this.#twin.tell(this.#now, { type: "PAUSE", untilAt, reason: "" });
    else if (this.#twin.isPaused) this.#twin.tell(this.#now, { type: "RESUME" });
    this.#settle();
  }

  /** Nobody looks, and it is known why. */
  #goOver(minutes: number, cause: LostTime["cause"]): void {
    const fromAt = this.#now;
    this.#now += minutes * MINUTE_MS;
    const lost = [...this.#leader.lost, { cause, fromAt, untilAt: this.#now }];
    this.#leader.lost = lost;
    this.#twin.lost = lost;
  }

  /** A Job takes a look or two to go, a process none. */
  #settle(): void {
    this.#now += 5_000;
    this.#leader.runUntil(this.#text());
    this.#twin.runUntil(this.#now);
  }

  get ran(): readonly string[] {
    return Object.keys(this.#leader.state.ran).sort();
  }

  judge(): void {
    this.#note();
    expect(this.ran).toEqual([...this.#twin.ran].sort());
    expect(Object.fromEntries(this.#outcomes)).toEqual(Object.fromEntries(this.#twin.outcomes));
    expect([...this.#gaps].sort()).toEqual([...this.#twin.gaps].sort());
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
    this.#goOver(minutes, "clock_jump");
    this.#leader.look(this.#text());
    this.#twin.wake(this.#now, true);
    this.#refusing(false);
    this.#pass(3);
  }

  #refusing(isRefusing: boolean): void {
    const refusal = { kind: "refused", code: "job-quota", message: "exceeded quota" } as const;
    this.#leader.interfere = ({ type }) => (isRefusing && type === "createGate" ? refusal : null);
    this.#twin.isRefusing = isRefusing;
    // What was made ahead by then would be of use.
    const { state } = this.#leader;
    const released = Object.entries(state.jobs).filter(([, { spec }]) => spec.suspend !== true);
    this.#leader.state = { ...state, jobs: Object.fromEntries(released) };
  }

  #toNext(afterMs: number): void {
    const dueAt = at(this.#leader.status.nextChosenTime ?? this.#text());
    this.#now = Math.max(this.#now, dueAt) + afterMs;
    this.#leader.runUntil(this.#text());
    this.#twin.runUntil(this.#now);
  }

  /** What comes due in the meantime comes first: an end tells nobody what time it is. */
  #finishOldest(): void {
    this.#now += 1_000;
    this.#leader.runUntil(this.#text());
    this.#twin.runUntil(this.#now);
    const [oldest] = [...this.#twin.running].sort();
    const run = this.#leader.status.active?.find(({ periodID }) => periodID === oldest);
    expect(run?.periodID).toBe(oldest);
    if (oldest === undefined || run === undefined) return;
    this.#leader.finish(run.name);
    this.#leader.look(this.#text());
    this.#twin.finish(oldest, this.#now);
  }

  #note(): void {
    for (const news of this.#leader.told("not_evaluated")) {
      if (news.kind === "not_evaluated") this.#gaps.add(gapOf(at(news.firstId), at(news.lastId), news.reason));
    }
    for (const news of this.#leader.told("outcome")) {
      if (news.kind !== "outcome") continue;
      this.#outcomes.set(news.periodId, `${news.outcome} ${news.reason ?? ""}`);
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
    { numRuns: RUNS, seed: SEED },
  );
  expect(outcomes).toBeGreaterThan(RUNS);
});

test("S20: what is due in the very second in which a run ends begins in it, without a deadline too", () => {
  const hourly = {
    schedule: "0 * * * *",
    window: { mode: "before", duration: "10m" },
    policy: { concurrency: "allow", deadline: "0s" },
  } as const;
  const pair = new Pair(kronJob(hourly, { createdAt: CREATED }));
  const finish = { kind: "finish" } as const;
  const course: readonly Happening[] = [
    ...[174, 59].map((minutes) => ({ kind: "pass", minutes }) as const),
    ...[finish, { kind: "pause", minutes: 0 } as const, finish, finish],
  ];
  for (const what of course) {
    pair.happen(what);
    pair.judge();
  }
  const hours = ["01", "02", "03", "04"];
  expect(pair.ran).toEqual(hours.map((hour) => `2026-03-01T${hour}:00:00Z`));
});
