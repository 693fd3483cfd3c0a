/**
 * One commit of an LMDB environment, and why it failed. Nothing of a failed one is left behind unhandled, which would
 * end the process: that holds for environments opened with `eventTurnBatching: false` only, because the binding's own
 * batches reject a promise that nobody can reach.
 */
import type { RootDatabase } from "lmdb";

/** The binding reports why a commit failed in a second promise beside the error; unhandled, it would end the process. */
async function commitCause(error: unknown): Promise<unknown> {
  if (!(error instanceof Error) || !("commitError" in error)) return error;
  try {
    await error.commitError;
    return error;
  } catch (cause) {
    return cause;
  }
}

/** What `callback` puts and removes becomes durable together, or nothing of it does. `callback` must not throw. */
export async function commit(root: Pick<RootDatabase, "batch">, callback: () => void): Promise<void> {
  try {
    await root.batch(callback);
  } catch (error) {
    throw await commitCause(error);
  }
}
