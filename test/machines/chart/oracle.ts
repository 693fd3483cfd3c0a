/** The table beside the definition: what XState's pure `transition` makes of the same chart is what the table must say. */

import { expect } from "vitest";
import { type AnyMachineSnapshot, type AnyStateMachine, type EventObject, initialTransition, transition } from "xstate";
import { advance, begin } from "../../../src/machines/advance.js";

export interface Both {
  readonly ours: AnyMachineSnapshot;
  readonly theirs: AnyMachineSnapshot;
  readonly effects: readonly string[];
}

interface Said {
  readonly type: string;
  readonly params?: unknown;
}

/** What XState raises it also names as an action of its own. */
function saidOf(actions: readonly Said[]): readonly Said[] {
  return actions.filter(({ type }) => !type.startsWith("xstate.")).map(({ type, params }) => ({ type, params }));
}

export function beginBoth(machine: AnyStateMachine, input: unknown): Both {
  const [theirs, actions] = initialTransition(machine, input as undefined);
  const ours = begin<AnyStateMachine, Said>(machine, input as undefined);
  return agreed({ ...ours, theirs: theirs as AnyMachineSnapshot }, actions);
}

/** An event that breaks an invariant breaks it in both, and is as if it had not been told. */
export function stepBoth(machine: AnyStateMachine, before: Both, event: EventObject): Both {
  const broken = brokenBy(() => transition(machine, before.theirs, event));
  if (broken !== null) {
    expect(brokenBy(() => advance(machine, before.ours, event))).toBe(broken);
    return before;
  }
  const [theirs, actions] = transition(machine, before.theirs, event);
  const ours = advance<AnyStateMachine, Said>(machine, before.ours, event);
  return agreed({ ...ours, theirs: theirs as AnyMachineSnapshot }, actions);
}

function brokenBy(act: () => unknown): string | null {
  try {
    act();
    return null;
  } catch (error) {
    return String(error);
  }
}

function agreed(
  said: {
    readonly snapshot: AnyMachineSnapshot;
    readonly theirs: AnyMachineSnapshot;
    readonly effects: readonly Said[];
  },
  actions: readonly Said[],
): Both {
  const { snapshot: ours, theirs, effects } = said;
  expect(shown(ours)).toEqual(shown(theirs));
  expect(effects).toEqual(saidOf(actions));
  return { ours, theirs, effects: effects.map(({ type }) => type) };
}

/** Everything that a snapshot says of itself. */
function shown(snapshot: AnyMachineSnapshot): unknown {
  const { value, context, status } = snapshot;
  return { value, context, status, nodes: nodesOf(snapshot), json: JSON.parse(JSON.stringify(snapshot)) };
}

export function nodesOf(snapshot: AnyMachineSnapshot): readonly string[] {
  return snapshot._nodes.map(({ id }) => id).sort();
}

export interface Walk {
  /** Each state and context that was met. */
  readonly met: readonly Both[];
  readonly effects: ReadonlySet<string>;
}

/** Goes wherever these events lead, breadth first. */
export function explore(
  machine: AnyStateMachine,
  inputs: readonly unknown[],
  events: readonly EventObject[],
  atMost: number,
): Walk {
  const met = new Map<string, Both>();
  const effects = new Set<string>();
  const add = (both: Both): void => {
    for (const type of both.effects) effects.add(type);
    const key = JSON.stringify([both.ours.value, both.ours.context]);
    if (!met.has(key) && met.size < atMost) met.set(key, both);
  };
  for (const input of inputs) add(beginBoth(machine, input));
  for (const both of met.values()) {
    for (const event of events) add(stepBoth(machine, both, event));
  }
  return { met: [...met.values()], effects };
}
