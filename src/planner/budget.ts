/** What a tenant's planner may still use: asked before each request to a model, settled after it. */
import {
  NO_USE,
  type QuotaLimits,
  type QuotaRefusal,
  type QuotaState,
  reservePlanner,
  settlePlanner,
} from "../core/endpoint/quota.js";
import { type EpochMs, formatInstant } from "../core/time/instant.js";

export interface PlannerBudget {
  /** For one request. */
  reserve(tokens: number, now: EpochMs): Promise<Promised>;
}

type Promised =
  | { readonly ok: true; settle(usedTokens: number): Promise<void> }
  | { readonly ok: false; readonly message: string };

type PlannerQuota = Pick<QuotaLimits, "plannerCallsPerDay" | "plannerTokensPerDay">;

const WORDS = { planner_calls: "calls of the planner", planner_tokens: "tokens of the planner" } as const;

/** In words for the record of a session. */
export function refusalText({ refused, retryAt }: QuotaRefusal): string {
  const what = refused === "planner_calls" ? WORDS.planner_calls : WORDS.planner_tokens;
  return `no ${what} are left until ${formatInstant(retryAt)}`;
}

/** In memory, for one session of somebody who has no daemon. */
export class TenantBudget implements PlannerBudget {
  #state: QuotaState;
  readonly #limits: QuotaLimits;

  constructor(quota: PlannerQuota, state: QuotaState = NO_USE) {
    const others = { executionsPerMinute: null, executionBurst: 1, executionsPerMonth: null };
    this.#limits = { ...others, endpoints: null, minIntervalMs: null, ...quota };
    this.#state = state;
  }

  async reserve(tokens: number, now: EpochMs): Promise<Promised> {
    const answer = reservePlanner(this.#state, this.#limits, tokens, now);
    if (!answer.ok) return { ok: false, message: refusalText(answer) };
    this.#state = answer.state;
    const settle = async (usedTokens: number): Promise<void> => {
      this.#state = settlePlanner(this.#state, answer.reservation, usedTokens);
    };
    return { ok: true, settle };
  }
}
