/**
 * Where it is kept what tenants have used. A daemon that has its store for itself keeps it in memory and writes it once a
 * second: a crash may forget so much of it, and nothing else.
 */
import { hasRoomForEndpoint, type QuotaLimits, type QuotaState } from "../../core/endpoint/quota.js";
import { encodeQuota } from "../../core/endpoint/quota-text.js";
import type { ObjectWrite } from "../../persist/store.js";
import type { Timer } from "../clock.js";
import type { BookPorts } from "./health-book.js";
import { limitsKey, membersPrefix, storedUse, type TenantUse, useKey } from "./tenant-limits.js";

/** What becomes of what a tenant has used, and what is said of it; `state` null: it stays as it is. Pure, and asked again where it has changed meanwhile. */
export type Decide<T> = (use: TenantUse) => { readonly state: QuotaState | null; readonly answer: T };

export interface QuotaKeeper {
  use(tenant: string): Promise<TenantUse>;
  /** `isDurable`: when it resolves; otherwise soon. */
  change<T>(tenant: string, isDurable: boolean, decide: Decide<T>): Promise<T>;
  /** Durable together with what goes `along`. */
  setLimits(tenant: string, limits: QuotaLimits, along: readonly ObjectWrite[]): Promise<void>;
  /** How many endpoints it has, those included that are being made. */
  endpoints(tenant: string): Promise<number>;
  /** False: there is no room for it. Its place is taken before it is made: of many at once none is too many. */
  addEndpoint(tenant: string, make: () => Promise<void>): Promise<boolean>;
  takeOutEndpoint(tenant: string, takeOut: () => Promise<void>): Promise<void>;
  /** Whatever was counted is durable then. */
  close(): Promise<void>;
}

interface Account {
  limits: QuotaLimits;
  state: QuotaState;
  endpoints: number;
  /** That they have been counted; null: nobody has asked yet. */
  counted: Promise<void> | null;
}

const FLUSH_MS = 1_000;
const COUNTED_AT_ONCE = 10_000;

export class OwnQuotas implements QuotaKeeper {
  readonly #ports: BookPorts;
  readonly #accounts = new Map<string, Promise<Account>>();
  readonly #dirty = new Map<string, Account>();
  #timer: Timer | null = null;
  #isClosed = false;

  constructor(ports: BookPorts) {
    this.#ports = ports;
  }

  async use(tenant: string): Promise<TenantUse> {
    const { limits, state } = await this.#accountOf(tenant);
    return { limits, state };
  }

  async change<T>(tenant: string, isDurable: boolean, decide: Decide<T>): Promise<T> {
    const account = await this.#accountOf(tenant);
    const { state, answer } = decide(account);
    if (state === null) return answer;
    account.state = state;
    if (isDurable) await this.#ports.write([useWrite(tenant, account)]);
    else this.#keep(tenant, account);
    return answer;
  }

  async setLimits(tenant: string, limits: QuotaLimits, along: readonly ObjectWrite[]): Promise<void> {
    const account = await this.#accountOf(tenant);
    await this.#ports.write([{ key: limitsKey(tenant), text: JSON.stringify(limits) }, ...along]);
    account.limits = limits;
  }

  async endpoints(tenant: string): Promise<number> {
    return (await this.#countedOf(tenant)).endpoints;
  }

  async addEndpoint(tenant: string, make: () => Promise<void>): Promise<boolean> {
    const account = await this.#countedOf(tenant);
    if (!hasRoomForEndpoint(account.limits, account.endpoints)) return false;
    account.endpoints += 1;
    try {
      await make();
      return true;
    } catch (error) {
      account.endpoints -= 1;
      throw error;
    }
  }

  async takeOutEndpoint(tenant: string, takeOut: () => Promise<void>): Promise<void> {
    const account = await this.#countedOf(tenant);
    await takeOut();
    account.endpoints -= 1;
  }

  async close(): Promise<void> {
    this.#timer?.cancel();
    this.#isClosed = true;
    await this.#write();
  }

  #keep(tenant: string, account: Account): void {
    this.#dirty.set(tenant, account);
    if (this.#isClosed) return;
    this.#timer ??= this.#ports.clock.after(FLUSH_MS, () => {
      this.#timer = null;
      void this.#write().catch((error: unknown) => this.#ports.onFailure(error));
    });
  }

  async #write(): Promise<void> {
    const writes = [...this.#dirty].map(([tenant, account]) => useWrite(tenant, account));
    this.#dirty.clear();
    if (writes.length > 0) await this.#ports.write(writes);
  }

  /** Counted once, before the first of them is made or taken out by this process; then they are kept up with. */
  async #countedOf(tenant: string): Promise<Account> {
    const account = await this.#accountOf(tenant);
    account.counted ??= this.#count(tenant, account);
    await account.counted;
    return account;
  }

  async #count(tenant: string, account: Account): Promise<void> {
    try {
      account.endpoints = await this.#countEndpoints(tenant);
    } catch (error) {
      account.counted = null;
      throw error;
    }
  }

  async #countEndpoints(tenant: string): Promise<number> {
    const prefix = membersPrefix(tenant);
    let [count, after]: [number, string | undefined] = [0, undefined];
    for (;;) {
      const behind: { after?: string } = after === undefined ? {} : { after };
      const page = await this.#ports.reader.objects({ prefix, limit: COUNTED_AT_ONCE, ...behind });
      count += page.length;
      after = page.at(-1)?.key;
      if (after === undefined || page.length < COUNTED_AT_ONCE) return count;
    }
  }

  #accountOf(tenant: string): Promise<Account> {
    const known = this.#accounts.get(tenant);
    if (known !== undefined) return known;
    const read = this.#read(tenant);
    this.#accounts.set(tenant, read);
    read.catch(() => this.#accounts.delete(tenant));
    return read;
  }

  async #read(tenant: string): Promise<Account> {
    const { limits, state } = await storedUse(this.#ports.reader, tenant);
    return { limits, state, endpoints: 0, counted: null };
  }
}

function useWrite(tenant: string, { state }: Pick<Account, "state">): ObjectWrite {
  return { key: useKey(tenant), text: encodeQuota(state) };
}
