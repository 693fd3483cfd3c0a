/** A store as a directory of plain files and back: what both directions have in common. */
import type { StateReader, StoreCounts, StoredObject } from "./store.js";

export interface TransferReport extends StoreCounts {
  /** What hosts keep beside their jobs. */
  readonly objects: number;
  /** Ledger records, definitions and objects that did not match their checksum and were left behind. */
  readonly damaged: number;
}

/** Page after page of all objects. */
export async function* objectPages(reader: StateReader): AsyncGenerator<readonly StoredObject[]> {
  let after: string | undefined;
  for (;;) {
    const page = await reader.objects({ prefix: "", limit: TRANSFER_CHUNK, ...(after === undefined ? {} : { after }) });
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = last.key;
  }
}

/** Entries that one page or commit of a transfer holds. */
export const TRANSFER_CHUNK = 10_000;
