/**
 * A time zone as stretches of constant UTC offset, so that a search never converts candidate by candidate. The
 * stretches are asked of Temporal in chunks of about four years when they are first needed (about a millisecond each,
 * so that no zone stalls an event loop) and found through a table of equal buckets in constant time.
 */
import type { Problem } from "../base/problem.js";
import { err, ok, type Result } from "../base/result.js";
import { daysFromCivil } from "./civil.js";
import { DAY_MS, type EpochMs } from "./instant.js";
import { canonicalZoneId, offsetChanges, offsetMsOf } from "./temporal.js";

/**
 * The instants for which zones are known and schedules searched: `[fromAt, untilAt)`. Outside, the nearest offset
 * inside is used, and searches end.
 */
export const SUPPORTED_INSTANTS = { fromAt: 0, untilAt: daysFromCivil(2200, 1, 1) * DAY_MS } as const;

/**
 * `[startAt, endAt)` with one offset. Two neighbours may have the same offset (a long stretch is cut where chunks meet);
 * the first begins at -Infinity, the last ends at Infinity.
 */
export interface ZoneSpan {
  readonly startAt: EpochMs;
  readonly endAt: EpochMs;
  readonly offsetMs: number;
}

export interface Zone {
  /** The zone's name in its usual capitals, or a fixed offset like `+05:30`. */
  readonly id: string;
  offsetMsAt(at: EpochMs): number;
  spanAt(at: EpochMs): ZoneSpan;
}

/** About 25 days: no real zone changes more than a few times within one. */
const BUCKET_MS = 2 ** 31;
const BUCKETS_PER_CHUNK = 64;
const CHUNK_MS = BUCKET_MS * BUCKETS_PER_CHUNK;
const CHUNKS = Math.ceil((SUPPORTED_INSTANTS.untilAt - SUPPORTED_INSTANTS.fromAt) / CHUNK_MS);

interface Chunk {
  readonly startAt: EpochMs;
  readonly spans: readonly ZoneSpan[];
  /** For each bucket the index of the span in which it begins. */
  readonly firstSpan: Uint8Array;
}

function chunkSpans(zoneId: string, startAt: EpochMs, endAt: EpochMs, isFirst: boolean, isLast: boolean): ZoneSpan[] {
  const starts = [
    { at: isFirst ? Number.NEGATIVE_INFINITY : startAt, offsetMs: offsetMsOf(zoneId, startAt) },
    ...offsetChanges(zoneId, startAt, endAt),
  ];
  const end = isLast ? Number.POSITIVE_INFINITY : endAt;
  return starts.map(({ at, offsetMs }, i) => ({ startAt: at, endAt: starts[i + 1]?.at ?? end, offsetMs }));
}

function buildChunk(zoneId: string, index: number): Chunk {
  const startAt = SUPPORTED_INSTANTS.fromAt + index * CHUNK_MS;
  const spans = chunkSpans(zoneId, startAt, startAt + CHUNK_MS, index === 0, index === CHUNKS - 1);
  const firstSpan = new Uint8Array(BUCKETS_PER_CHUNK);
  let span = 0;
  for (let bucket = 0; bucket < BUCKETS_PER_CHUNK; bucket++) {
    while ((spans[span] as ZoneSpan).endAt <= startAt + bucket * BUCKET_MS) span++;
    firstSpan[bucket] = span;
  }
  return { startAt, spans, firstSpan };
}

/** One class for named zones and fixed offsets alike keeps the calls of the search monomorphic. */
class SpannedZone implements Zone {
  readonly id: string;
  /** Empty for a fixed offset: its only span is found before chunks are looked at. */
  readonly #chunks: (Chunk | undefined)[] = [];
  #last: ZoneSpan;

  constructor(id: string, fixed: ZoneSpan | null) {
    this.id = id;
    this.#last = fixed ?? { startAt: Number.POSITIVE_INFINITY, endAt: Number.POSITIVE_INFINITY, offsetMs: 0 };
  }

  offsetMsAt(at: EpochMs): number {
    return this.spanAt(at).offsetMs;
  }

  spanAt(at: EpochMs): ZoneSpan {
    const last = this.#last;
    if (at >= last.startAt && at < last.endAt) return last;
    return this.#find(at);
  }

