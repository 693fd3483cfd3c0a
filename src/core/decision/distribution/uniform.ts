import { type DistributionKind, identity } from "./kind.js";

type Uniform = {
  readonly name: "uniform";
};

export const UNIFORM: DistributionKind<Uniform> = {
  name: "uniform",
  parameters: {},
  read: () => ({ name: "uniform" }),
  state: () => ({}),
  sampler: () => identity,
};
