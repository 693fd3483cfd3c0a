/** Reads a registration list for a trace: only what a trace needs, and without the scheduler's own reader. */
import { Temporal } from "temporal-polyfill";
import type { TraceTask } from "./trace.js";

interface ReadRegistrations {
  readonly tasks: readonly TraceTask[];
  /** Why this is no list of 4-tuples of the right types at all. */
  readonly malformed?: string;
}

function isMillis(value: unknown): value is { toMillis(): number } {
  return typeof value === "object" && value !== null && "toMillis" in value && typeof value.toMillis === "function";
}

/** NaN: not a duration. */
function durationMs(value: unknown): number {
  if (typeof value === "number") return value;
  if (isMillis(value)) return value.toMillis();
  try {
    return Temporal.Duration.from(String(value)).total("milliseconds");
  } catch {
    return Number.NaN;
  }
}

function readTask(entry: unknown): TraceTask | null {
  if (!Array.isArray(entry) || entry.length !== 4) return null;
  const [name, cron, callback, delay] = entry as readonly unknown[];
  const retryDelayMs = durationMs(delay);
  if (typeof name !== "string" || typeof cron !== "string" || typeof callback !== "function") return null;
  return Number.isFinite(retryDelayMs) ? { name, cron, retryDelayMs } : null;
}

export function readRegistrations(registrations: unknown): ReadRegistrations {
  if (!Array.isArray(registrations)) return { tasks: [], malformed: "not an array" };
  const tasks = registrations.map(readTask);
  const bad = tasks.indexOf(null);
  const readable = tasks.filter((task) => task !== null);
  return bad < 0
    ? { tasks: readable }
    : { tasks: readable, malformed: `entry ${bad} is no 4-tuple of the right types` };
}
