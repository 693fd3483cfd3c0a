/** From a uniform draw `u` to a position `x` in the window. */
import type { Sampler } from "./distribution/kind.js";
import { type Distribution, distributionKind } from "./distribution/table.js";
import type { WindowFrame } from "./window.js";

export type { Sampler } from "./distribution/kind.js";

const LARGEST_BELOW_ONE = 1 - 1 / 9_007_199_254_740_992; // 1 - 2^-53

/** Into `[0, 1)`. */
export function clampUnit(x: number): number {
  if (x >= 1) {
    return LARGEST_BELOW_ONE;
  }
  return x > 0 ? x : 0;
}

export function makeSampler(distribution: Distribution, frame: WindowFrame): Sampler {
  return distributionKind(distribution.name).sampler(distribution, frame);
}
