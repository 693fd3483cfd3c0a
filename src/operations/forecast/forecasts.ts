/**
 * Forecasts of the definitions in force, each computed once however many ask, and again when definitions have changed. Each
 * takes threads and room: there are few at a time, and whoever wants another comes again.
 */
import type { Clock } from "../../actors/clock.js";
import type { DecisionPool, StoreForecast } from "../../actors/pool/types.js";
import type { SupervisorEvent } from "../../actors/supervisor/write/events.js";
import type { Horizon } from "../../core/forecast/horizon.js";
import type { StateReader } from "../../persist/store.js";

/** They take room: the newest few. */
const KEPT = 4;
/** Where other nodes change definitions too, and tell nobody of it. */
const BELIEVED_MS = 30_000;
/** Computed at a time, of whatever definitions. */
const AT_ONCE = 2;
const CHANGING: ReadonlySet<SupervisorEvent["event"]> = new Set(["reschedule", "removed", "config_reloaded"]);

interface Kept {
  readonly computed: Promise<StoreForecast>;
  readonly atMs: number;
}

export class Forecasts {
  readonly #pool: Pick<DecisionPool, "forecast">;
  readonly #store: StateReader;
  readonly #kept = new Map<string, Kept>();
  #underWay = 0;
  /** Among others on the store; null: it hears of every change. */
  readonly #clock: Pick<Clock, "monotonicMs"> | null;

  constructor(
    pool: Pick<DecisionPool, "forecast">,
    store: StateReader,
    clock: Pick<Clock, "monotonicMs"> | null = null,
  ) {
    this.#pool = pool;
    this.#store = store;
    this.#clock = clock;
  }

  /** What was computed of other definitions is not true any more. */
  tell({ event }: SupervisorEvent): void {
    if (CHANGING.has(event)) this.#kept.clear();
  }

  /** null: too many are under way. */
  of(horizon: Horizon): Promise<StoreForecast> | null {
    const name = [horizon.fromAt, horizon.toAt, horizon.bucketMs].join();
    const nowMs = this.#clock?.monotonicMs() ?? 0;
    const known = this.#kept.get(name);
    if (known !== undefined && nowMs - known.atMs < BELIEVED_MS) return known.computed;
    if (this.#underWay >= AT_ONCE) return null;
    const kept = { computed: this.#compute(horizon), atMs: nowMs };
    this.#kept.delete(name);
    this.#kept.set(name, kept);
    // One that failed is not asked for again in vain.
    kept.computed.catch(() => this.#kept.get(name) === kept && this.#kept.delete(name));
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= KEPT) break;
      this.#kept.delete(oldest);
    }
    return kept.computed;
  }

  async #compute(horizon: Horizon): Promise<StoreForecast> {
    this.#underWay += 1;
    try {
      return await this.#pool.forecast(this.#store, horizon);
    } finally {
      this.#underWay -= 1;
    }
  }
}
