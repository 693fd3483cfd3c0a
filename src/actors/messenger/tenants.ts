/**
 * Messages about endpoints are their tenant's. So many in a minute go out for each, over all the places that its endpoints
 * name: nobody can make a host send more, by however many addresses.
 */
import { endpointName } from "../../core/endpoint/endpoint-name.js";
import type { Message } from "../../core/notify/notice.js";
import { type EpochMs, MINUTE_MS } from "../../core/time/instant.js";

/** Tries that fail count too. */
export const TENANT_PER_MINUTE = 60;

/** The job that it is about; of a group, that of the first. */
export function identityOf({ identity, events }: Message): string {
  if (identity !== "") return identity;
  const [first] = (events ?? []) as readonly Message[];
  return first?.identity ?? "";
}

/** null: it is about a job of the host's own. */
export function tenantOf(message: Message): string | null {
  return endpointName(identityOf(message))?.tenant ?? null;
}

export class TenantPaces {
  readonly #triedAt = new Map<string, readonly EpochMs[]>();

  /** When the next one may go; null: now. */
  waitsUntil(tenant: string | null, now: EpochMs): EpochMs | null {
    if (tenant === null) return null;
    const recent = this.#recent(tenant, now);
    return recent.length < TENANT_PER_MINUTE ? null : (recent[0] ?? now) + MINUTE_MS;
  }

  tried(tenant: string | null, now: EpochMs): void {
    if (tenant !== null) this.#triedAt.set(tenant, [...this.#recent(tenant, now), now]);
  }

  /** Nothing is kept of those that are silent. */
  sweep(now: EpochMs): void {
    for (const tenant of this.#triedAt.keys()) {
      if (this.#recent(tenant, now).length === 0) this.#triedAt.delete(tenant);
    }
  }

  /** A clock that went back must not silence anybody. */
  #recent(tenant: string, now: EpochMs): readonly EpochMs[] {
    return (this.#triedAt.get(tenant) ?? []).filter((at) => at > now - MINUTE_MS && at <= now);
  }
}
