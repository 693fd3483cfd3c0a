/**
 * A leader dies at its k-th effect, before it came true and after, for every k; another one, who remembers nothing, is there
 * a moment later. Whatever the policy, every period has the outcome that it would have had, and no Job runs twice.
 */
import { expect, test } from "vitest";
import type { KronJobSpec } from "../../src/operator/kube/types.js";
import { NOTHING_KNOWN } from "../../src/operator/plan/memory.js";
import { Leader } from "./support/drive.js";
import { at, kronJob } from "./support/samples.js";

type Death = { readonly effect: number; readonly isAfter: boolean } | null;

const UNTIL = "2026-03-01T02:20:00Z";
const ONE_AFTER_THE_OTHER = { schedule: "*/30 * * * *", window: { mode: "after", duration: "10m" } } as const;
const POLICIES: readonly (readonly [string, Partial<KronJobSpec>])[] = (["allow", "forbid", "replace"] as const).map(
  (concurrency) => [concurrency, { ...ONE_AFTER_THE_OTHER, policy: { concurrency, deadline: "5m" } }],
);

class Course {
  readonly leader: Leader;
  readonly #death: Death;
  effects = 0;

  constructor(spec: Partial<KronJobSpec>, death: Death) {
    this.leader = new Leader(kronJob(spec));
    this.#death = death;
    this.leader.dies = (isAfter) => {
      if (!isAfter) this.effects += 1;
      return this.#death?.effect === this.effects && this.#death.isAfter === isAfter;
    };
  }

  play(): this {
    const { leader } = this;
    this.#look("2026-03-01T00:10:00Z");
    for (let now = at("2026-03-01T00:10:00Z"); now <= at(UNTIL); now = this.#next(now)) {
      // The first of two runs ends, the other one goes on until it is replaced, or for good.
      const [oldest] = leader.status.active ?? [];
      if (oldest?.periodID.endsWith("30:00Z") === true && now > at(oldest.startedAt) + 60_000) {
        leader.finish(oldest.name);
      }
      this.#look(new Date(now).toISOString());
    }
    return this;
  }

  /** Nothing that is due waits longer than a moment, and what lies in between is looked at as well. */
  #next(now: number): number {
    return Math.max(now + 1_000, Math.min(this.leader.lookAgainAt ?? now + 20_000, now + 20_000));
  }

  #look(time: string): void {
    this.leader.look(time);
    if (!this.leader.isDead) return;
    this.leader.isDead = false;
    this.leader.memory = NOTHING_KNOWN;
    this.leader.look(new Date(at(time) + 500).toISOString());
  }

  get outcomes(): readonly string[] {
    const ended = (this.leader.status.history ?? []).map(({ periodID, outcome }) => `${periodID} ${outcome}`);
    const active = (this.leader.status.active ?? []).map(({ periodID }) => `${periodID} executed`);
    return [...ended, ...active].sort();
  }
}

test.each(POLICIES)("%s", (_name, spec) => {
  const undisturbed = new Course(spec, null).play();
  expect(undisturbed.outcomes).toHaveLength(5);
  expect(undisturbed.effects).toBeGreaterThan(8);
  for (let effect = 1; effect <= undisturbed.effects; effect++) {
    for (const isAfter of [false, true]) {
      const course = new Course(spec, { effect, isAfter }).play();
      expect(course.outcomes, `effect ${effect}, ${isAfter ? "after" : "before"}`).toEqual(undisturbed.outcomes);
      for (const uids of Object.values(course.leader.state.ran)) expect(uids).toHaveLength(1);
    }
  }
});
