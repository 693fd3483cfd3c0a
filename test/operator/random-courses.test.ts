/**
 * Whatever happens to a KronJob, and to the two leaders that look after it: no period runs twice, none is passed over
 * without a word, under replace nothing begins beside a victim, and when all is calm again it goes on.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Job, KronJobSpec } from "../../src/operator/kube/types.js";
import { NOTHING_KNOWN } from "../../src/operator/plan/memory.js";
import { Leader } from "./support/drive.js";
import type { ModelState } from "./support/model-api.js";
import { at, kronJob } from "./support/samples.js";

const CREATED = "2026-03-01T00:00:30Z";
const MINUTE_MS = 60_000;
const CALM_MS = 180 * MINUTE_MS;
const RUNS = process.env["KRON_TEST_LONG"] === "1" ? 1_000 : 25;

type Happening =
  | { readonly kind: "pass"; readonly seconds: number }
  | { readonly kind: "finish" | "forget" | "gone" | "resume" | "wish" }
  /** The next so many requests of this kind are answered otherwise. */
  | { readonly kind: "trouble"; readonly effect: Trouble; readonly times: number }
  | { readonly kind: "suspend"; readonly isSuspended: boolean }
  | { readonly kind: "pause"; readonly minutes: number }
  | { readonly kind: "edit"; readonly schedule: string };

/** Refused, lost to another writer, or, of a deletion, accepted by a Job that does not go. */
type Trouble = "createGate" | "writeStatus" | "go" | "deleteJob";

const plain = fc.record({ kind: fc.constantFrom("finish", "forget", "gone", "resume", "wish") });
const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant("pass"), seconds: fc.integer({ min: 1, max: 4_000 }) }) },
  { weight: 5, arbitrary: plain as fc.Arbitrary<Happening> },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("trouble"),
      effect: fc.constantFrom<Trouble>("createGate", "writeStatus", "go", "deleteJob"),
      times: fc.integer({ min: 1, max: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("suspend"), isSuspended: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("pause"), minutes: fc.integer({ min: 1, max: 90 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("edit"), schedule: fc.constantFrom("0 * * * *", "*/15 * * * *") }),
  },
);

const spec: fc.Arbitrary<Partial<KronJobSpec>> = fc.record({
  schedule: fc.constantFrom("0 * * * *", "*/10 * * * *", "* * * * *"),
  policy: fc.record({
    concurrency: fc.constantFrom("allow", "forbid", "replace"),
    deadline: fc.constantFrom("0s", "50s", "9m"),
  }),
});

class World {
  readonly #leaders: readonly Leader[];
  readonly #trouble = new Map<string, number>();
  readonly #isReplacing: boolean;
  #state: ModelState;
  #now = at(CREATED);

  constructor(definition: Partial<KronJobSpec>) {
    const sample = kronJob(definition, { createdAt: CREATED });
    this.#isReplacing = definition.policy?.concurrency === "replace";
    this.#leaders = [new Leader(sample), new Leader(sample)];
    for (const one of this.#leaders) one.interfere = ({ type, ...effect }) => this.#answer(one, type, effect);
    const [first] = this.#leaders;
    if (first === undefined) throw new Error("no leader");
    this.#state = first.state;
    this.#lookAll();
  }

  happen(what: Happening): void {
    switch (what.kind) {
      case "pass":
        this.#runFor(what.seconds * 1_000);
        return;
      case "trouble":
        this.#trouble.set(what.effect, what.times);
        return;
      case "finish":
        this.#oldest((one, name) => one.finish(name));
        break;
      case "gone":
        this.#oldest((one, name) => {
          one.state = without(one.state, name);
        });
        break;
      case "forget":
        for (const one of this.#leaders.slice(0, 1)) one.memory = NOTHING_KNOWN;
        break;
      default:
        this.#edit(what);
    }
    this.#lookAll();
  }

