/** The worker of the pool, and decisions without anything around them. */
import { decideMany } from "./deciding.js";

export { planRange, readPiece } from "../../src/actors/pool/thread/worker.js";

interface DecideTask {
  readonly task: { readonly from: number; readonly count: number };
}

/** 16 kB an answer: small beside what it takes to compute it, so that it is cloned. */
export function decideBatch({ task: { from, count } }: DecideTask): object {
  return { ok: true, value: decideMany(from, count) };
}
