/**
 * What a planner is: somebody who looks at how an endpoint has been doing and proposes how often it should run for a while.
 * It changes nothing itself. What it proposes passes the same reading, bounds and quotas as what a person asks for, and each
 * time it was asked is on record.
 */
import type { PlannerBudget } from "./budget.js";
import type { Situation } from "./model.js";
import type { Session } from "./session.js";

export interface Planner {
  /** Never rejects: what went wrong is the outcome of the session. */
  propose(situation: Situation, options: ProposeOptions): Promise<Session>;
}

export interface ProposeOptions {
  /** Aborted: the session ends at once, without proposals. */
  readonly signal: AbortSignal;
  /** Of the tenant whose endpoint it is; who asks no model does not use it. */
  readonly budget: PlannerBudget;
}
