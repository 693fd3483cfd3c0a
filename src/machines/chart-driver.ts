/** Drives one chart through its life: keeps its snapshot, and hands its effects out one by one, in order. */
import type { AnyStateMachine, EventFromLogic, InputFrom, SnapshotFrom } from "xstate";
import { advance, begin } from "./advance.js";

interface Named<Type extends string> {
  readonly type: Type;
}

export class ChartDriver<Machine extends AnyStateMachine, Type extends string> {
  readonly #machine: Machine;
  readonly #carryOut: (effect: Type, event: EventFromLogic<Machine>) => void;
  #snapshot: SnapshotFrom<Machine>;

  /** What the first state asks for is not handed out: whoever would carry it out is only being made. */
  constructor(machine: Machine, carryOut: (effect: Type, event: EventFromLogic<Machine>) => void) {
    this.#machine = machine;
    this.#carryOut = carryOut;
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
    this.#snapshot = snapshot;
    for (const { type } of effects) this.#carryOut(type, event);
  }
}
