/** Distributions by name: their parameters, defaults and ranges, and the form in which records state them. */
import type { ErrorCode } from "../base/errors/registry.js";
import type { Problem } from "../base/problem.js";
import { assertNever, err, ok, type Result } from "../base/result.js";
import { formatDuration, parseDuration } from "../time/duration.js";
import type { Distribution, WindowMode } from "./rule.js";

export const DISTRIBUTION_NAMES = ["uniform", "skewEarly", "skewLate", "normal", "exponential"] as const;
type DistributionName = Distribution["name"];
type RawParams = Readonly<Record<string, unknown>>;

const PARAMETERS: Readonly<Record<DistributionName, readonly string[]>> = {
  uniform: [],
  skewEarly: ["shape"],
  skewLate: ["shape"],
  normal: ["mu", "sigma"],
  exponential: ["lambda", "dir"],
};
const MU_NAMES = ["nominal", "start", "mid", "end"] as const;
const DIR_NAMES = ["early", "late"] as const;

const DEFAULT_SHAPE = 2;
const DEFAULT_LAMBDA = 1;
/** How a record writes the default of sigma: a sixth of the window, whatever its length. */
const DEFAULT_SIGMA_TEXT = "D/6";

const NUMBER_TEXT = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/**
 * Reads a distribution by name. Numbers may come as texts, as the line format has them. `mode` decides the default of
 * `mu`: the nominal time for a window around it, otherwise the middle of the window.
 */
export function parseDistribution(
  name: string,
  params: RawParams,
  mode: WindowMode = "after",
): Result<Distribution, readonly Problem[]> {
  if (!isDistributionName(name)) {
    return err([unknownName(name)]);
  }
  const problems = unknownParameters(name, params);
  const distribution = readDistribution(name, params, mode, problems);
  return problems.length === 0 ? ok(Object.freeze(distribution)) : err(problems);
}

/** The parameters as a record states them; `parseDistribution` reads them back. */
export function distributionParams(distribution: Distribution): Readonly<Record<string, string | number>> {
  switch (distribution.name) {
    case "uniform":
      return {};
    case "skewEarly":
    case "skewLate":
      return { shape: distribution.shape };
    case "normal": {
      const { mu, sigmaMs } = distribution;
      return { mu, sigma: sigmaMs === null ? DEFAULT_SIGMA_TEXT : formatDuration(sigmaMs) };
    }
    case "exponential":
      return { lambda: distribution.lambda, dir: distribution.dir };
    default:
      return assertNever(distribution, "distribution");
  }
}

function isDistributionName(name: string): name is DistributionName {
  return (DISTRIBUTION_NAMES as readonly string[]).includes(name);
}

function readDistribution(
  name: DistributionName,
  params: RawParams,
  mode: WindowMode,
  problems: Problem[],
): Distribution {
  switch (name) {
    case "uniform":
      return { name };
    case "skewEarly":
    case "skewLate":
      return { name, shape: readPositive(params, "shape", DEFAULT_SHAPE, problems) };
    case "normal": {
      const mu = readChoice(params, "mu", MU_NAMES, mode === "around" ? "nominal" : "mid", problems);
      return { name, mu, sigmaMs: readSigma(params, problems) };
    }
    case "exponential": {
      const lambda = readPositive(params, "lambda", DEFAULT_LAMBDA, problems);
      return { name, lambda, dir: readChoice(params, "dir", DIR_NAMES, "early", problems) };
    }
    default:
      return assertNever(name, "distribution");
  }
}

function readPositive(params: RawParams, key: string, fallback: number, problems: Problem[]): number {
  const raw = params[key];
  if (raw === undefined) {
    return fallback;
  }
  const value = typeof raw === "string" && NUMBER_TEXT.test(raw) ? Number(raw) : raw;
  if (typeof value !== "number") {
    problems.push(wrong("distribution-parameter-invalid", key, `${key} must be a number, not ${quote(raw)}`));
    return fallback;
  }
  if (!(value > 0 && value < Infinity)) {
    problems.push(wrong("distribution-parameter-range", key, `${key} must be a finite number above 0, not ${value}`));
    return fallback;
  }
  return value;
}

function readChoice<T extends string>(
  params: RawParams,
  key: string,
  choices: readonly T[],
  fallback: T,
  problems: Problem[],
): T {
  const raw = params[key];
  if (raw === undefined) {
    return fallback;
  }
  const chosen = choices.find((choice) => choice === raw);
  if (chosen === undefined) {
    const message = `${key} must be one of ${choices.join(", ")}, not ${quote(raw)}`;
    problems.push(wrong("distribution-parameter-invalid", key, message));
  }
  return chosen ?? fallback;
}

function readSigma(params: RawParams, problems: Problem[]): number | null {
  const raw = params["sigma"];
  if (raw === undefined || raw === null || raw === DEFAULT_SIGMA_TEXT) {
    return null;
  }
  if (typeof raw !== "string") {
    const message = `sigma must be a duration such as 10m, not ${quote(raw)}`;
    problems.push(wrong("distribution-parameter-invalid", "sigma", message));
    return null;
  }
  const duration = parseDuration(raw);
  if (!duration.ok) {
    problems.push({ ...duration.error, path: ["sigma", ...duration.error.path] });
    return null;
  }
  if (duration.value === 0) {
    problems.push(wrong("distribution-parameter-range", "sigma", "sigma must be longer than 0s"));
    return null;
  }
  return duration.value;
}

function unknownParameters(name: DistributionName, params: RawParams): Problem[] {
  const known = PARAMETERS[name];
  const hint = known.length === 0 ? `${name} has no parameters` : `${name} has: ${known.join(", ")}`;
  return Object.keys(params)
    .filter((key) => !known.includes(key))
    .map((key) => ({
      ...wrong("distribution-parameter-unknown", key, `unknown parameter ${quote(key)} of the distribution ${name}`),
      hint,
    }));
}

function unknownName(name: string): Problem {
  const code = "distribution-unknown";
  const hint = `write one of ${DISTRIBUTION_NAMES.join(", ")}`;
  return { code, message: `unknown distribution ${quote(name)}`, path: ["name"], hint };
}

function wrong(code: ErrorCode, key: string, message: string): Problem {
  return { code, message, path: [key] };
}

/** A value as a message shows it: short, on one line, whatever it is. */
function quote(value: unknown): string {
  if (typeof value === "object" && value !== null) {
    return Array.isArray(value) ? "a list" : "an object";
  }
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
