/** A forecast of a whole store, in a thread where there is one. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Horizon } from "../../core/forecast/horizon.js";
import type { StateReader } from "../../persist/store.js";
import { forecastStore } from "./forecast-store.js";
import { orHere } from "./or-here.js";
import type { Threads } from "./threads.js";
import type { StoreForecast } from "./types.js";

/** A million jobs every minute take a while. */
const PATIENCE_MS = 600_000;

export function forecast(store: StateReader, horizon: Horizon, threads: Threads | null): Promise<StoreForecast> {
  const here = (): Promise<StoreForecast> => forecastStore(store, horizon, () => nextTurn());
  const { source } = store;
  if (threads === null || source === null) return here();
  const { signal } = new AbortController();
  return orHere(threads.run("forecast", { source, horizon }, { signal, timeoutMs: PATIENCE_MS }), here);
}
