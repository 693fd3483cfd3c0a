/**
 * One event through a table, to rest: what the event leads to, then what follows by itself and what was raised on the way.
 * Effects are collected, nothing is executed.
 */
import type { EventObject } from "xstate";
import { ASSIGN, type Context, EFFECT, paramsOf, Told } from "./parts.js";
import { type Chart, type Configuration, chosen, type Microstep } from "./table.js";

/** More than this without coming to rest is a circle in the chart. */
const MICROSTEPS_AT_MOST = 1_000;
/** XState keeps these for itself; a chart is told them by what happens in it. */
const RESERVED = "xstate.";

interface RawEffect {
  readonly type: string;
  readonly params: unknown;
}

const NO_EFFECTS: readonly RawEffect[] = Object.freeze([]);

export class Macrostep {
  configuration: Configuration;
  effects: readonly RawEffect[] = NO_EFFECTS;
  #collected: RawEffect[] | null = null;
  #raised: EventObject[] | null = null;
  readonly #told: Told;

  constructor(configuration: Configuration, context: Context, event: EventObject) {
    this.configuration = configuration;
    this.#told = new Told(context, event);
  }

  get context(): Context {
    return this.#told.context;
  }

  /** Takes the event in, and goes on until nothing happens by itself any more. */
  run(): void {
    const { event } = this.#told;
    const choice = this.configuration.on.get(event.type);
    if (choice !== undefined) {
      const step = chosen(choice, this.#told);
      if (step !== null) this.#take(step);
    } else if (event.type.startsWith(RESERVED)) throw new Error(`invariant broken: ${event.type} is not for charts`);
    this.#settle();
  }

  begin({ initial }: Chart): void {
    this.#take(initial);
    this.#settle();
  }

  #settle(): void {
    let isMoving = true;
    for (let taken = 0; this.configuration.status === "active"; taken++) {
      if (taken === MICROSTEPS_AT_MOST) throw new Error("invariant broken: the chart goes round in circles");
      const { always } = this.configuration;
      const step = always === null || !isMoving ? null : chosen(always, this.#told);
      if (step !== null) {
        isMoving = this.#take(step);
        continue;
      }
      const next = this.#raised?.shift();
      if (next === undefined) return;
      this.#told.event = next;
      this.#takeRaised(next);
      isMoving = true;
    }
  }

  #takeRaised({ type }: EventObject): void {
    const choice = this.configuration.on.get(type);
    const step = choice === undefined ? null : chosen(choice, this.#told);
    if (step !== null) this.#take(step);
  }

  /** False: everything is as it was. */
  #take({ acts, to }: Microstep): boolean {
    const told = this.#told;
    const before = told.context;
    for (const act of acts) {
      if (act.kind === EFFECT) this.#collect({ type: act.type, params: paramsOf(act.params, told) });
      else if (act.kind === ASSIGN) {
        told.context = { ...told.context, ...act.change(told, paramsOf(act.params, told)) };
      } else {
        const { event } = act;
        this.#raise(typeof event === "function" ? event(told, paramsOf(act.params, told)) : event);
      }
    }
    const isMoved = to !== this.configuration || before !== told.context;
    this.configuration = to;
    return isMoved;
  }

  #collect(effect: RawEffect): void {
    this.#collected ??= [];
    this.#collected.push(effect);
    this.effects = this.#collected;
  }

  #raise(event: EventObject): void {
    this.#raised ??= [];
    this.#raised.push(event);
  }
}