  /** Nothing is in the way any more. */
  calm(): void {
    this.#trouble.clear();
    this.#edit({ kind: "resume" });
    this.#edit({ kind: "suspend", isSuspended: false });
    this.#edit({ kind: "edit", schedule: "*/10 * * * *" });
    for (const { metadata } of Object.values(this.#state.jobs)) {
      if (metadata.deletionTimestamp !== undefined) this.#state = without(this.#state, metadata.name);
    }
    for (let past = 0; past < CALM_MS; past += 10 * MINUTE_MS) {
      this.#runFor(10 * MINUTE_MS);
      for (let runs = this.#active.length; runs > 0; runs--) this.happen({ kind: "finish" });
    }
  }

  judge(): void {
    const { ran, kronJob: read } = this.#state;
    for (const [period, uids] of Object.entries(ran)) expect(uids, period).toHaveLength(1);
    const last = Date.parse(read?.status?.lastPeriodID ?? "");
    expect(this.#now - last).toBeLessThan(25 * MINUTE_MS);
    expect(read?.status?.lastOutcome).toBe("executed");
  }

  get #active(): readonly string[] {
    return (this.#state.kronJob?.status?.active ?? []).map(({ name }) => name);
  }

  #oldest(act: (one: Leader, name: string) => void): void {
    const [name] = this.#active;
    if (name !== undefined) this.#with(0, (one) => act(one, name));
  }

  #edit(what: Exclude<Happening, { readonly kind: "pass" | "trouble" }>): void {
    this.#with(0, (one) =>
      one.edit((it) => {
        const { annotations = {} } = it.metadata;
        const { "kron.io/pause-until": _, ...rest } = annotations;
        // Never the instant of a period, which is what the model tells runs apart by.
        const slotAt = Math.floor(this.#now / MINUTE_MS) * MINUTE_MS + 37_000;
        const until = what.kind === "pause" ? new Date(this.#now + what.minutes * MINUTE_MS).toISOString() : "";
        const noted =
          what.kind === "wish"
            ? { ...annotations, "kron.io/run": new Date(slotAt).toISOString() }
            : what.kind === "pause"
              ? { ...annotations, "kron.io/pause-until": until }
              : what.kind === "resume"
                ? rest
                : annotations;
        const changed =
          what.kind === "suspend"
            ? { suspend: what.isSuspended }
            : what.kind === "edit"
              ? { schedule: what.schedule }
              : {};
        return { ...it, metadata: { ...it.metadata, annotations: noted }, spec: { ...it.spec, ...changed } };
      }),
    );
  }

  #answer(one: Leader, type: string, effect: object): ReturnType<Leader["interfere"]> {
    const { name = "" } = effect as { readonly name?: string };
    const job = one.state.jobs[name];
    if (type === "go" && job !== undefined) this.#mustBeAlone(job, one.state);
    const left = this.#trouble.get(type) ?? 0;
    if (left === 0) return null;
    this.#trouble.set(type, left - 1);
    if (type === "createGate") return { kind: "refused", code: "job-quota", message: "exceeded quota" };
    if (type !== "deleteJob") return { kind: "conflict" };
    if (job === undefined) return null;
    const deletionTimestamp = new Date(this.#now).toISOString();
    const leaving: Job = { ...job, metadata: { ...job.metadata, deletionTimestamp } };
    one.state = { ...one.state, jobs: { ...one.state.jobs, [name]: leaving } };
    return { kind: "done" };
  }

  /** S25: all that was claimed before is gone with its pods; what somebody asked for starts beside it (S40). */
  #mustBeAlone(job: Job, { jobs }: ModelState): void {
    if (!this.#isReplacing || isAsked(job)) return;
    const isGoing = ({ spec: { suspend }, status }: Job): boolean =>
      suspend !== true && status?.conditions === undefined;
    expect(Object.values(jobs).filter((other) => isGoing(other) && !isAsked(other))).toEqual([]);
  }

  #runFor(ms: number): void {
    const until = this.#now + ms;
    for (let looks = 0; this.#now < until; looks++) {
      if (looks > 5_000) throw new Error("it never comes to rest");
      const next = this.#leaders.map(({ lookAgainAt }) => lookAgainAt ?? until);
      this.#now = Math.min(until, Math.max(this.#now + 500, Math.min(...next)));
      this.#lookAll();
    }
  }

  #lookAll(): void {
    for (const index of this.#leaders.keys()) this.#with(index, (one) => one.look(new Date(this.#now).toISOString()));
  }

  #with(index: number, act: (one: Leader) => void): void {
    const one = this.#leaders[index];
    if (one === undefined) return;
    one.state = this.#state;
    act(one);
    this.#state = one.state;
  }
}

function isAsked({ metadata }: Job): boolean {
  return metadata.annotations?.["kron.io/source"] !== undefined;
}

function without(state: ModelState, name: string): ModelState {
  const { [name]: _, ...jobs } = state.jobs;
  return { ...state, jobs };
}

test("random courses: at most once, one at a time where that is asked for, and never stuck", () => {
  fc.assert(
    fc.property(spec, fc.array(happening, { minLength: 3, maxLength: 25 }), (definition, course) => {
      const world = new World(definition);
      for (const what of course) world.happen(what);
      world.calm();
      world.judge();
    }),
    { numRuns: RUNS },
  );
});
