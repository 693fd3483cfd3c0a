/** Starts per bucket while jobs are moved about: a move is tried, weighed, and taken back if it does no good. */
import { compileRule } from "../../decision/compile.js";
import type { CompiledRule } from "../../decision/model.js";
import type { SchedulingRule } from "../../decision/rule.js";
import { bucketOf, type Horizon } from "../horizon.js";
import { visitStarts } from "../starts.js";

/** Where a rule starts: the bucket of each start, in order; and how many periods find no second. */
export interface RuleStarts {
  readonly compiled: CompiledRule;
  readonly buckets: Int32Array;
  readonly unschedulable: number;
}

export function startsOfRule(rule: SchedulingRule, horizon: Horizon): RuleStarts {
  const compiled = compileRule(rule);
  const { fromAt, toAt } = horizon;
  const buckets: number[] = [];
  let unschedulable = 0;
  visitStarts(compiled, null, fromAt, toAt, (_, settledAt, chosenAt) => {
    if (settledAt < fromAt || settledAt >= toAt) return;
    if (chosenAt === null) unschedulable++;
    else buckets.push(bucketOf(horizon, settledAt));
  });
  return { compiled, buckets: Int32Array.from(buckets), unschedulable };
}

export class Load {
  readonly counts: Uint32Array;
  total = 0;

  constructor(buckets: number) {
    this.counts = new Uint32Array(buckets);
  }

  add({ buckets }: RuleStarts): void {
    for (const bucket of buckets) this.counts[bucket] = (this.counts[bucket] as number) + 1;
    this.total += buckets.length;
  }

  remove({ buckets }: RuleStarts): void {
    for (const bucket of buckets) this.counts[bucket] = (this.counts[bucket] as number) - 1;
    this.total -= buckets.length;
  }

  peak(): number {
    return this.counts.reduce((most, starts) => Math.max(most, starts), 0);
  }

  /**
   * Moves a job when that makes the load flatter: the sum of the squares falls, and no bucket comes to have more than
   * `most`. Says whether it did.
   */
  moveIfFlatter(from: RuleStarts, to: RuleStarts, most: number): boolean {
    const before = this.#change(from.buckets, -1);
    const after = this.#change(to.buckets, 1);
    const isFlatter = before + after < 0;
    if (isFlatter && to.buckets.every((bucket) => (this.counts[bucket] as number) <= most)) {
      this.total += to.buckets.length - from.buckets.length;
      return true;
    }
    this.#change(to.buckets, -1);
    this.#change(from.buckets, 1);
    return false;
  }

  /** How the sum of the squares changes. */
  #change(buckets: Int32Array, step: 1 | -1): number {
    let change = 0;
    for (const bucket of buckets) {
      const starts = this.counts[bucket] as number;
      change += step * 2 * starts + 1;
      this.counts[bucket] = starts + step;
    }
    return change;
  }
}
