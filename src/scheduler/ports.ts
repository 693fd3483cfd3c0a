/** What was injected, and the host where nothing was. Every option is looked at when it is first needed, not before. */
import type { EpochMs } from "../core/time/instant.js";
import { hostClock, hostId, hostLogger, hostSleeper } from "./host.js";
import { lmdbStore } from "./stores/lmdb.js";
import type { SchedulerClock, SchedulerLogger, SchedulerOptions, Sleeper, TaskStore } from "./types.js";

const DEFAULT_DIRECTORY = "./kron-scheduler";

export class Ports {
  readonly #options: SchedulerOptions;
  #clock: SchedulerClock | undefined;
  #sleeper: Sleeper | undefined;
  #store: TaskStore | undefined;
  #logger: SchedulerLogger | undefined;
  #lastNow: EpochMs = 0;

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  get clock(): SchedulerClock {
    this.#clock ??= this.#options.clock ?? hostClock;
    return this.#clock;
  }

  get sleeper(): Sleeper {
    this.#sleeper ??= this.#options.sleeper ?? hostSleeper();
    return this.#sleeper;
  }

  get store(): TaskStore {
    this.#store ??= this.#options.store ?? lmdbStore(this.#options.directory ?? DEFAULT_DIRECTORY);
    return this.#store;
  }

  get logger(): SchedulerLogger {
    this.#logger ??= this.#options.logger ?? hostLogger;
    return this.#logger;
  }

  get inspect(): SchedulerOptions["inspect"] {
    return this.#options.inspect;
  }

  get onEvent(): SchedulerOptions["onEvent"] {
    return this.#options.onEvent;
  }

  /** The zone that was asked for, be it by name or by a clock; that of the host where neither was given. */
  timeZone(): string {
    return this.#options.timeZone ?? this.clock.timeZone();
  }

  /** Whose the zone is: one that was asked for must exist, that of the host is what it is. */
  get isZoneInjected(): boolean {
    return this.#options.timeZone !== undefined || this.#options.clock !== undefined;
  }

  newId(): string {
    const id: unknown = this.#options.newId?.() ?? hostId();
    if (typeof id !== "string" || id === "") throw new TypeError("newId must return a non-empty string");
    return id;
  }

  /** Whole milliseconds of the injected clock. */
  now(): EpochMs {
    const now = Math.floor(this.clock.now());
    if (!Number.isSafeInteger(now)) throw new RangeError(`the clock returned ${now}, which is no instant`);
    this.#lastNow = now;
    return now;
  }

  /** Where there is no way to fail, such as the end of a run: the last good reading when the clock has none. */
  lenientNow(): EpochMs {
    try {
      return this.now();
    } catch {
      return this.#lastNow;
    }
  }
}
