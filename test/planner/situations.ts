/** Situations for tests: an endpoint that runs every five minutes and is well, and what else is said. */
import type { EndedResult, EndedRun } from "../../src/core/endpoint/ended-run.js";
import { healthAt, NO_HEALTH, noteRun } from "../../src/core/endpoint/health.js";
import { HOUR_MS, MINUTE_MS } from "../../src/core/time/instant.js";
import type { EndpointSituation, Situation } from "../../src/planner/model.js";

export const NOW = Date.parse("2026-03-28T12:00:00Z");
export const BASELINE_MS = 5 * MINUTE_MS;

export const PLAIN_ENDPOINT: EndpointSituation = {
  id: "ep_1",
  name: "sync users",
  baseline: { text: "every 5m", intervalMs: BASELINE_MS },
  minIntervalMs: null,
  maxIntervalMs: null,
  hints: { interval: null, oneshot: null },
  pausedUntil: null,
  fasterOnErrors: false,
};

export function situation(
  some: Partial<EndpointSituation> = {},
  runs: readonly EndedRun[] = steady(24 * HOUR_MS),
  more: Partial<Situation> = {},
): Situation {
  const health = healthAt(runs.reduce(noteRun, NO_HEALTH), NOW);
  return { now: NOW, endpoint: { ...PLAIN_ENDPOINT, ...some }, health, siblings: [], ...more };
}

/** One run every five minutes, over so long up to now. */
export function steady(forMs: number, more: Partial<EndedRun> = {}): readonly EndedRun[] {
  const count = Math.floor(forMs / BASELINE_MS);
  return Array.from({ length: count }, (_, at): EndedRun => {
    return { endedAt: NOW - (count - at) * BASELINE_MS, result: "success", durationMs: 200, ...more };
  });
}

/** The newest of these runs ended so. */
export function endingWith(runs: readonly EndedRun[], count: number, result: EndedResult): readonly EndedRun[] {
  return runs.map((run, at) => (at < runs.length - count ? run : { ...run, result }));
}

export function planned(intervalMs: number, reason: string, forMs = HOUR_MS): Partial<EndpointSituation> {
  return { hints: { interval: { intervalMs, expiresAt: NOW + forMs, by: "planner", reason }, oneshot: null } };
}
