/** What looks on for those who ask later. */
import type { Clock } from "../../actors/clock.js";
import type { DecisionPool } from "../../actors/pool/types.js";
import { Forecasts } from "../../operations/forecast/forecasts.js";
import { RunEnds } from "../../operations/now/run-ends.js";
import type { Acting } from "../../operations/ports.js";
import { Chronicle } from "../../operations/system/chronicle.js";
import type { StateReader } from "../../persist/store.js";
import type { Among } from "./among-nodes.js";
import type { EventFeed } from "./event-feed.js";

type Watching = Pick<Acting, "chronicle" | "forecasts" | "runEnds">;

interface Watched {
  readonly clock: Clock;
  readonly events: EventFeed;
  readonly pool: DecisionPool;
  readonly store: StateReader;
  /** null: it has the store for itself. */
  readonly among: Among | null;
}

export function watching({ among, clock, events, pool, store }: Watched): Watching {
  const forecasts = new Forecasts(pool, store, among === null ? null : clock);
  const runEnds = new RunEnds(clock);
  const chronicle = new Chronicle(clock);
  events.subscribe((event) => {
    forecasts.tell(event);
    runEnds.tell(event);
    chronicle.tell(event);
  });
  return { chronicle, forecasts, runEnds };
}
