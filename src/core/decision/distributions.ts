/** Distributions by name: reading them, and the form in which records state them. What each is, its own file says. */
import type { Problem } from "../base/problem.js";
import { err, ok, type Result } from "../base/result.js";
import type { ParameterForm } from "./distribution/kind.js";
import { ParameterReader, quote, type RawParameters } from "./distribution/parameters.js";
import {
  DISTRIBUTION_NAMES,
  type Distribution,
  type DistributionName,
  distributionKind,
  isDistributionName,
} from "./distribution/table.js";
import type { WindowMode } from "./window.js";

export { DISTRIBUTION_NAMES } from "./distribution/table.js";

/** Reads a distribution by name. `mode` is that of the window, on which defaults may depend. */
export function parseDistribution(
  name: string,
  params: RawParameters,
  mode: WindowMode = "after",
): Result<Distribution, readonly Problem[]> {
  if (!isDistributionName(name)) {
    return err([unknownName(name)]);
  }
  const reader = new ParameterReader(params);
  const distribution = distributionKind(name).read(reader, mode);
  const problems = [...unknownParameters(name, params), ...reader.problems];
  return problems.length === 0 ? ok(Object.freeze(distribution)) : err(problems);
}

/** The parameters as a record states them; `parseDistribution` reads them back. */
export function distributionParams(distribution: Distribution): Readonly<Record<string, string | number>> {
  return distributionKind(distribution.name).state(distribution);
}

/** How the parameters of each distribution are written. */
export function parameterForms(): readonly (readonly [DistributionName, Readonly<Record<string, ParameterForm>>])[] {
  return DISTRIBUTION_NAMES.map((name) => [name, distributionKind(name).parameters]);
}

function unknownParameters(name: DistributionName, params: RawParameters): Problem[] {
  const known = Object.keys(distributionKind(name).parameters);
  const hint = known.length === 0 ? `${name} has no parameters` : `${name} has: ${known.join(", ")}`;
  return Object.keys(params)
    .filter((key) => !known.includes(key))
    .map((key) => {
      const message = `unknown parameter ${quote(key)} of the distribution ${name}`;
      return { code: "distribution-parameter-unknown", message, path: [key], hint };
    });
}

function unknownName(name: string): Problem {
  const code = "distribution-unknown";
  const hint = `write one of ${DISTRIBUTION_NAMES.join(", ")}`;
  return { code, message: `unknown distribution ${quote(name)}`, path: ["name"], hint };
}
