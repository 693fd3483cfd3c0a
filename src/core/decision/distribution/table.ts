/** Every distribution there is, by name. Nothing else lists them: types, schema, readers and records follow from here. */
import { EXPONENTIAL } from "./exponential.js";
import type { DistributionKind } from "./kind.js";
import { NORMAL } from "./normal.js";
import { SKEW_EARLY, SKEW_LATE } from "./skew.js";
import { UNIFORM } from "./uniform.js";

const DISTRIBUTIONS = {
  uniform: UNIFORM,
  skewEarly: SKEW_EARLY,
  skewLate: SKEW_LATE,
  normal: NORMAL,
  exponential: EXPONENTIAL,
} as const;

export type DistributionName = keyof typeof DISTRIBUTIONS;

/** Definitions are aliases and no interfaces: the declarations of the package write them out here. */
type DefinitionOf<K> = K extends DistributionKind<infer D> ? D : never;
export type Distribution = DefinitionOf<(typeof DISTRIBUTIONS)[DistributionName]>;

export const DISTRIBUTION_NAMES = Object.keys(DISTRIBUTIONS) as readonly DistributionName[] as readonly [
  DistributionName,
  ...DistributionName[],
];

export function isDistributionName(name: string): name is DistributionName {
  return Object.hasOwn(DISTRIBUTIONS, name);
}

/** The row of a name or of a definition. A row takes definitions of its own name alone, which is how it is asked. */
export function distributionKind(name: DistributionName): DistributionKind<Distribution> {
  return DISTRIBUTIONS[name] as unknown as DistributionKind<Distribution>;
}
