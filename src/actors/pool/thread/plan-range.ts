/** Planning in a thread, which reads the store for itself: no definition is ever cloned. Writes nothing. */
import { planTogether } from "../plan-jobs.js";
import type { PlannedPage } from "../types.js";
import { readerOf } from "./attached.js";
import type { PlanTask } from "./tasks.js";

export function planRange({ source, range, rules }: PlanTask, tick: () => void): Promise<PlannedPage> {
  tick();
  return planTogether(readerOf(source).inRange(range).jobs(), rules, tick);
}
