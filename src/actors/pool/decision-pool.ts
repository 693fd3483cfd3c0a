/**
 * Computes what is too much for the loop: the plans of all jobs after a start, and the reading of large configurations.
 * Threads are there only while there is work for them.
 */
import { forecast } from "./forecast.js";
import { POOL_LIMITS } from "./limits.js";
import { loadDefinitions } from "./load/load.js";
import { planAll } from "./plan-all.js";
import { Threads } from "./threads.js";
import type { DecisionPool, DecisionPoolOptions } from "./types.js";

export function createDecisionPool({
  threads,
  entry,
  limits: overrides,
  onRefused,
}: DecisionPoolOptions): DecisionPool {
  const limits = { ...POOL_LIMITS, ...overrides };
  const workers = threads > 0 ? new Threads({ threads, entry, limits, onRefused }) : null;
  const width = Math.max(1, threads * limits.batchesPerThread);
  const planning = { threads: workers, width, limits };
  return {
    planAll: (store, options) => planAll(store, options, planning),
    forecast: (store, horizon) => forecast(store, horizon, workers),
    load: (sources, options = {}) => loadDefinitions(sources, options, planning),
    status: () => workers?.status ?? { threads: 0, batches: 0, deaths: 0 },
    close: async () => workers?.close(),
  };
}
