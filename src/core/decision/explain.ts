import { LIMITS } from "../base/limits.js";
import { type EpochMs, formatInstant, SECOND_MS } from "../time/instant.js";
import { type Rejection, rejectionOf } from "./constraints.js";
import { decide, startDecision } from "./decide.js";
import type { CompiledRule, Decision } from "./model.js";
import { SplitMix64 } from "./prng.js";
import type { SchedulingRule } from "./rule.js";
import { clampUnit } from "./sampler.js";
import { seedInput } from "./seed.js";
import { candidateSecond } from "./window.js";

/** One candidate and what became of it. */
export interface CandidateStep {
  /** 1 for the first draw; 0 for the only candidate of a window of one second, which is not drawn. */
  readonly attempt: number;
  readonly u: number | null;
  /** Position in the window, `0 <= x < 1`. */
  readonly x: number | null;
  readonly secondInWindow: number;
  readonly candidateAt: EpochMs;
  /** `YYYY-MM-DDTHH:MM:SS` on the clock by which constraints judge. */
  readonly wallTime: string;
  /** null: accepted, and therefore chosen. */
  readonly rejectedBy: Rejection | null;
}

/** A decision with every step that led to it, as data. */
export interface Explanation extends Omit<Decision, "identity" | "chosenAt" | "attempts"> {
  readonly rule: SchedulingRule;
  readonly nominalWallTime: string;
  /** Exactly what was hashed. */
  readonly hashInput: string;
  /** Start of the random stream: a 64-bit number in 16 hex digits. */
  readonly state0: string;
  readonly windowSeconds: number;
  readonly candidates: readonly CandidateStep[];
  readonly decision: Decision;
}

const STATE_HEX_DIGITS = 16;

/** Repeats a decision step by step. It draws by itself, and the result must be the one that `decide` gives. */
export function explainDecision(compiled: CompiledRule, nominalAt: EpochMs): Explanation {
  const { rule, frame } = compiled;
  const start = startDecision(compiled, nominalAt);
  const candidates = candidateSteps(compiled, start.windowStartAt, start.seedHash);
  const decision = decide(compiled, nominalAt);
  const accepted = candidates.find((step) => step.rejectedBy === null);
  if ((accepted?.candidateAt ?? null) !== decision.chosenAt) {
    throw new Error(`invariant broken: ${rule.identity} ${start.periodId} is explained otherwise than decided`);
  }
  return {
    rule,
    nominalAt,
    periodId: start.periodId,
    nominalWallTime: wallTime(compiled, nominalAt),
    periodKey: start.periodKey,
    hashInput: seedInput(rule.identity, start.periodKey, rule.seed.salt),
    seedHash: start.seedHash,
    state0: start.seedHash.slice(0, STATE_HEX_DIGITS),
    windowStartAt: start.windowStartAt,
    windowEndAt: start.windowEndAt,
    windowSeconds: frame.spanSeconds,
    candidates,
    decision,
  };
}

function candidateSteps(compiled: CompiledRule, windowStartAt: EpochMs, seedHash: string): CandidateStep[] {
  const { spanSeconds } = compiled.frame;
  if (spanSeconds === 0) {
    return [judged(compiled, windowStartAt, { attempt: 0, u: null, x: null, secondInWindow: 0 })];
  }
  const stream = new SplitMix64(seedHash);
  const steps: CandidateStep[] = [];
  for (let attempt = 1; attempt <= LIMITS.samplingAttempts; attempt++) {
    const u = stream.nextUnit();
    const x = clampUnit(compiled.sample(u));
    const drawn = { attempt, u, x, secondInWindow: candidateSecond(x, spanSeconds) };
    const step = judged(compiled, windowStartAt, drawn);
    steps.push(step);
    if (step.rejectedBy === null) {
      break;
    }
  }
  return steps;
}

type Drawn = Pick<CandidateStep, "attempt" | "u" | "x" | "secondInWindow">;

function judged(compiled: CompiledRule, windowStartAt: EpochMs, drawn: Drawn): CandidateStep {
  const candidateAt = windowStartAt + drawn.secondInWindow * SECOND_MS;
  const rejectedBy = rejectionOf(compiled.rule.constraints, compiled.zone, candidateAt);
  return { ...drawn, candidateAt, wallTime: wallTime(compiled, candidateAt), rejectedBy };
}

function wallTime({ zone }: CompiledRule, at: EpochMs): string {
  return formatInstant(at + zone.offsetMsAt(at)).slice(0, "YYYY-MM-DDTHH:MM:SS".length);
}
