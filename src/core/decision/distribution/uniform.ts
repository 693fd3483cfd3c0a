import { type DistributionKind, identity } from "./kind.js";

export interface Uniform {
  readonly name: "uniform";
}

export const UNIFORM: DistributionKind<Uniform> = {
  name: "uniform",
  parameters: {},
  read: () => ({ name: "uniform" }),
  state: () => ({}),
  sampler: () => identity,
};
