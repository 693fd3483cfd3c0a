/** The load of all definitions in force, as they lie in a store: the same forecast as that of a configuration. */
import { Forecaster } from "../../core/forecast/forecaster.js";
import type { Horizon } from "../../core/forecast/horizon.js";
import type { Series } from "../../core/forecast/series.js";
import { storedDefinition } from "../../core/job/stored.js";
import { currentDefinitions, type StateReader } from "../../persist/store.js";
import type { SeriesCounts, StoreForecast } from "./types.js";

/** `turn` is called now and then: it may throw, or let others have a turn. */
export async function forecastStore(
  store: StateReader,
  horizon: Horizon,
  turn: () => void | Promise<void>,
): Promise<StoreForecast> {
  const forecaster = new Forecaster(horizon, { by: "identity", hasDurations: false });
  for await (const page of currentDefinitions(store)) {
    for (const [index, { text, isIntact }] of page.entries()) {
      if (index % JOBS_A_TURN === 0) await turn();
      const definition = text === null || !isIntact ? null : storedDefinition(text);
      // By identity nothing is refused.
      if (definition !== null) forecaster.add(definition);
    }
  }
  const { jobs, suspended, unschedulable, chosen, nominal } = forecaster.result();
  return { jobs, suspended, unschedulable, chosen: countsOf(chosen), nominal: countsOf(nominal) };
}

const JOBS_A_TURN = 16;

function countsOf(series: Series): SeriesCounts {
  const who = Array.from(series.counts, (count, bucket) => (count === 0 ? null : series.contributorsOf(bucket)));
  return { counts: series.counts, total: series.total, who };
}
