/** Planning in a thread, which reads the store for itself: no definition is ever cloned. Writes nothing. */
import { BACKENDS } from "../../../persist/backends.js";
import { unreadable } from "../../../persist/failures.js";
import type { StateReader, StoreSource } from "../../../persist/store.js";
import { planTogether } from "../plan-jobs.js";
import type { PlannedPage } from "../types.js";
import type { PlanTask } from "./tasks.js";

export function planRange({ source, range, rules }: PlanTask, tick: () => void): Promise<PlannedPage> {
  tick();
  return planTogether(readerOf(source).inRange(range).jobs(), rules, tick);
}

let attached: { readonly at: string; readonly reader: StateReader } | null = null;

/** A daemon has one store: it stays open as long as the thread lives. */
function readerOf(source: StoreSource): StateReader {
  if (attached?.at === source.at) return attached.reader;
  void attached?.reader.close();
  attached = { at: source.at, reader: attach(source) };
  return attached.reader;
}

function attach({ backend, at }: StoreSource): StateReader {
  const { attach: attachTo } = BACKENDS[backend];
  if (attachTo === null) throw new Error(`invariant broken: no thread reads a store of ${backend}`);
  try {
    return attachTo(at);
  } catch (error) {
    throw unreadable("read", `the store of ${at} cannot be read`, error);
  }
}