  #find(at: EpochMs): ZoneSpan {
    if (!Number.isFinite(at)) throw new Error(`invariant broken: a zone was asked about ${at}`);
    const wanted = Math.floor((at - SUPPORTED_INSTANTS.fromAt) / CHUNK_MS);
    const index = wanted < 0 ? 0 : wanted >= CHUNKS ? CHUNKS - 1 : wanted;
    const chunk = this.#chunks[index] ?? this.#build(index);
    const offsetInChunk = at - chunk.startAt;
    const bucket = Math.min(BUCKETS_PER_CHUNK - 1, Math.max(0, Math.floor(offsetInChunk / BUCKET_MS)));
    let i = chunk.firstSpan[bucket] as number;
    let span = chunk.spans[i] as ZoneSpan;
    while (at >= span.endAt) span = chunk.spans[++i] as ZoneSpan;
    this.#last = span;
    return span;
  }

  #build(index: number): Chunk {
    const chunk = buildChunk(this.id, index);
    this.#chunks[index] = chunk;
    return chunk;
  }
}

const FIXED_OFFSET = /^([+-])([01]\d|2[0-3])(?::?([0-5]\d))?$/;
const ZONE_NAME = /^[a-z][a-z0-9_+/-]{1,63}$/i;

function fixedZone(parts: RegExpExecArray): Zone {
  const minutes = Number(parts[2]) * 60 + Number(parts[3] ?? 0);
  const sign = parts[1] === "-" && minutes > 0 ? "-" : "+";
  const id = `${sign}${parts[2]}:${parts[3] ?? "00"}`;
  const offsetMs = (sign === "-" ? -minutes : minutes) * 60_000;
  return new SpannedZone(id, { startAt: Number.NEGATIVE_INFINITY, endAt: Number.POSITIVE_INFINITY, offsetMs });
}

function namedZone(id: string): Zone | null {
  const canonical = ZONE_NAME.test(id) ? canonicalZoneId(id) : null;
  // Temporal also reads zones out of whole timestamps; here only a name is a name.
  if (canonical === null || canonical.toLowerCase() !== id.toLowerCase()) return null;
  const isUtc = canonical === "UTC";
  return new SpannedZone(
    canonical,
    isUtc ? { startAt: Number.NEGATIVE_INFINITY, endAt: Number.POSITIVE_INFINITY, offsetMs: 0 } : null,
  );
}

/** Grows to the few hundred names and offsets that exist, in the spellings that were used. */
const zones = new Map<string, Zone>();

function sharedZone(zone: Zone): Zone {
  const shared = zones.get(zone.id) ?? zone;
  zones.set(zone.id, shared);
  return shared;
}

/** Finds a zone by its IANA name in any capitals, or by a fixed offset. The same zone is always the same object. */
export function zoneOf(id: string): Result<Zone, Problem> {
  const known = zones.get(id);
  if (known !== undefined) return ok(known);
  const parts = FIXED_OFFSET.exec(id);
  const zone = parts === null ? namedZone(id) : fixedZone(parts);
  if (zone !== null) return ok(sharedZone(zone));
  return err({
    code: "timezone-unknown",
    message: `unknown time zone "${id.slice(0, 64)}"`,
    path: [],
    span: { start: 0, end: id.length },
    hint: "write an IANA name like Europe/Berlin, or an offset like +01:00",
  });
}

/**
 * The offsets of a zone over `[fromAt, untilAt)`, oldest first, as few spans as possible: what a store remembers of the
 * zone data it planned with (S5). The first begins at `fromAt`, the last ends at `untilAt`.
 */
export function offsetSpans(zone: Zone, fromAt: EpochMs, untilAt: EpochMs): readonly ZoneSpan[] {
  const spans: ZoneSpan[] = [];
  for (let at = fromAt; at < untilAt; ) {
    const { endAt, offsetMs } = zone.spanAt(at);
    const until = Math.min(endAt, untilAt);
    const last = spans.at(-1);
    if (last?.offsetMs === offsetMs) spans[spans.length - 1] = { ...last, endAt: until };
    else spans.push({ startAt: at, endAt: until, offsetMs });
    at = until;
  }
  return spans;
}
