/**
 * What a start leaves for the next one: the version of the program, that of the zone data, and the offsets of the zones
 * in use. With it the next start knows what has changed underneath jobs that nobody has touched (S5, S16).
 */
import { DAY_MS, type EpochMs } from "../../core/time/instant.js";
import { offsetSpans, zoneOf } from "../../core/time/zone.js";
import type { StateReader } from "../../persist/store.js";
import type { ZoneUse } from "./zone-use.js";

export const BOOT_NOTE_KEY = "boot.note";

/** From an instant on: its offset from UTC in milliseconds. */
type Offset = readonly [fromAt: EpochMs, offsetMs: number];

export interface BootNote {
  readonly engine: string;
  readonly tz: string;
  /** Jobs that run although this version would reject them (S16). */
  readonly kept: readonly string[];
  /** Offsets are noted from here on, to `untilAt`. */
  readonly fromAt: EpochMs;
  readonly untilAt: EpochMs;
  readonly zones: Readonly<Record<string, readonly Offset[]>>;
}

/** S5. */
interface ZoneDataChange {
  readonly from: string;
  readonly to: string;
  readonly zones: readonly string[];
  /** Jobs in those zones. */
  readonly jobs: number;
}

/** The year that was, which may still be asked about, and those for which people plan. */
const [NOTED_BEFORE_MS, NOTED_AFTER_MS] = [366 * DAY_MS, 5 * 366 * DAY_MS];

export function bootNote(use: ZoneUse, about: Pick<BootNote, "engine" | "tz" | "kept">, now: EpochMs): BootNote {
  const [fromAt, untilAt] = [now - NOTED_BEFORE_MS, now + NOTED_AFTER_MS];
  const ids = [...use.keys()].sort();
  const zones = Object.fromEntries(ids.map((id) => [id, offsetsOf(id, fromAt, untilAt)]));
  return { ...about, fromAt, untilAt, zones };
}

export async function readBootNote(reader: Pick<StateReader, "meta">): Promise<BootNote | null> {
  const text = await reader.meta(BOOT_NOTE_KEY);
  // What an earlier start of ours wrote, under a checksum.
  return text === undefined ? null : (JSON.parse(text) as BootNote);
}

/** Zones whose offsets are not the ones that were noted; null when all are. A zone that is gone has none. */
export function zoneDataChange(before: BootNote, use: ZoneUse, to: string): ZoneDataChange | null {
  const { fromAt, untilAt } = before;
  const zones = Object.entries(before.zones).flatMap(([id, offsets]) => {
    return JSON.stringify(offsetsOf(id, fromAt, untilAt)) === JSON.stringify(offsets) ? [] : [id];
  });
  if (zones.length === 0) return null;
  const jobs = zones.reduce((sum, id) => sum + (use.get(id) ?? 0), 0);
  return { from: before.tz, to, zones, jobs };
}

function offsetsOf(id: string, fromAt: EpochMs, untilAt: EpochMs): readonly Offset[] {
  const zone = zoneOf(id);
  if (!zone.ok) return [];
  return offsetSpans(zone.value, fromAt, untilAt).map(({ startAt, offsetMs }) => [startAt, offsetMs]);
}
