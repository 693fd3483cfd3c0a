/** What simulated processes and servers do: rules by identity, and the draw for one attempt, which depends on nothing but its name. */

import type { FailureReason } from "../actors/dispatcher/exchange.js";
import type { RequestArm } from "../actors/dispatcher/port.js";
import type { SimulatedAnswer } from "../actors/dispatcher/simulated-dispatcher.js";
import type { SimulatedBehaviour } from "../actors/launcher/daemon/simulated-launcher.js";
import type { ProcessArm } from "../actors/launcher/port.js";
import type { ArmRequest } from "../actors/runner/port.js";
import type { ErrorCode } from "../core/base/errors/registry.js";
import { SplitMix64 } from "../core/decision/prng.js";
import { sha256Hex } from "../core/decision/seed.js";
import { SECOND_MS } from "../core/time/instant.js";
import { nameOfRun } from "./run-name.js";
import { type DurationLaw, drawDuration } from "./span.js";

/** What a rule leaves out, an earlier rule or the default says. */
export interface RunRule {
  /** A glob over identities: `*` stands for any characters, `?` for one. */
  readonly match: string;
  readonly duration?: DurationLaw;
  /** From 0 to 1. */
  readonly failChance?: number;
  /** Of a run that fails. */
  readonly exitCode?: number;
  /** What ends a run that fails, instead of an exit code. */
  readonly signal?: NodeJS.Signals;
  /** Of the answer to a request that fails. */
  readonly status?: number;
  /** How a request that fails ends without a whole answer. */
  readonly failure?: FailureReason;
  /** Why nothing is made ready. */
  readonly refusal?: ErrorCode;
  readonly refuseChance?: number;
  readonly ignoresTerm?: boolean;
  readonly isUnkillable?: boolean;
  /** Chance that contact is lost at the start: nothing ran, and nobody can tell. */
  readonly lostStartChance?: number;
  /** How long it takes to prepare a process. */
  readonly armMs?: number;
}

const DEFAULT_RUN_MS = 10 * SECOND_MS;
const DEFAULT_EXIT_CODE = 1;
const DEFAULT_STATUS = 500;
const ANSWER_WELL = 200;
const SEED_DIGITS = 16;

const DEFAULTS = {
  duration: { kind: "fixed", ms: DEFAULT_RUN_MS },
  failChance: 0,
  exitCode: DEFAULT_EXIT_CODE,
  status: DEFAULT_STATUS,
  refuseChance: 0,
  lostStartChance: 0,
} as const satisfies Omit<RunRule, "match">;

type Resolved = Omit<RunRule, "match"> & Required<Pick<RunRule, keyof typeof DEFAULTS>>;

export function globExpression(glob: string): RegExp {
  const escaped = glob
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replace(/\*/g, ".*")
    .replace(/\?/g, ".");
  return new RegExp(`^${escaped}$`, "su");
}

export class RunRules {
  readonly #rules: readonly { readonly rule: RunRule; readonly expression: RegExp }[];
  readonly #resolved = new Map<string, Resolved>();
  /** How often a process was asked for, of periods that have not ended. */
  readonly #asked = new Map<string, number>();
  readonly #seed: string;

  constructor(rules: readonly RunRule[], seed: string) {
    this.#seed = seed;
    this.#rules = rules.map((rule) => ({ rule, expression: globExpression(rule.match) }));
  }

  behaviourOf(request: ProcessArm): SimulatedBehaviour {
    return this.#drawn(request, behaviour);
  }

  answerOf(request: RequestArm): SimulatedAnswer {
    return this.#drawn(request, answer);
  }

  #drawn<T>(request: ArmRequest, make: (rule: Resolved, draw: Draw) => T): T {
    const { identity, name } = nameOf(request);
    const nth = (this.#asked.get(name) ?? 0) + 1;
    this.#asked.set(name, nth);
    const random = new SplitMix64(sha256Hex(`${this.#seed}\n${name}\n${nth}`).slice(0, SEED_DIGITS));
    const rule = this.#ruleFor(identity);
    return make(rule, drawOf(rule, random));
  }

  /** Nobody will ask for this one again. */
  forget(request: ArmRequest): void {
    this.#asked.delete(nameOf(request).name);
  }

  #ruleFor(identity: string): Resolved {
    const known = this.#resolved.get(identity);
    if (known !== undefined) return known;
    const own = this.#rules.filter(({ expression }) => expression.test(identity)).map(({ rule }) => rule);
    const resolved: Resolved = { ...DEFAULTS, ...impliedBy(Object.assign({}, ...own)) };
    this.#resolved.set(identity, resolved);
    return resolved;
  }
}

/** Who names a way to fail and no chance means always. */
function impliedBy(rule: Omit<RunRule, "match">): Omit<RunRule, "match"> {
  const { exitCode, signal, status, failure, refusal, failChance, refuseChance } = rule;
  const fails = [exitCode, signal, status, failure].some((way) => way !== undefined);
  return {
    ...rule,
    ...(fails && failChance === undefined ? { failChance: 1 } : {}),
    ...(refusal !== undefined && refuseChance === undefined ? { refuseChance: 1 } : {}),
  };
}

interface Draw {
  readonly hasFailed: boolean;
  readonly isRefused: boolean;
  readonly isStartLost: boolean;
  /** null: for ever. */
  readonly runMs: number | null;
}

/** Every draw is taken, so that one setting does not change what another one draws. */
function drawOf(rule: Resolved, random: SplitMix64): Draw {
  const [fails, isRefused, isStartLost] = [random.nextUnit(), random.nextUnit(), random.nextUnit()];
  return {
    hasFailed: fails < rule.failChance,
    isRefused: isRefused < rule.refuseChance,
    isStartLost: isStartLost < rule.lostStartChance,
    runMs: drawDuration(rule.duration, random),
  };
}

function behaviour(rule: Resolved, { hasFailed, isRefused, isStartLost, runMs }: Draw): SimulatedBehaviour {
  const { refusal = "fork-failed", ignoresTerm = false, isUnkillable = false, signal, armMs = 0 } = rule;
  return {
    runMs,
    exitCode: hasFailed && signal === undefined ? rule.exitCode : 0,
    ...(hasFailed && signal !== undefined ? { signal } : {}),
    ...(isRefused ? { refusal: { code: refusal, message: `simulated: ${refusal}` } } : {}),
    isStartLost,
    ignoresTerm,
    isUnkillable,
    armMs,
  };
}

/** What only processes do, such as ignoring a signal, means nothing here. */
function answer(rule: Resolved, { hasFailed, isRefused, runMs }: Draw): SimulatedAnswer {
  const { refusal = "dns-failed", failure, status } = rule;
  return {
    answerMs: runMs,
    status: hasFailed ? status : ANSWER_WELL,
    ...(hasFailed && failure !== undefined ? { failure } : {}),
    ...(isRefused ? { refusal: { code: refusal, message: `simulated: ${refusal}` } } : {}),
  };
}

function nameOf(request: ArmRequest): { readonly identity: string; readonly name: string } {
  const { identity, periodId } = nameOfRun(request);
  return { identity, name: `${identity}\n${periodId}` };
}
