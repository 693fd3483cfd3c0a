/** Charts driven by XState's own pure functions, in the place of `src/machines/advance.ts`: the peer of the tables. */
import { type AnyStateMachine, type EventObject, initialTransition, type StateValue, transition } from "xstate";

interface Said {
  readonly type: string;
  readonly params?: unknown;
}

interface Advanced {
  readonly snapshot: unknown;
  readonly effects: readonly Said[];
}

export function compiled<Machine>(machine: Machine): Machine {
  return machine;
}

export function advance(machine: AnyStateMachine, snapshot: never, event: EventObject): Advanced {
  const [next, actions] = transition(machine, snapshot, event);
  return { snapshot: next, effects: effectsOf(actions) };
}

export function begin(machine: AnyStateMachine, input?: unknown): Advanced {
  const [first, actions] = initialTransition(machine, input as undefined);
  return { snapshot: first, effects: effectsOf(actions) };
}

export function resolve(machine: AnyStateMachine, state: { readonly value: StateValue }): unknown {
  return machine.resolveState(state as never);
}

/** What XState raises it also names as an action of its own. */
function effectsOf(actions: readonly Said[]): readonly Said[] {
  return actions.filter(({ type }) => !type.startsWith("xstate."));
}
