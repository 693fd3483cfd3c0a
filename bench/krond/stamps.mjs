/** What the started commands wrote down: when each of them began, next to when it was to. */
import { readFileSync } from "node:fs";
import { quantile } from "../lib/measure.mjs";

/**
 * Times in milliseconds since 1970, to the microsecond, from lines of nanoseconds, which a number cannot hold. What is
 * still being written is left out.
 */
export function parseStamps(text) {
  const lines = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
  return lines.filter((line) => line !== "").map((line) => Number(line.slice(0, -3)) / 1000);
}

export function readStamps(file) {
  try {
    return parseStamps(readFileSync(file, "utf8"));
  } catch {
    return [];
  }
}

/** In milliseconds; `rate` is starts a second from the chosen time to the last start. */
export function latenessOf(stamps, dueAt) {
  const lateness = stamps.map((at) => at - dueAt);
  const last = quantile(lateness, 1);
  return {
    count: stamps.length,
    p50: quantile(lateness, 0.5),
    p99: quantile(lateness, 0.99),
    last,
    rate: last === null ? null : (stamps.length * 1000) / last,
    early: lateness.filter((ms) => ms < 0).length,
  };
}
