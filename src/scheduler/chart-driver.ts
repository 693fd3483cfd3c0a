/** Drives a chart by pure transitions: keeps its snapshot, and hands its effects out one by one, in order. */
import { type AnyStateMachine, type EventFromLogic, initialTransition, type SnapshotFrom, transition } from "xstate";

export class ChartDriver<Machine extends AnyStateMachine, Effect extends string> {
  readonly #machine: Machine;
  readonly #carryOut: (effect: Effect, event: EventFromLogic<Machine>) => void;
  #snapshot: SnapshotFrom<Machine>;

  constructor(machine: Machine, carryOut: (effect: Effect, event: EventFromLogic<Machine>) => void) {
    this.#machine = machine;
    this.#carryOut = carryOut;
    [this.#snapshot] = initialTransition(machine as AnyStateMachine) as [SnapshotFrom<Machine>, unknown];
  }

  get state(): string {
    return String((this.#snapshot as { readonly value: unknown }).value);
  }

  /** The state has changed before the first effect is carried out, so an effect may send a further event. */
  send(event: EventFromLogic<Machine>): void {
    const [next, actions] = transition<AnyStateMachine>(this.#machine, this.#snapshot, event);
    this.#snapshot = next as SnapshotFrom<Machine>;
    for (const { type } of actions) this.#carryOut(type as Effect, event);
  }
}
