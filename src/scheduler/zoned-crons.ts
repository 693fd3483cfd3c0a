/**
 * Compiled expressions, one for each expression and zone however many tasks share it. When the host travels, those of its
 * zone are compiled anew at their next use; those of tasks with a zone of their own stay.
 */
import type { CronFields } from "../core/cron/fields.js";
import { compileSchedule, type Schedule } from "../core/cron/schedule.js";
import type { EpochMs } from "../core/time/instant.js";
import { type Zone, zoneOf } from "../core/time/zone.js";
import type { RegisteredTask } from "./registrations.js";

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

function knownZone(id: string): Zone {
  const zone = zoneOf(id);
  if (!zone.ok) throw new RangeError(zone.error.message);
  return zone.value;
}

/** Compiled expressions of one zone. */
class CronsOfZone {
  readonly #zone: Zone;
  readonly #crons = new Map<CronFields, ZonedCron>();

  constructor(zone: Zone) {
    this.#zone = zone;
  }

  of(fields: CronFields): ZonedCron {
    const known = this.#crons.get(fields);
    if (known !== undefined) return known;
    const cron = new ZonedCron(compileSchedule(fields, this.#zone));
    this.#crons.set(fields, cron);
    return cron;
  }
}

export class ZonedCrons {
  #zoneId: string | null = null;
  #zone: Zone | null = null;
  #crons: CronsOfZone | null = null;
  readonly #ofOwnZone = new Map<string, CronsOfZone>();

  get hasZone(): boolean {
    return this.#zone !== null;
  }

  /** Returns whether the zone changed: then everything planned so far is void. */
  moveTo(zoneId: string): boolean {
    if (zoneId === this.#zoneId) return false;
    const zone = knownZone(zoneId);
    const isOther = this.#zone !== zone;
    this.#zoneId = zoneId;
    this.#zone = zone;
    if (isOther) this.#crons = new CronsOfZone(zone);
    return isOther;
  }

  of({ fields, timeZone }: Pick<RegisteredTask, "fields" | "timeZone">): ZonedCron {
    const crons = timeZone === undefined ? this.#crons : this.#inZone(timeZone);
    if (crons === null) throw new Error("invariant broken: no zone was set before the first expression was used");
    return crons.of(fields);
  }

  #inZone(timeZone: string): CronsOfZone {
    const known = this.#ofOwnZone.get(timeZone);
    if (known !== undefined) return known;
    const crons = new CronsOfZone(knownZone(timeZone));
    this.#ofOwnZone.set(timeZone, crons);
    return crons;
  }
}
