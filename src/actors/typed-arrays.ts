/** Growing typed arrays: half as much again each time, so that a million additions copy each value a few times only. */

type Numbers = Float64Array | Uint32Array | Uint8Array;

const GROWTH = 1.5;

export function grownCapacity(present: number, needed: number): number {
  return Math.max(needed, Math.ceil(present * GROWTH));
}

export function copied<A extends Numbers>(from: A, to: A): A {
  to.set(from);
  return to;
}
