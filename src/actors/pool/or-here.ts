/** What is done where the system gives no thread: the same, on this one, with turns of the loop in between. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { KronError } from "../../core/base/errors/kron-error.js";

export async function orHere<T>(elsewhere: Promise<T>, here: () => T | Promise<T>): Promise<T> {
  try {
    return await elsewhere;
  } catch (error) {
    if (!(error instanceof KronError) || error.code !== "worker-unavailable") throw error;
    await nextTurn();
    return here();
  }
}
