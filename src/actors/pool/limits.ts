import type { PoolLimits } from "./types.js";

/** Measured with `npm run bench -- pool` on two cores. */
export const POOL_LIMITS: PoolLimits = {
  // Starting two threads and warming them up takes as long as planning that many jobs on this one.
  inlineDocuments: 80_000,
  // Some 40 ms of work: enough that handing it over costs nothing, little enough to be thrown away.
  pageRows: 4_096,
  // One being computed and one waiting, so that no worker waits for this thread.
  batchesPerThread: 2,
  attempts: 4,
  batchTimeoutMs: 60_000,
  idleMs: 2_000,
  inlineFileBytes: 1024 * 1024,
  pieceBytes: 2 * 1024 * 1024,
};
