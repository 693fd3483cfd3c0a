/** One leader over the API server that is a value: passes to their end, and what they told. */

import type { LostTime } from "../../../src/core/period/cause.js";
import type { KronJob, KronJobStatus } from "../../../src/operator/kube/types.js";
import type { Effect, EffectResult } from "../../../src/operator/plan/effects.js";
import { type Memory, NOTHING_KNOWN } from "../../../src/operator/plan/memory.js";
import type { News } from "../../../src/operator/plan/news.js";
import { beginPass, folded, nextEffect, type Pass } from "../../../src/operator/plan/pass.js";
import { finished, type ModelState, modelOf, observe, perform } from "./model-api.js";
import { at } from "./samples.js";

export class Leader {
  state: ModelState;
  memory: Memory = NOTHING_KNOWN;
  readonly news: News[] = [];
  readonly effects: string[] = [];
  lookAgainAt: number | null = null;
  /** When nobody could look (S13). */
  lost: readonly LostTime[] = [];
  /** What the API server answers instead; null: what it would. */
  /** Whether it dies before the effect comes true, or after: what it remembered is gone with it. */
  dies: (isAfter: boolean) => boolean = () => false;
  isDead = false;
  interfere: (effect: Effect) => EffectResult | null = () => null;

  constructor(kronJob: KronJob) {
    this.state = modelOf(kronJob);
  }

  get status(): KronJobStatus {
    return this.state.kronJob?.status ?? {};
  }

  get jobNames(): readonly string[] {
    return Object.keys(this.state.jobs);
  }

  /** The effects of one look at this time, by type. */
  look(time: string): readonly string[] {
    const now = at(time);
    const seen = observe(this.state);
    if (seen === null) return [];
    const observed = { ...seen, lost: this.lost };
    const from = this.effects.length;
    let pass: Pass = beginPass(observed, this.memory, now);
    for (let effect = nextEffect(pass); effect !== null; effect = nextEffect(pass)) {
      if (this.#dies(false)) return this.effects.slice(from);
      this.effects.push(effect.type);
      const [state, usual] = perform(this.state, effect, pass.observed.kronJob, now);
      const unusual = this.interfere(effect);
      if (unusual === null) this.state = state;
      if (this.#dies(true)) return this.effects.slice(from);
      const result = unusual ?? usual;
      if ("news" in effect && isDone(result)) this.news.push(...[effect.news].flat());
      pass = folded(pass, result, now);
    }
    this.memory = pass.memory;
    this.lookAgainAt = pass.lookAgainAt;
    return this.effects.slice(from);
  }

  #dies(isAfter: boolean): boolean {
    this.isDead = this.dies(isAfter);
    return this.isDead;
  }

  /** Looks at every instant at which the clock alone may change something, until then. */
  runUntil(time: string): void {
    for (let looks = 0; this.lookAgainAt !== null && this.lookAgainAt <= at(time); looks++) {
      if (looks > 1000) throw new Error("it never comes to rest");
      this.look(new Date(this.lookAgainAt).toISOString());
    }
    this.look(time);
  }

  edit(change: (kronJob: KronJob) => KronJob): void {
    const { kronJob } = this.state;
    if (kronJob === null) return;
    const next = change(kronJob);
    const isSpecChanged = JSON.stringify(next.spec) !== JSON.stringify(kronJob.spec);
    const { generation = 1, resourceVersion } = kronJob.metadata;
    const metadata = {
      ...next.metadata,
      resourceVersion: String(Number(resourceVersion) + 1),
      generation: isSpecChanged ? generation + 1 : generation,
    };
    this.state = { ...this.state, kronJob: { ...next, metadata } };
  }

  finish(name: string): void {
    this.state = finished(this.state, name);
  }

  told(kind: News["kind"]): readonly News[] {
    return this.news.filter((news) => news.kind === kind);
  }
}

function isDone({ kind }: EffectResult): boolean {
  return kind === "kronJob" || kind === "job" || kind === "done";
}
