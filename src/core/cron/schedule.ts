/**
 * A compiled schedule: its nominal times as instants (S3). The wall-clock search knows no zone, the zone knows no
 * expression; here they meet, one stretch of constant offset at a time. Nothing is allocated per search.
 */
import type { DstRule } from "../time/dst.js";
import { type EpochMs, MINUTE_MS } from "../time/instant.js";
import { SUPPORTED_INSTANTS, type Zone, type ZoneSpan } from "../time/zone.js";
import type { CronFields } from "./fields.js";
import { smallestGapMinutes } from "./smallest-gap.js";
import { WallMatcher } from "./wall-matcher.js";

export interface Schedule {
  /** The first nominal time strictly after `after`, or null when there is none in the supported instants. */
  next(after: EpochMs): EpochMs | null;
  /** The last nominal time at or before `at`, or null when there is none in the supported instants. */
  previous(at: EpochMs): EpochMs | null;
  /** Every nominal time with `from <= t < to`, oldest first. */
  between(from: EpochMs, to: EpochMs): Iterable<EpochMs>;
  matches(at: EpochMs): boolean;
  /** S11: smallest distance between two nominal times on the wall clock; Infinity for a schedule that never occurs. */
  readonly smallestGapMs: number;
}

/** S3: what holds unless a job says otherwise. */
export const DEFAULT_DST: DstRule = { gap: "skip", overlap: "both" };

const { fromAt: FROM_AT, untilAt: UNTIL_AT } = SUPPORTED_INSTANTS;

/**
 * More than any two offsets differ (UTC-12 to UTC+14). When a candidate lies further than this behind the end of a
 * stretch, and the stretch reaches further than this, then no clock change in between can read as late as the candidate
 * or show again what was already searched: the stretches in between are passed over.
 */
const LARGEST_SHIFT_MS = 48 * 60 * MINUTE_MS;

const NOWHERE: ZoneSpan = { startAt: 0, endAt: 0, offsetMs: 0 };

function requireNumber(at: EpochMs): void {
  if (Number.isNaN(at)) throw new Error("invariant broken: a schedule was asked about NaN");
}

class ZonedSchedule implements Schedule {
  readonly #wall: WallMatcher;
  readonly #zone: Zone;
  readonly #fillsGaps: boolean;
  readonly #overlap: DstRule["overlap"];
  /** The stretch of the last search: searches tend to stay near each other. */
  #span: ZoneSpan = NOWHERE;
  #gapMs = 0;

  constructor(fields: CronFields, zone: Zone, dst: DstRule) {
    this.#wall = new WallMatcher(fields);
    this.#zone = zone;
    this.#fillsGaps = dst.gap === "next";
    this.#overlap = dst.overlap;
  }

