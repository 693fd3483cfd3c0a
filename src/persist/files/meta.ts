/** The one file about the store itself: its id, notes, and when it was alive. Small, and written anew each time. */
import { checksum } from "../checksum.js";
import type { Batch } from "../store.js";

export const META_FILE = "kron-meta.json";
export const FORMAT = "1";

export interface Meta {
  readonly storeId: string;
  readonly format: string;
  readonly generation: number;
  readonly isLoading: boolean;
  readonly notes: Readonly<Record<string, string>>;
  /** `bootedAt` → last mark. */
  readonly alive: Readonly<Record<string, number>>;
}

export function newMeta(storeId: string): Meta {
  return { storeId, format: FORMAT, generation: 0, isLoading: false, notes: {}, alive: {} };
}

export function formatMeta(meta: Meta): string {
  const body = JSON.stringify(meta);
  return `${JSON.stringify({ sum: checksum(0, body) })}\n${body}\n`;
}

/** null when it is not what was written. */
export function parseMeta(text: string): Meta | null {
  const [head = "", body = ""] = text.split("\n");
  try {
    const { sum } = JSON.parse(head) as { readonly sum?: unknown };
    return sum === checksum(0, body) ? (JSON.parse(body) as Meta) : null;
  } catch {
    return null;
  }
}

function entries<V>(record: Readonly<Record<string, V>>): Map<string, V> {
  return new Map(Object.entries(record));
}

/** The same object when the batch says nothing about it. */
export function metaAfter(meta: Meta, batch: Batch): Meta {
  const removedAlive = batch.removed?.alive ?? [];
  if (batch.meta === undefined && batch.alive === undefined && removedAlive.length === 0) return meta;
  const notes = entries(meta.notes);
  const alive = entries(meta.alive);
  for (const bootedAt of removedAlive) alive.delete(String(bootedAt));
  for (const { key, text } of batch.meta ?? []) {
    if (text === null) notes.delete(key);
    else notes.set(key, text);
  }
  if (batch.alive !== undefined) alive.set(String(batch.alive.bootedAt), batch.alive.at);
  return { ...meta, notes: Object.fromEntries(notes), alive: Object.fromEntries(alive) };
}
