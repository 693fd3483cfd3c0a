/** What `Restart=` of a service means for a job: further attempts of a run that failed (S43). */
import { LIMITS } from "../../base/limits.js";
import { formatDuration } from "../../time/duration.js";
import { SECOND_MS } from "../../time/instant.js";
import type { UnitNotes } from "./report.js";
import { parseTimeSpan } from "./time-span.js";
import type { Unit, UnitEntry } from "./unit.js";
import { lastOf } from "./values.js";

/** What systemd takes where nothing is said. */
const USUAL = { restartMs: 100, burst: 5, intervalMs: 10 * SECOND_MS } as const;

export interface Repeats {
  readonly entry: UnitEntry;
  /** As the field `retry` of a job. */
  readonly retry: Readonly<Record<string, unknown>>;
}

/** null: nothing is repeated, or nothing that a job can say. */
export function repeatsOf(service: Unit, notes: UnitNotes): Repeats | null {
  const entry = lastOf(service, "Service", "Restart");
  if (entry === null || entry.value === "no") return null;
  if (entry.value !== "on-failure") {
    notes.say(entry, "unsupported", "a run is repeated after any failure, and never after a success: see retry");
    return null;
  }
  const restartMs = spanOf(lastOf(service, "Service", "RestartSec"), USUAL.restartMs, notes);
  const backoff = formatDuration(Math.max(SECOND_MS, Math.round(restartMs / SECOND_MS) * SECOND_MS));
  const retry = { limit: limitOf(service, restartMs, notes), backoff, max_backoff: backoff };
  notes.say(
    entry,
    "noted",
    `becomes retry, at most ${retry.limit} times, ${backoff} apart, never into the next period`,
  );
  return { entry, retry };
}

/** systemd gives up after so many starts within the interval: where they are too slow for that, never. */
function limitOf(service: Unit, restartMs: number, notes: UnitNotes): number {
  const written = lastOf(service, "Unit", "StartLimitBurst")?.value ?? "";
  const burst = /^\d{1,9}$/.test(written) ? Number(written) : USUAL.burst;
  const intervalMs = spanOf(lastOf(service, "Unit", "StartLimitIntervalSec"), USUAL.intervalMs, notes);
  const isEver = burst > 0 && intervalMs > 0 && (burst - 1) * restartMs < intervalMs;
  return isEver ? Math.min(LIMITS.retries, Math.max(1, burst - 1)) : LIMITS.retries;
}

function spanOf(entry: UnitEntry | null, usualMs: number, notes: UnitNotes): number {
  if (entry === null) return usualMs;
  const ms = parseTimeSpan(entry.value);
  if (ms === null) notes.refuse(entry, `"${entry.value}" is not a time span`, "write it like 1h 30min");
  return ms ?? usualMs;
}
