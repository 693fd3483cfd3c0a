import { assertNever } from "../../base/result.js";
import { formatDuration } from "../../time/duration.js";
import { erfc, erfcinv } from "../math.js";
import type { WindowFrame } from "../window.js";
import { type DistributionKind, FLATNESS, identity, type Sampler } from "./kind.js";

const MU_NAMES = ["nominal", "start", "mid", "end"] as const;
type Mu = (typeof MU_NAMES)[number];

type Normal = {
  readonly name: "normal";
  readonly mu: Mu;
  /** null: one sixth of the window. */
  readonly sigmaMs: number | null;
};

/** How a record writes the default of sigma: a sixth of the window, whatever its length. */
const DEFAULT_SIGMA_TEXT = "D/6";

export const NORMAL: DistributionKind<Normal> = {
  name: "normal",
  parameters: {
    mu: { form: "choice", choices: MU_NAMES },
    sigma: {
      form: "text",
      description: "Standard deviation; a sixth of the window by default.",
      examples: ["10m"],
    },
  },
  // The default of mu is the nominal time for a window around it, otherwise the middle of the window.
  read: (parameters, mode) => ({
    name: "normal",
    mu: parameters.choice("mu", MU_NAMES, mode === "around" ? "nominal" : "mid"),
    sigmaMs: parameters.duration("sigma", DEFAULT_SIGMA_TEXT),
  }),
  state: ({ mu, sigmaMs }) => ({ mu, sigma: sigmaMs === null ? DEFAULT_SIGMA_TEXT : formatDuration(sigmaMs) }),
  sampler: ({ mu, sigmaMs }, frame) =>
    truncated(muSeconds(mu, frame), sigmaMs === null ? frame.durationMs / 6000 : sigmaMs / 1000, frame.spanSeconds),
};

/**
 * Quantile of the normal distribution cut off at both window bounds. `2Φ(t)` is `erfc(-t/√2)`, so the lower half is
 * computed from the lower tail and the upper half from the upper tail: both tails keep their digits, and an argument of
 * erfcinv, a sum of terms that are not negative, cannot leave its domain. `mu` lies in the window, so that the window
 * always holds some of the mass.
 */
function truncated(mu: number, sigma: number, span: number): Sampler {
  if (sigma > FLATNESS * span) {
    return identity;
  }
  const a = (0 - mu) / sigma / Math.SQRT2;
  const b = (span - mu) / sigma / Math.SQRT2;
  const belowStart = erfc(-a);
  const below = erfc(-b) - belowStart;
  const aboveEnd = erfc(b);
  const above = erfc(a) - aboveEnd;
  return (u) => {
    const lower = belowStart + u * below;
    const z = lower <= 1 ? -Math.SQRT2 * erfcinv(lower) : Math.SQRT2 * erfcinv(aboveEnd + (1 - u) * above);
    return (mu + sigma * z) / span;
  };
}

function muSeconds(mu: Mu, frame: WindowFrame): number {
  switch (mu) {
    case "nominal":
      return frame.nominalSeconds;
    case "start":
      return 0;
    case "mid":
      return frame.spanSeconds / 2;
    case "end":
      return frame.spanSeconds;
    default:
      return assertNever(mu, "mu");
  }
}
