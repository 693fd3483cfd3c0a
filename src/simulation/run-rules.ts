/** What simulated processes do: rules by identity, and the draw for one attempt, which depends on nothing but its name. */

import type { SimulatedBehaviour } from "../actors/launcher/daemon/simulated-launcher.js";
import type { ProcessArm } from "../actors/launcher/port.js";
import type { ErrorCode } from "../core/base/errors/registry.js";
import { SplitMix64 } from "../core/decision/prng.js";
import { sha256Hex } from "../core/decision/seed.js";
import { SECOND_MS } from "../core/time/instant.js";
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
  /** Why no process is created. */
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
const SEED_DIGITS = 16;

const DEFAULTS = {
  duration: { kind: "fixed", ms: DEFAULT_RUN_MS },
  failChance: 0,
  exitCode: DEFAULT_EXIT_CODE,
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
  private readonly rules: readonly { readonly rule: RunRule; readonly expression: RegExp }[];
  private readonly resolved = new Map<string, Resolved>();
  /** How often a process was asked for, of periods that have not ended. */
  private readonly asked = new Map<string, number>();

  constructor(
    rules: readonly RunRule[],
    private readonly seed: string,
  ) {
    this.rules = rules.map((rule) => ({ rule, expression: globExpression(rule.match) }));
  }

  behaviourOf(request: ProcessArm): SimulatedBehaviour {
    const { identity, name } = nameOf(request);
    const nth = (this.asked.get(name) ?? 0) + 1;
    this.asked.set(name, nth);
    const random = new SplitMix64(sha256Hex(`${this.seed}\n${name}\n${nth}`).slice(0, SEED_DIGITS));
    return draw(this.ruleFor(identity), random);
  }

  /** Nobody will ask for this one again. */
  forget(request: ProcessArm): void {
    this.asked.delete(nameOf(request).name);
  }

  private ruleFor(identity: string): Resolved {
    const known = this.resolved.get(identity);
    if (known !== undefined) return known;
    const own = this.rules.filter(({ expression }) => expression.test(identity)).map(({ rule }) => rule);
    const resolved: Resolved = { ...DEFAULTS, ...impliedBy(Object.assign({}, ...own)) };
    this.resolved.set(identity, resolved);
    return resolved;
  }
}

/** Who names a way to fail and no chance means always. */
function impliedBy(rule: Omit<RunRule, "match">): Omit<RunRule, "match"> {
  const { exitCode, signal, refusal, failChance, refuseChance } = rule;
  const fails = exitCode !== undefined || signal !== undefined;
  return {
    ...rule,
    ...(fails && failChance === undefined ? { failChance: 1 } : {}),
    ...(refusal !== undefined && refuseChance === undefined ? { refuseChance: 1 } : {}),
  };
}

/** Every draw is taken, so that one setting does not change what another one draws. */
function draw(rule: Resolved, random: SplitMix64): SimulatedBehaviour {
  const [fails, isRefused, isStartLost] = [random.nextUnit(), random.nextUnit(), random.nextUnit()];
  const runMs = drawDuration(rule.duration, random);
  const { refusal = "fork-failed", ignoresTerm = false, isUnkillable = false, signal, armMs = 0 } = rule;
  const hasFailed = fails < rule.failChance;
  return {
    runMs,
    exitCode: hasFailed && signal === undefined ? rule.exitCode : 0,
    ...(hasFailed && signal !== undefined ? { signal } : {}),
    ...(isRefused < rule.refuseChance ? { refusal: { code: refusal, message: `simulated: ${refusal}` } } : {}),
    isStartLost: isStartLost < rule.lostStartChance,
    ignoresTerm,
    isUnkillable,
    armMs,
  };
}

function nameOf({ env }: ProcessArm): { readonly identity: string; readonly name: string } {
  const identity = env["KRON_IDENTITY"] ?? "";
  return { identity, name: `${identity}\n${env["KRON_PERIOD_ID"] ?? ""}` };
}
