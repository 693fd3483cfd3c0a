/** What a tenant's planner may still use, by the book in which everything is that tenants use. */
import type { QuotaBook } from "../../actors/endpoints/quota-book.js";
import { type PlannerBudget, refusalText } from "../../planner/budget.js";

export function budgetOf(quotas: Pick<QuotaBook, "reservePlanner" | "settlePlanner">, tenant: string): PlannerBudget {
  return {
    reserve: async (tokens) => {
      const answer = await quotas.reservePlanner(tenant, tokens);
      if (!answer.ok) return { ok: false, message: refusalText(answer) };
      const { reservation } = answer;
      return { ok: true, settle: (usedTokens) => quotas.settlePlanner(tenant, reservation, usedTokens) };
    },
  };
}
