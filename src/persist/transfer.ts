/** A store as a directory of plain files and back: what both directions have in common. */
export interface TransferReport {
  readonly documents: number;
  readonly ledger: number;
  readonly definitions: number;
  /** Ledger records and definitions that did not match their checksum and were left behind. */
  readonly damaged: number;
}

/** Entries that one page or commit of a transfer holds. */
export const TRANSFER_CHUNK = 10_000;
