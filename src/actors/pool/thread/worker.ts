/**
 * What runs in a thread of the decision pool; entry of `dist/decision-worker.js`. Loads only what the batches of this
 * thread need: a thread that reads configuration never sees the store.
 */
import { move, transferableSymbol, valueSymbol } from "piscina";
import { KronError } from "../../../core/base/errors/kron-error.js";
import { type StopFlag, throwIfRaised } from "./stop-flag.js";
import type { Answer, Batch, TaskName, Tasks } from "./tasks.js";

export async function planRange({ task, stop }: Batch<Tasks["planRange"]["task"]>): Promise<Answer<unknown>> {
  const [{ planRange: plan }, { buffersOf }] = [await import("./plan-range.js"), await import("../page-builder.js")];
  return answered<"planRange">(stop, (tick) => plan(task, tick), buffersOf);
}

export async function forecast({ task, stop }: Batch<Tasks["forecast"]["task"]>): Promise<Answer<unknown>> {
  const [{ forecastStore }, { readerOf }] = [await import("../forecast-store.js"), await import("./attached.js")];
  return answered<"forecast">(
    stop,
    (tick) => forecastStore(readerOf(task.source), task.horizon, tick),
    ({ chosen, nominal }) => [chosen.counts, nominal.counts].map(({ buffer }) => buffer as ArrayBuffer),
  );
}

export async function readPiece({ task, stop }: Batch<Tasks["readPiece"]["task"]>): Promise<Answer<unknown>> {
  const [{ packed, readPiece: read }, { buffersOfColumns }] = [
    await import("../load/piece.js"),
    await import("../load/job-columns.js"),
  ];
  return answered<"readPiece">(
    stop,
    async (tick) => packed(await read(task, tick)),
    ({ jobs }) => buffersOfColumns(jobs),
  );
}

/** What went wrong in a way that has a code is an answer; everything else ends the batch, and it is tried again. */
async function answered<N extends TaskName>(
  stop: StopFlag,
  work: (tick: () => void) => Tasks[N]["answer"] | Promise<Tasks[N]["answer"]>,
  buffersOf: (value: Tasks[N]["answer"]) => readonly ArrayBuffer[],
): Promise<Answer<Tasks[N]["answer"]>> {
  const tick = (): void => throwIfRaised(stop);
  try {
    tick();
    const value = await work(tick);
    return moved({ ok: true, value }, buffersOf(value));
  } catch (error) {
    if (!(error instanceof KronError)) throw error;
    return { ok: false, code: error.code, message: error.message };
  }
}

/** Piscina hands over what is listed under one symbol of the object that has the answer under the other. */
function moved<T>(answer: Answer<T>, buffers: readonly ArrayBuffer[]): Answer<T> {
  const movable = { [transferableSymbol]: buffers, [valueSymbol]: answer };
  return move(movable as unknown as Parameters<typeof move>[0]) as unknown as Answer<T>;
}
