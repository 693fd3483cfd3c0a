import { LIMITS } from "../base/limits.js";
import { type EpochMs, formatInstant, SECOND_MS } from "../time/instant.js";
import type { CompiledRule, Decision } from "./model.js";
import { SplitMix64 } from "./prng.js";
import { clampUnit } from "./sampler.js";
import { periodKey, seedHash } from "./seed.js";
import { candidateSecond } from "./window.js";

/** Where a decision began: everything that is known before the first draw. */
type DecisionStart = Pick<
  Decision,
  "nominalAt" | "periodId" | "periodKey" | "windowStartAt" | "windowEndAt" | "seedHash"
>;

/**
 * Chooses the second in which one period runs. The same rule and nominal time give the same decision, anywhere and at
 * any time. A window of one second is not drawn from, but its only candidate is judged all the same.
 */
export function decide(compiled: CompiledRule, nominalAt: EpochMs): Decision {
  const start = startDecision(compiled, nominalAt);
  const choice = choose(compiled, start.windowStartAt, start.seedHash);
  return {
    identity: compiled.rule.identity,
    nominalAt,
    periodId: start.periodId,
    periodKey: start.periodKey,
    windowStartAt: start.windowStartAt,
    windowEndAt: start.windowEndAt,
    chosenAt: choice.chosenAt,
    seedHash: start.seedHash,
    attempts: choice.attempts,
  };
}

export function startDecision({ rule, zone, frame }: CompiledRule, nominalAt: EpochMs): DecisionStart {
  if (nominalAt % SECOND_MS !== 0) {
    throw new Error(`invariant broken: nominal time ${nominalAt} of ${rule.identity} is not a whole second`);
  }
  const { strategy, salt } = rule.seed;
  const periodId = formatInstant(nominalAt);
  const key = strategy === "stable" ? periodId : periodKey(strategy, nominalAt, zone);
  const windowStartAt = nominalAt - frame.leadMs;
  return {
    nominalAt,
    periodId,
    periodKey: key,
    windowStartAt,
    windowEndAt: windowStartAt + frame.spanSeconds * SECOND_MS,
    seedHash: seedHash(rule.identity, key, salt),
  };
}

function choose(
  { frame, sample, accepts }: CompiledRule,
  windowStartAt: EpochMs,
  hash: string,
): Pick<Decision, "chosenAt" | "attempts"> {
  if (frame.spanSeconds === 0) {
    return { chosenAt: accepts === null || accepts(windowStartAt) ? windowStartAt : null, attempts: 0 };
  }
  const stream = new SplitMix64(hash);
  for (let attempts = 1; attempts <= LIMITS.samplingAttempts; attempts++) {
    const x = clampUnit(sample(stream.nextUnit()));
    const candidateAt = windowStartAt + candidateSecond(x, frame.spanSeconds) * SECOND_MS;
    if (accepts === null || accepts(candidateAt)) {
      return { chosenAt: candidateAt, attempts };
    }
  }
  return { chosenAt: null, attempts: LIMITS.samplingAttempts };
}
