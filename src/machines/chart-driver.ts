/** Drives one chart through its life: keeps its snapshot, and hands its effects out one by one, in order. */
import type { AnyStateMachine, EventFromLogic, InputFrom, SnapshotFrom } from "xstate";
import { advance, begin } from "./advance.js";

interface Named<Type extends string> {
  readonly type: Type;
}

export class ChartDriver<Machine extends AnyStateMachine, Type extends string> {
  readonly #machine: Machine;
  readonly #carryOut: (effect: Type, event: EventFromLogic<Machine>) => void;
  readonly #onStep: (event: EventFromLogic<Machine>, before: string, state: string) => void;
  #snapshot: SnapshotFrom<Machine>;

  /**
   * What the first state asks for is not handed out: whoever would carry it out is only being made. `onStep` looks on, before
   * anything is carried out.
   */
  constructor(
    machine: Machine,
    carryOut: (effect: Type, event: EventFromLogic<Machine>) => void,
    onStep: (event: EventFromLogic<Machine>, before: string, state: string) => void = () => {},
  ) {
    this.#machine = machine;
    this.#carryOut = carryOut;
    this.#onStep = onStep;
    this.#snapshot = begin(machine, ...([] as unknown as [InputFrom<Machine>])).snapshot;
  }

  get snapshot(): SnapshotFrom<Machine> {
    return this.#snapshot;
  }

  get state(): string {
    return String((this.#snapshot as { readonly value: unknown }).value);
  }

  /** The state has changed before the first effect is carried out, so an effect may send a further event. */
  send(event: EventFromLogic<Machine>): void {
    const { snapshot, effects } = advance<Machine, Named<Type>>(this.#machine, this.#snapshot, event);
    const before = this.state;
    this.#snapshot = snapshot;
    this.#onStep(event, before, this.state);
    for (const { type } of effects) this.#carryOut(type, event);
  }
}
