/** The store as a thread sees it: read for itself, so that nothing of it is cloned. */
import { BACKENDS } from "../../../persist/backends.js";
import { unreadable } from "../../../persist/failures.js";
import type { StateReader, StoreSource } from "../../../persist/store.js";

let attached: { readonly at: string; readonly reader: StateReader } | null = null;

/** A daemon has one store: it stays open as long as the thread lives. */
export function readerOf(source: StoreSource): StateReader {
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
