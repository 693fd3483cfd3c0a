/**
 * What runs in a thread of the decision pool; entry of `dist/decision-worker.js`. It reads the store for itself, so that
 * no definition is ever cloned, and writes nothing.
 */
import { move, transferableSymbol, valueSymbol } from "piscina";
import { KronError } from "../../core/errors/kron-error.js";
import type { StoredJob } from "../../core/resting.js";
import { unreadable } from "../../persist/failures.js";
import { type Databases, openDatabases } from "../../persist/lmdb/environment.js";
import { jobsIn, type KeyRange } from "../../persist/lmdb/scan.js";
import { buffersOf } from "./page-builder.js";
import { planJobs } from "./plan-jobs.js";
import type { Answer, PlanTask, Tasks } from "./tasks.js";

export function planRange({ directory, range, rules }: PlanTask): Answer<Tasks["planRange"]["answer"]> {
  return answered(() => {
    const page = planJobs(readJobs(directory, range), rules);
    return { value: page, buffers: buffersOf(page) };
  });
}

let open: { readonly directory: string; readonly databases: Databases } | null = null;

/** A daemon has one store: it stays open as long as the thread lives. */
function databasesOf(directory: string): Databases {
  if (open?.directory !== directory) {
    void open?.databases.root.close();
    open = { directory, databases: openDatabases(directory, true) };
  }
  return open.databases;
}

function readJobs(directory: string, range: KeyRange): readonly StoredJob[] {
  try {
    return jobsIn(databasesOf(directory), range);
  } catch (error) {
    throw unreadable("read", `the store of ${directory} cannot be read`, error);
  }
}

interface Work<T> {
  readonly value: T;
  readonly buffers: readonly ArrayBuffer[];
}

function answered<T>(work: () => Work<T>): Answer<T> {
  try {
    const { value, buffers } = work();
    return moved({ ok: true, value }, buffers);
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
