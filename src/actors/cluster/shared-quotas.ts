/**
 * What tenants have used, as all nodes of a store keep it together: the record in the store is the only one. Whoever takes of
 * it puts the new one in the place of the very one that it has looked at, and looks again where another node was faster; so a
 * quota is one quota, however many nodes take of it. What several runs of a node take at once is taken together.
 */
import { hasRoomForEndpoint, type QuotaLimits, type QuotaState } from "../../core/endpoint/quota.js";
import { encodeQuota } from "../../core/endpoint/quota-text.js";
import type { ClusterMember } from "../../persist/cluster.js";
import type { ObjectWrite, StateReader } from "../../persist/store.js";
import type { Decide, QuotaKeeper } from "../endpoints/quota-keeper.js";
import { limitsKey, membersPrefix, storedUse, type TenantUse, useKey } from "../endpoints/tenant-limits.js";
import type { ClusterTurns } from "./turns.js";

interface SharedQuotasPorts {
  readonly member: Pick<ClusterMember, "replaceObject" | "countObjects">;
  readonly reader: Pick<StateReader, "object">;
  readonly turns: Pick<ClusterTurns, "take">;
  write(objects: readonly ObjectWrite[]): Promise<void>;
}

/** One that waits to be judged together with others of its tenant. */
interface Waiting {
  /** What it makes of what there is; to be told only when that is durable. */
  judge(use: TenantUse): { readonly state: QuotaState | null; tell(): void };
  fail(error: unknown): void;
}

export class SharedQuotas implements QuotaKeeper {
  readonly #ports: SharedQuotasPorts;
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #lanes = new Set<Promise<void>>();

  constructor(ports: SharedQuotasPorts) {
    this.#ports = ports;
  }

  use(tenant: string): Promise<TenantUse> {
    return storedUse(this.#ports.reader, tenant);
  }

  change<T>(tenant: string, _isDurable: boolean, decide: Decide<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const judge: Waiting["judge"] = (use) => {
        const { state, answer } = decide(use);
        return { state, tell: () => resolve(answer) };
      };
      const known = this.#waiting.get(tenant);
      if (known !== undefined) {
        known.push({ judge, fail: reject });
        return;
      }
      this.#waiting.set(tenant, [{ judge, fail: reject }]);
      const lane = this.#follow(tenant);
      this.#lanes.add(lane);
      void lane.then(() => this.#lanes.delete(lane));
    });
  }

  setLimits(tenant: string, limits: QuotaLimits, along: readonly ObjectWrite[]): Promise<void> {
    return this.#ports.write([{ key: limitsKey(tenant), text: JSON.stringify(limits) }, ...along]);
  }

  endpoints(tenant: string): Promise<number> {
    return this.#ports.member.countObjects(membersPrefix(tenant));
  }

  /** Where there is a bound they are made one after another: whoever counts has all in view. */
  async addEndpoint(tenant: string, make: () => Promise<void>): Promise<boolean> {
    if ((await this.use(tenant)).limits.endpoints === null) {
      await make();
      return true;
    }
    return this.#ports.turns.take(`endpoints-of/${tenant}`, async () => {
      const { limits } = await this.use(tenant);
      if (limits.endpoints !== null && !hasRoomForEndpoint(limits, await this.endpoints(tenant))) return false;
      await make();
      return true;
    });
  }

  takeOutEndpoint(_tenant: string, takeOut: () => Promise<void>): Promise<void> {
    return takeOut();
  }

  async close(): Promise<void> {
    await Promise.all(this.#lanes);
  }

  /** Whoever comes while some are being judged is judged with the next. */
  async #follow(tenant: string): Promise<void> {
    for (;;) {
      const together = this.#waiting.get(tenant) ?? [];
      if (together.length === 0) break;
      this.#waiting.set(tenant, []);
      try {
        await this.#judged(tenant, together);
      } catch (error) {
        for (const { fail } of together) fail(error);
      }
    }
    this.#waiting.delete(tenant);
  }

  async #judged(tenant: string, together: readonly Waiting[]): Promise<void> {
    const { member, reader } = this.#ports;
    for (;;) {
      const before = await storedUse(reader, tenant);
      let { state } = before;
      const told = together.map(({ judge }) => {
        const judged = judge({ limits: before.limits, state });
        state = judged.state ?? state;
        return judged;
      });
      const isChanged = state !== before.state;
      if (isChanged && !(await member.replaceObject(useKey(tenant), before.text, encodeQuota(state)))) continue;
      for (const { tell } of told) tell();
      return;
    }
  }
}
