/**
 * Compiled expressions of one zone, one for each expression however many tasks share it. When the host travels, all are
 * compiled anew at their next use.
 */
import type { CronFields } from "../core/cron/fields.js";
import { compileSchedule, type Schedule } from "../core/cron/schedule.js";
import type { EpochMs } from "../core/time/instant.js";
import { type Zone, zoneOf } from "../core/time/zone.js";

/** A schedule that remembers its last answers: tasks with one expression ask about the same few minutes. */
export class ZonedCron {
  readonly #schedule: Schedule;
  /** The answer for every instant of `[askedFrom, nextAt)` is `nextAt`. */
  #askedFrom = Number.POSITIVE_INFINITY;
  #nextAt = Number.NEGATIVE_INFINITY;
  #askedAt = Number.NaN;
  #previousAt: EpochMs | null = null;

  constructor(schedule: Schedule) {
    this.#schedule = schedule;
  }

  /** The first occurrence strictly after `after`; Infinity: never. */
  nextAfter(after: EpochMs): EpochMs {
    if (after >= this.#askedFrom && after < this.#nextAt) return this.#nextAt;
    this.#nextAt = this.#schedule.next(after) ?? Number.POSITIVE_INFINITY;
    this.#askedFrom = after;
    return this.#nextAt;
  }

  /** The last occurrence at or before `at`. */
  latestAt(at: EpochMs): EpochMs | null {
    if (at !== this.#askedAt) {
      this.#previousAt = this.#schedule.previous(at);
      this.#askedAt = at;
    }
    return this.#previousAt;
  }
}

export class ZonedCrons {
  #zoneId: string | null = null;
  #zone: Zone | null = null;
  #crons = new Map<CronFields, ZonedCron>();

  get hasZone(): boolean {
    return this.#zone !== null;
  }

  /** Returns whether the zone changed: then everything planned so far is void. */
  moveTo(zoneId: string): boolean {
    if (zoneId === this.#zoneId) return false;
    const zone = zoneOf(zoneId);
    if (!zone.ok) throw new RangeError(zone.error.message);
    const isOther = this.#zone !== zone.value;
    this.#zoneId = zoneId;
    this.#zone = zone.value;
    if (isOther) this.#crons = new Map();
    return isOther;
  }

  of(fields: CronFields): ZonedCron {
    const known = this.#crons.get(fields);
    if (known !== undefined) return known;
    if (this.#zone === null) throw new Error("invariant broken: no zone was set before the first expression was used");
    const cron = new ZonedCron(compileSchedule(fields, this.#zone));
    this.#crons.set(fields, cron);
    return cron;
  }
}
