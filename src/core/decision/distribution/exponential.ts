import { exp, ln } from "../math.js";
import { type DistributionKind, FLATNESS, identity, type Sampler } from "./kind.js";

const DIR_NAMES = ["early", "late"] as const;

type Exponential = {
  readonly name: "exponential";
  readonly lambda: number;
  readonly dir: (typeof DIR_NAMES)[number];
};

const DEFAULT_LAMBDA = 1;

export const EXPONENTIAL: DistributionKind<Exponential> = {
  name: "exponential",
  parameters: {
    lambda: { form: "number", description: "Above 0; 1 by default.", exclusiveMinimum: 0 },
    dir: { form: "choice", choices: DIR_NAMES },
  },
  read: (parameters) => ({
    name: "exponential",
    lambda: parameters.positive("lambda", DEFAULT_LAMBDA),
    dir: parameters.choice("dir", DIR_NAMES, "early"),
  }),
  state: ({ lambda, dir }) => ({ lambda, dir }),
  sampler: ({ lambda, dir }) => (dir === "early" ? early(lambda) : late(early(lambda))),
};

/** Quantile of the exponential distribution cut off at 1: `-ln(1 - u(1 - e^-lambda)) / lambda`. */
function early(lambda: number): Sampler {
  if (lambda < 1 / FLATNESS) {
    return identity;
  }
  const mass = 1 - exp(-lambda);
  return (u) => -ln(1 - u * mass) / lambda;
}

function late(sample: Sampler): Sampler {
  return (u) => 1 - sample(u);
}
