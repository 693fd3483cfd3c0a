/** What a tenant may use, as it is written, and what it has used, as both lie in the store. */
import { z } from "zod";
import { jsonIn } from "../../core/base/fields.js";
import { LIMITS } from "../../core/base/limits.js";
import { NO_USE, type QuotaLimits, type QuotaState } from "../../core/endpoint/quota.js";
import { decodeQuota } from "../../core/endpoint/quota-text.js";
import type { StateReader } from "../../persist/store.js";

const MOST = 1e12;

const bound = z.int().min(0).max(MOST).nullable().default(null);
const interval = z.int().min(0).max(LIMITS.intervalMs.max).nullable().default(null);
const pace = z.int().min(1).max(6_000_000).nullable().default(null);

export const TENANT_LIMITS = z.strictObject({
  executionsPerMinute: pace.meta({ description: "Evenly; null: without bound." }),
  executionBurst: z.int().min(1).max(1_000_000).default(10),
  executionsPerMonth: bound.meta({ description: "Of the calendar, in UTC." }),
  plannerCallsPerDay: bound,
  plannerTokensPerDay: bound,
  endpoints: bound,
  minIntervalMs: interval.meta({ description: "No endpoint may be made to run more often." }),
});

export const NO_LIMITS: QuotaLimits = Object.freeze(TENANT_LIMITS.parse({}));

export interface TenantUse {
  readonly limits: QuotaLimits;
  readonly state: QuotaState;
}

interface StoredUse extends TenantUse {
  /** What the state was read from; null: nothing is on record. */
  readonly text: string | null;
}

export async function storedUse(reader: Pick<StateReader, "object">, tenant: string): Promise<StoredUse> {
  const [limits, used] = await Promise.all([reader.object(limitsKey(tenant)), reader.object(useKey(tenant))]);
  const known = limits?.isIntact === true ? TENANT_LIMITS.safeParse(jsonIn(limits.text)) : null;
  const state = used?.isIntact === true ? decodeQuota(used.text) : null;
  return {
    limits: known?.success === true ? known.data : NO_LIMITS,
    state: state ?? NO_USE,
    text: used?.text ?? null,
  };
}

export function limitsKey(tenant: string): string {
  return `limits/${tenant}`;
}

export function useKey(tenant: string): string {
  return `quota/${tenant}`;
}

/** One for each endpoint, and next to nothing to read. */
export function membersPrefix(tenant: string): string {
  return `member/${tenant}/`;
}
