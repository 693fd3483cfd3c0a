import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { errorKind } from "../../../src/core/base/errors/registry.js";
import { distributionParams, parseDistribution } from "../../../src/core/decision/distributions.js";
import { distributions, SEEDED } from "./rules.js";

function problemsOf(name: string, params: Record<string, unknown>): string[] {
  const read = parseDistribution(name, params);
  return read.ok ? [] : read.error.map(({ code, path }) => `${errorKind(code).category} ${code} ${path.join(".")}`);
}

describe("SPEC distributions: missing parameters imply deterministic defaults", () => {
  test.each([
    { name: "uniform", params: {}, mode: "after", read: { name: "uniform" } },
    { name: "skewEarly", params: {}, mode: "after", read: { name: "skewEarly", shape: 2 } },
    { name: "skewLate", params: {}, mode: "after", read: { name: "skewLate", shape: 2 } },
    { name: "skewLate", params: { shape: 2.5 }, mode: "after", read: { name: "skewLate", shape: 2.5 } },
    { name: "skewLate", params: { shape: "2.5" }, mode: "after", read: { name: "skewLate", shape: 2.5 } },
    { name: "skewEarly", params: { shape: "1e-3" }, mode: "after", read: { name: "skewEarly", shape: 0.001 } },
    { name: "normal", params: {}, mode: "after", read: { name: "normal", mu: "mid", sigmaMs: null } },
    { name: "normal", params: {}, mode: "before", read: { name: "normal", mu: "mid", sigmaMs: null } },
    { name: "normal", params: {}, mode: "around", read: { name: "normal", mu: "nominal", sigmaMs: null } },
    { name: "normal", params: { mu: "mid" }, mode: "around", read: { name: "normal", mu: "mid", sigmaMs: null } },
    { name: "normal", params: { sigma: "10m" }, mode: "after", read: { name: "normal", mu: "mid", sigmaMs: 600_000 } },
    { name: "normal", params: { sigma: "D/6" }, mode: "after", read: { name: "normal", mu: "mid", sigmaMs: null } },
    { name: "exponential", params: {}, mode: "after", read: { name: "exponential", lambda: 1, dir: "early" } },
    {
      name: "exponential",
      params: { lambda: 3, dir: "late" },
      mode: "after",
      read: { name: "exponential", lambda: 3, dir: "late" },
    },
  ] as const)("$name $params in a window $mode", ({ name, params, mode, read }) => {
    expect(parseDistribution(name, params, mode)).toEqual({ ok: true, value: read });
  });
});

describe("ERROR-MODEL: unknown and unreadable are configuration errors, out of range are validation errors", () => {
  test.each([
    { name: "gauss", params: {}, problems: ["ConfigurationError distribution-unknown name"] },
    { name: "Uniform", params: {}, problems: ["ConfigurationError distribution-unknown name"] },
    { name: "toString", params: {}, problems: ["ConfigurationError distribution-unknown name"] },
    { name: "uniform", params: { shape: 2 }, problems: ["ConfigurationError distribution-parameter-unknown shape"] },
    { name: "skewLate", params: { Shape: 2 }, problems: ["ConfigurationError distribution-parameter-unknown Shape"] },
    { name: "skewLate", params: { shape: 0 }, problems: ["ValidationError distribution-parameter-range shape"] },
    { name: "skewLate", params: { shape: -1 }, problems: ["ValidationError distribution-parameter-range shape"] },
    { name: "skewLate", params: { shape: "-1" }, problems: ["ValidationError distribution-parameter-range shape"] },
    {
      name: "skewLate",
      params: { shape: Number.NaN },
      problems: ["ValidationError distribution-parameter-range shape"],
    },
    { name: "skewLate", params: { shape: Infinity }, problems: ["ValidationError distribution-parameter-range shape"] },
    { name: "skewLate", params: { shape: "1e999" }, problems: ["ValidationError distribution-parameter-range shape"] },
    {
      name: "skewLate",
      params: { shape: "two" },
      problems: ["ConfigurationError distribution-parameter-invalid shape"],
    },
    { name: "skewLate", params: { shape: "" }, problems: ["ConfigurationError distribution-parameter-invalid shape"] },
    {
      name: "skewLate",
      params: { shape: "0x2" },
      problems: ["ConfigurationError distribution-parameter-invalid shape"],
    },
    {
      name: "skewLate",
      params: { shape: null },
      problems: ["ConfigurationError distribution-parameter-invalid shape"],
    },
    { name: "skewLate", params: { shape: [2] }, problems: ["ConfigurationError distribution-parameter-invalid shape"] },
    { name: "normal", params: { mu: "middle" }, problems: ["ConfigurationError distribution-parameter-invalid mu"] },
    { name: "normal", params: { sigma: "0s" }, problems: ["ValidationError distribution-parameter-range sigma"] },
    { name: "normal", params: { sigma: "-1m" }, problems: ["ConfigurationError duration-negative sigma"] },
    { name: "normal", params: { sigma: "ten" }, problems: ["ConfigurationError duration-syntax sigma"] },
    { name: "normal", params: { sigma: 10 }, problems: ["ConfigurationError distribution-parameter-invalid sigma"] },
    { name: "exponential", params: { dir: 1 }, problems: ["ConfigurationError distribution-parameter-invalid dir"] },
    {
      name: "exponential",
      params: { lambda: 0, dir: "up", rate: 1 },
      problems: [
        "ConfigurationError distribution-parameter-unknown rate",
        "ValidationError distribution-parameter-range lambda",
        "ConfigurationError distribution-parameter-invalid dir",
      ],
    },
  ])("$name $params", ({ name, params, problems }) => {
    expect(problemsOf(name, params)).toEqual(problems);
  });

  test("whatever the parameters are, reading them returns", () => {
    const name = fc.constantFrom("uniform", "skewEarly", "skewLate", "normal", "exponential", "__proto__");
    const keys = fc.constantFrom("shape", "mu", "sigma", "lambda", "dir", "__proto__", "x");
    fc.assert(
      fc.property(name, fc.dictionary(keys, fc.anything()), (distribution, params) => {
        expect(typeof parseDistribution(distribution, params).ok).toBe("boolean");
      }),
      { ...SEEDED, numRuns: 5000 },
    );
  });
});

describe("parameters in a record", () => {
  test.each([
    { distribution: { name: "uniform" }, params: {} },
    { distribution: { name: "skewEarly", shape: 2 }, params: { shape: 2 } },
    { distribution: { name: "normal", mu: "nominal", sigmaMs: null }, params: { mu: "nominal", sigma: "D/6" } },
    { distribution: { name: "normal", mu: "end", sigmaMs: 90_000 }, params: { mu: "end", sigma: "1m30s" } },
    { distribution: { name: "exponential", lambda: 1, dir: "early" }, params: { lambda: 1, dir: "early" } },
  ] as const)("$distribution is stated as $params", ({ distribution, params }) => {
    expect(distributionParams(distribution)).toEqual(params);
  });

  test("are read back to the same distribution, whatever the window", () => {
    const modes = fc.constantFrom("after" as const, "around" as const, "before" as const);
    fc.assert(
      fc.property(distributions, modes, (distribution, mode) => {
        const params = JSON.parse(JSON.stringify(distributionParams(distribution)));
        expect(parseDistribution(distribution.name, params, mode)).toEqual({ ok: true, value: distribution });
      }),
      { ...SEEDED, numRuns: 2000 },
    );
  });
});
