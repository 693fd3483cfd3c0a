/** Exports of one instant, whether a daemon runs or not; and of many instants only for those who say that they mean it. */
import { KronError } from "../../core/base/errors/kron-error.js";
import { err, type Result } from "../../core/base/result.js";
import type { StorePlace } from "../../persist/backends.js";
import { exportState } from "../../persist/export.js";
import type { TransferReport } from "../../persist/transfer.js";

interface ExportRequest {
  readonly place: StorePlace;
  /** A new or empty directory. */
  readonly target: string;
  /** Entries may be of different instants. */
  readonly isLive: boolean;
}

type Exported = Promise<Result<TransferReport, KronError>>;

export async function exportSnapshot({ place, target, isLive }: ExportRequest): Exported {
  if (isLive) return exportNow(place, target);
  const { backend, at } = place;
  if (backend.snapshot !== null) {
    return backend.snapshot(at, `${target}.snapshot`, (reader) => exportState(reader, target));
  }
  // Only while nobody writes do its entries belong together.
  const term = await backend.acquire(at);
  if (!term.ok) return term.error.code === "lock-held" ? err(busy(place)) : term;
  try {
    return await exportNow(place, target);
  } finally {
    await term.value.release();
  }
}

async function exportNow({ backend, at }: StorePlace, target: string): Exported {
  const reader = await backend.openReader(at);
  if (!reader.ok) return reader;
  try {
    return await exportState(reader.value, target);
  } finally {
    await reader.value.close();
  }
}

function busy({ backend, at }: StorePlace): KronError {
  const message = `a daemon writes to ${at}, and a store of ${backend.name} has no snapshots`;
  const hint = "stop it first, or say --live: then documents, ledger and definitions may be of different instants";
  return new KronError("lock-held", message, { component: "persist", operation: "export", hint });
}
