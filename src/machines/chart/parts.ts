/**
 * Guards and actions of a chart as functions to call. A chart names them; here the names are looked up once. What is not
 * known here is not known to the table, and a chart that uses it is refused.
 */
import { type AnyStateMachine, and, assign, type EventObject, not, or, raise } from "xstate";

export type Context = Readonly<Record<string, unknown>>;

/** What guards and actions are told. A table runs without an actor: who asks for one is told so. */
export class Told {
  constructor(
    public context: Context,
    public event: EventObject,
  ) {}

  get self(): never {
    throw new Error(NO_ACTOR);
  }

  get system(): never {
    throw new Error(NO_ACTOR);
  }

  get spawn(): never {
    throw new Error(NO_ACTOR);
  }
}

const NO_ACTOR = "invariant broken: a compiled chart has no actor to ask";

export type Guard = (told: Told) => boolean;

/** Parameters as they are, or made when they are needed. */
type Params = ((told: Told) => unknown) | object | undefined;

export const EFFECT = 0;
export const ASSIGN = 1;
export const RAISE = 2;

interface EffectAct {
  readonly kind: typeof EFFECT;
  readonly type: string;
  readonly params: Params;
}

interface AssignAct {
  readonly kind: typeof ASSIGN;
  readonly change: (told: Told, params: unknown) => Partial<Context>;
  readonly params: Params;
}

interface RaiseAct {
  readonly kind: typeof RAISE;
  readonly event: ((told: Told, params: unknown) => EventObject) | EventObject;
  readonly params: Params;
}

export type Act = EffectAct | AssignAct | RaiseAct;

export function paramsOf(params: Params, told: Told): unknown {
  return typeof params === "function" ? params(told) : params;
}

/** Why a part of a chart cannot be compiled. */
export class Unsupported extends Error {}

type Custom = (told: unknown, params?: unknown) => unknown;
type Named = string | { readonly type: string; readonly params?: Params };
type Implementations = Readonly<Record<string, unknown>>;

const CHECKS = { and: checkOf(and([])), or: checkOf(or([])), not: checkOf(not(() => false)) } as const;
const RESOLVES = { assign: resolveOf(assign({})), raise: resolveOf(raise({ type: "probe" })) } as const;

function checkOf(part: unknown): unknown {
  return typeof part === "function" && "check" in part ? part.check : undefined;
}

function resolveOf(part: unknown): unknown {
  return typeof part === "function" && "resolve" in part ? part.resolve : undefined;
}

export function guardOf(machine: AnyStateMachine, guard: unknown): Guard {
  const { guards } = machine.implementations as { readonly guards: Implementations };
  if (typeof guard === "function") return guardFrom(machine, guard as Custom, undefined);
  const { name, params } = named(guard);
  const implementation = guards[name];
  if (typeof implementation === "function") return guardFrom(machine, implementation as Custom, params);
  if (implementation === undefined) throw new Unsupported(`the guard ${name} is not implemented`);
  return guardOf(machine, implementation);
}

function guardFrom(machine: AnyStateMachine, guard: Custom, params: Params): Guard {
  const check = checkOf(guard);
  if (check === undefined) return params === undefined ? (guard as Guard) : withParams(guard, params);
  const { guards = [] } = guard as unknown as { readonly guards?: readonly unknown[] };
  const parts = guards.map((each) => guardOf(machine, each));
  if (check === CHECKS.and) return (told) => parts.every((part) => part(told));
  if (check === CHECKS.or) return (told) => parts.some((part) => part(told));
  if (check === CHECKS.not) return (told) => !parts.some((part) => part(told));
  throw new Unsupported(`the guard ${guard.name} is none of and, or, not`);
}

function withParams(guard: Custom, params: Params): Guard {
  return (told) => guard(told, paramsOf(params, told)) as boolean;
}

export function actOf(machine: AnyStateMachine, action: unknown): Act {
  if (typeof action === "function") {
    if (resolveOf(action) !== undefined) return builtin(action as Custom, undefined);
    throw new Unsupported(
      `the action ${action.name || "(anonymous)"} is code in the chart: name it, or return an effect`,
    );
  }
  const { actions } = machine.implementations as { readonly actions: Implementations };
  const { name, params } = named(action);
  const implementation = actions[name];
  if (implementation !== undefined && resolveOf(implementation) !== undefined) {
    return builtin(implementation as Custom, params);
  }
  return { kind: EFFECT, type: name, params };
}

function builtin(action: Custom, params: Params): Act {
  const parts = action as unknown as { readonly type: string; readonly [part: string]: unknown };
  const resolve = resolveOf(action);
  if (resolve === RESOLVES.assign) return { kind: ASSIGN, change: changeOf(parts["assignment"]), params };
  if (resolve !== RESOLVES.raise) throw new Unsupported(`the action ${parts.type} is neither assign nor raise`);
  if (parts["delay"] !== undefined) throw new Unsupported("an event is raised with a delay");
  return { kind: RAISE, event: parts["event"] as RaiseAct["event"], params };
}

function changeOf(assignment: unknown): AssignAct["change"] {
  if (typeof assignment === "function") return assignment as AssignAct["change"];
  const fields = Object.entries(assignment as Record<string, unknown>);
  return (told, params) => {
    const change: Record<string, unknown> = {};
    for (const [key, value] of fields) {
      change[key] = typeof value === "function" ? (value as Custom)(told, params) : value;
    }
    return change;
  };
}

function named(part: unknown): { readonly name: string; readonly params: Params } {
  const given = part as Named;
  return typeof given === "string" ? { name: given, params: undefined } : { name: given.type, params: given.params };
}
