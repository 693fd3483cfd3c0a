/**
 * What tenants may use and have used. A run takes its share before anything is made ready for it, and gives it back if nothing
 * came of that. What a planner is promised costs money, and is durable before anything is sent.
 */
import { endpointName } from "../../core/endpoint/endpoint-name.js";
import {
  hasRoomForEndpoint,
  type PlannerReservation,
  type QuotaLimits,
  type QuotaRefusal,
  reservePlanner,
  settlePlanner,
  takeRun,
} from "../../core/endpoint/quota.js";
import type { ObjectWrite } from "../../persist/store.js";
import type { BookPorts } from "./health-book.js";
import { OwnQuotas, type QuotaKeeper } from "./quota-keeper.js";
import type { TenantUse } from "./tenant-limits.js";

type Promised = { readonly ok: true; readonly reservation: PlannerReservation } | QuotaRefusal;

const US_PER_MINUTE = 60_000_000;

export class QuotaBook {
  readonly #ports: Pick<BookPorts, "clock">;
  readonly #keeper: QuotaKeeper;

  constructor(ports: BookPorts, keeper: QuotaKeeper = new OwnQuotas(ports)) {
    this.#ports = ports;
    this.#keeper = keeper;
  }

  /** null: it may begin, and its share is taken. */
  async takeRun(identity: string): Promise<QuotaRefusal | null> {
    const tenant = endpointName(identity)?.tenant;
    if (tenant === undefined) return null;
    return this.#keeper.change(tenant, false, ({ state, limits }) => {
      const taken = takeRun(state, limits, this.#ports.clock.now());
      return taken.ok ? { state: taken.state, answer: null } : { state: null, answer: taken };
    });
  }

  /** What would be said to one more run of a tenant now; null: nothing is in its way. */
  async refusal(tenant: string): Promise<QuotaRefusal | null> {
    const { state, limits } = await this.#keeper.use(tenant);
    const taken = takeRun(state, limits, this.#ports.clock.now());
    return taken.ok ? null : taken;
  }

  /** Nothing came of it. */
  async giveBackRun(identity: string): Promise<void> {
    const tenant = endpointName(identity)?.tenant;
    if (tenant === undefined) return;
    await this.#keeper.change(tenant, false, ({ state, limits: { executionsPerMinute } }) => {
      const apartUs = executionsPerMinute === null ? 0 : Math.ceil(US_PER_MINUTE / executionsPerMinute);
      const dueUs = Math.max(0, state.dueUs - apartUs);
      const executions = Math.max(0, state.executions - 1);
      return { state: { ...state, dueUs, executions }, answer: undefined };
    });
  }

  /** For one request to a model. What is never settled stays used. */
  reservePlanner(tenant: string, tokens: number): Promise<Promised> {
    return this.#keeper.change<Promised>(tenant, true, ({ state, limits }) => {
      const reserved = reservePlanner(state, limits, tokens, this.#ports.clock.now());
      if (!reserved.ok) return { state: null, answer: reserved };
      return { state: reserved.state, answer: { ok: true, reservation: reserved.reservation } };
    });
  }

  async settlePlanner(tenant: string, reservation: PlannerReservation, usedTokens: number): Promise<void> {
    await this.#keeper.change(tenant, false, ({ state }) => {
      return { state: settlePlanner(state, reservation, usedTokens), answer: undefined };
    });
  }

  use(tenant: string): Promise<TenantUse> {
    return this.#keeper.use(tenant);
  }

  /** Durable together with what goes `along`; from then on it holds. */
  setLimits(tenant: string, limits: QuotaLimits, along: readonly ObjectWrite[] = []): Promise<void> {
    return this.#keeper.setLimits(tenant, limits, along);
  }

  /** How many endpoints it has, those included that are being made. */
  endpoints(tenant: string): Promise<number> {
    return this.#keeper.endpoints(tenant);
  }

  async hasRoom(tenant: string): Promise<boolean> {
    const { limits } = await this.#keeper.use(tenant);
    return limits.endpoints === null || hasRoomForEndpoint(limits, await this.#keeper.endpoints(tenant));
  }

  /** False: there is no room for it. */
  addEndpoint(tenant: string, make: () => Promise<void>): Promise<boolean> {
    return this.#keeper.addEndpoint(tenant, make);
  }

  takeOutEndpoint(tenant: string, takeOut: () => Promise<void>): Promise<void> {
    return this.#keeper.takeOutEndpoint(tenant, takeOut);
  }

  close(): Promise<void> {
    return this.#keeper.close();
  }
}
