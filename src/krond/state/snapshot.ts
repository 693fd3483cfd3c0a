/** Exports of one instant, whether a daemon runs or not; and of many instants only for those who say that they mean it. */
import { KronError } from "../../core/base/errors/kron-error.js";
import { err, type Result } from "../../core/base/result.js";
import { exportState } from "../../persist/export.js";
import { withLmdbSnapshot } from "../../persist/lmdb/snapshot.js";
import { acquireDirectoryLock } from "../../persist/lock.js";
import type { Backend } from "../../persist/marker.js";
import { openStateReader } from "../../persist/open.js";
import type { TransferReport } from "../../persist/transfer.js";

export interface ExportRequest {
  readonly directory: string;
  readonly backend: Backend;
  /** A new or empty directory. */
  readonly target: string;
  /** Entries may be of different instants. */
  readonly isLive: boolean;
}

type Exported = Promise<Result<TransferReport, KronError>>;

export async function exportSnapshot({ directory, backend, target, isLive }: ExportRequest): Exported {
  if (isLive) return exportNow(directory, target);
  if (backend === "lmdb") {
    return withLmdbSnapshot(directory, `${target}.snapshot`, (reader) => exportState(reader, target));
  }
  // Files are written one after another: only while nobody writes do they belong together.
  const term = acquireDirectoryLock(directory);
  if (!term.ok) return term.error.code === "lock-held" ? err(busy(directory)) : term;
  try {
    return await exportNow(directory, target);
  } finally {
    term.value.release();
  }
}

async function exportNow(directory: string, target: string): Exported {
  const reader = await openStateReader(directory);
  if (!reader.ok) return reader;
  try {
    return await exportState(reader.value, target);
  } finally {
    await reader.value.close();
  }
}

function busy(directory: string): KronError {
  const message = `a daemon writes to ${directory}, and a store of files has no snapshots`;
  const hint = "stop it first, or say --live: then documents, ledger and definitions may be of different instants";
  return new KronError("lock-held", message, { component: "persist", operation: "export", hint });
}
