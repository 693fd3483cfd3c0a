import { formatDuration } from "../core/time/duration.js";
import { type EpochMs, formatInstant, SECOND_MS } from "../core/time/instant.js";
import type { Zone } from "../core/time/zone.js";

/** `1 job`, `2 jobs`. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** `2026-03-01 01:00:00 +01:00`: how an instant reads on the wall of a zone. */
export function formatWall(at: EpochMs, zone: Zone): string {
  const offsetMs = zone.offsetMsAt(at);
  const wall = formatInstant(at + offsetMs)
    .replace("T", " ")
    .replace("Z", "");
  return `${wall} ${formatOffset(offsetMs)}`;
}

function formatOffset(offsetMs: number): string {
  const seconds = Math.abs(offsetMs) / SECOND_MS;
  const two = (value: number): string => String(Math.floor(value)).padStart(2, "0");
  const tail = seconds % 60 === 0 ? "" : `:${two(seconds % 60)}`;
  return `${offsetMs < 0 ? "-" : "+"}${two(seconds / 3600)}:${two((seconds / 60) % 60)}${tail}`;
}

/** `in 2h32m20s`, `in 4d13h`, or `5m ago`. */
export function formatDistance(fromAt: EpochMs, toAt: EpochMs): string {
  const seconds = Math.floor(Math.abs(toAt - fromAt) / SECOND_MS);
  if (seconds === 0) return "now";
  return toAt > fromAt ? `in ${roundedDistance(seconds)}` : `${roundedDistance(seconds)} ago`;
}

const DAY_SECONDS = 86_400;
const HOUR_SECONDS = 3_600;

/** To the second within two days; beyond, days and hours say more. */
function roundedDistance(seconds: number): string {
  if (seconds < 2 * DAY_SECONDS) return formatDuration(seconds * SECOND_MS);
  const hours = Math.floor((seconds % DAY_SECONDS) / HOUR_SECONDS);
  return `${Math.floor(seconds / DAY_SECONDS)}d${hours === 0 ? "" : `${hours}h`}`;
}
