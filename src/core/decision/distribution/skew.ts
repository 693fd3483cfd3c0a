/** Powers of the draw, towards the start of the window or towards its end. */
import { pow } from "../math.js";
import type { DistributionKind, ParameterForm } from "./kind.js";
import type { ParameterReader } from "./parameters.js";

type SkewEarly = {
  readonly name: "skewEarly";
  readonly shape: number;
};

type SkewLate = {
  readonly name: "skewLate";
  readonly shape: number;
};

const DEFAULT_SHAPE = 2;
const PARAMETERS: Readonly<Record<string, ParameterForm>> = {
  shape: { form: "number", description: "Above 0; 2 by default.", exclusiveMinimum: 0 },
};

export const SKEW_EARLY: DistributionKind<SkewEarly> = {
  name: "skewEarly",
  parameters: PARAMETERS,
  read: (parameters) => ({ name: "skewEarly", shape: readShape(parameters) }),
  state: ({ shape }) => ({ shape }),
  sampler:
    ({ shape }) =>
    (u) =>
      pow(u, shape),
};

export const SKEW_LATE: DistributionKind<SkewLate> = {
  name: "skewLate",
  parameters: PARAMETERS,
  read: (parameters) => ({ name: "skewLate", shape: readShape(parameters) }),
  state: ({ shape }) => ({ shape }),
  sampler:
    ({ shape }) =>
    (u) =>
      1 - pow(1 - u, shape),
};

function readShape(parameters: ParameterReader): number {
  return parameters.positive("shape", DEFAULT_SHAPE);
}