  get smallestGapMs(): number {
    if (this.#gapMs === 0) this.#gapMs = smallestGapMinutes(this.#wall) * MINUTE_MS;
    return this.#gapMs;
  }

  next(after: EpochMs): EpochMs | null {
    if (!(after >= FROM_AT && after < UNTIL_AT)) return this.#nextFromOutside(after);
    let span = this.#span;
    if (!(after >= span.startAt && after < span.endAt)) {
      span = this.#zone.spanAt(after);
      this.#span = span;
    }
    const offsetMs = span.offsetMs;
    const wall = this.#wall.next((Math.floor((after + offsetMs) / MINUTE_MS) + 1) | 0);
    const at = wall * MINUTE_MS - offsetMs;
    if (at < span.endAt && at < UNTIL_AT && this.#overlap === "both" && !this.#fillsGaps) return at;
    return this.#nextAcross(after, span, wall);
  }

  previous(at: EpochMs): EpochMs | null {
    if (!(at >= FROM_AT && at < UNTIL_AT)) return this.#previousFromOutside(at);
    let span = this.#span;
    if (!(at >= span.startAt && at < span.endAt)) {
      span = this.#zone.spanAt(at);
      this.#span = span;
    }
    const offsetMs = span.offsetMs;
    const wall = this.#wall.previous(Math.floor((at + offsetMs) / MINUTE_MS) | 0);
    const found = wall * MINUTE_MS - offsetMs;
    if (found >= span.startAt && found >= FROM_AT && this.#overlap === "both" && !this.#fillsGaps) return found;
    return this.#previousAcross(at, span, wall);
  }

  *between(from: EpochMs, to: EpochMs): Iterable<EpochMs> {
    for (let at = this.next(Math.ceil(from) - 1); at !== null && at < to; at = this.next(at)) yield at;
  }

  matches(at: EpochMs): boolean {
    return this.previous(at) === at;
  }

  #nextFromOutside(after: EpochMs): EpochMs | null {
    requireNumber(after);
    if (after >= UNTIL_AT) return null;
    return this.matches(FROM_AT) ? FROM_AT : this.next(FROM_AT);
  }

  #previousFromOutside(at: EpochMs): EpochMs | null {
    requireNumber(at);
    return at < FROM_AT ? null : this.previous(UNTIL_AT - 1);
  }

  /** The general search: `firstWall` is the first match after `after` on the wall of `first`, wherever that span ends. */
  #nextAcross(after: EpochMs, first: ZoneSpan, firstWall: number): EpochMs | null {
    if (gapEnd(first) > after && this.#isFilled(first)) return gapEnd(first);
    let from = after;
    let span = first;
    let wall = firstWall;
    for (;;) {
      const at = wall * MINUTE_MS - span.offsetMs;
      if (at < span.endAt) {
        if (at >= UNTIL_AT) return null;
        if (this.#isKept(at, span)) return at;
        // Searched up to here: what comes again after a clock change soon behind it must not be passed over.
        from = at;
        wall = this.#wall.next(wall + 1);
      } else if (span.endAt >= UNTIL_AT || (isFar(at, UNTIL_AT) && isFar(span.endAt, from))) {
        return null;
      } else if (isFar(at, span.endAt) && isFar(span.endAt, from)) {
        from = at - LARGEST_SHIFT_MS;
        span = this.#zone.spanAt(from);
      } else {
        from = span.endAt;
        span = this.#zone.spanAt(from);
        if (this.#isFilled(span)) return gapEnd(span);
        wall = this.#wall.next(firstWallMinute(span));
      }
    }
  }

  /** Mirror image of `nextAcross`. */
  #previousAcross(at: EpochMs, last: ZoneSpan, lastWall: number): EpochMs | null {
    let upTo = at;
    let span = last;
    let wall = lastWall;
    for (;;) {
      const found = wall * MINUTE_MS - span.offsetMs;
      if (found >= span.startAt) {
        if (found < FROM_AT) return null;
        if (this.#isKept(found, span)) return found;
        upTo = found;
        wall = this.#wall.previous(wall - 1);
      } else if (this.#isFilled(span) && gapEnd(span) <= at) {
        return gapEnd(span);
      } else if (isFar(FROM_AT, found) && isFar(upTo, span.startAt)) {
        return null;
      } else if (isFar(span.startAt, found) && isFar(upTo, span.startAt)) {
        upTo = found + LARGEST_SHIFT_MS;
        span = this.#zone.spanAt(upTo);
      } else {
        upTo = span.startAt;
        span = this.#zone.spanAt(upTo - 1);
        wall = this.#wall.previous(Math.ceil((span.endAt + span.offsetMs) / MINUTE_MS) - 1);
      }
    }
  }

  /** Whether the clock change at the start of `span` skipped a match that this schedule makes up for (S3, gap: next). */
  #isFilled(span: ZoneSpan): boolean {
    if (!this.#fillsGaps || span.startAt < FROM_AT) return false;
    const before = this.#zone.spanAt(span.startAt - 1);
    const skipped = Math.ceil((span.startAt + before.offsetMs) / MINUTE_MS);
    return this.#wall.next(skipped) < firstWallMinute(span);
  }

  /** Whether a match survives the rule for wall times that occur more than once (S3, overlap). */
  #isKept(at: EpochMs, span: ZoneSpan): boolean {
    if (this.#overlap === "both") return true;
    return this.#overlap === "first" ? !this.#occursBefore(at, span) : !this.#occursAfter(at, span);
  }

  #occursBefore(at: EpochMs, span: ZoneSpan): boolean {
    for (let other = span; !isFar(at, other.startAt); ) {
      other = this.#zone.spanAt(other.startAt - 1);
      if (isWithin(at + span.offsetMs - other.offsetMs, other)) return true;
    }
    return false;
  }

  #occursAfter(at: EpochMs, span: ZoneSpan): boolean {
    for (let other = span; !isFar(other.endAt, at); ) {
      other = this.#zone.spanAt(other.endAt);
      if (isWithin(at + span.offsetMs - other.offsetMs, other)) return true;
    }
    return false;
  }
}

function isWithin(at: EpochMs, span: ZoneSpan): boolean {
  return at >= span.startAt && at < span.endAt;
}

function isFar(later: EpochMs, earlier: EpochMs): boolean {
  return later - earlier > LARGEST_SHIFT_MS;
}

/** Offsets with seconds exist (Monrovia until 1972): nominal times are the whole minutes of the wall. */
function firstWallMinute(span: ZoneSpan): number {
  return Math.ceil((span.startAt + span.offsetMs) / MINUTE_MS);
}

/** The first whole wall minute of a span: what `gap: next` turns skipped times into. */
function gapEnd(span: ZoneSpan): EpochMs {
  return firstWallMinute(span) * MINUTE_MS - span.offsetMs;
}

export function compileSchedule(fields: CronFields, zone: Zone, dst: DstRule = DEFAULT_DST): Schedule {
  return new ZonedSchedule(fields, zone, dst);
}
