/**
 * Where a chart is: its configuration, which is shared, and its context. Has the fields of XState's own snapshot, so that
 * XState can go on from it, restore it from its JSON and show it; what is the same for a configuration is made once.
 */
import type { AnyStateMachine, EventObject, StateValue } from "xstate";
import type { Node } from "./nodes.js";
import type { Context } from "./parts.js";
import type { Configuration } from "./table.js";

const NONE = Object.freeze({});
const NO_TAGS: ReadonlySet<string> = new Set();

type Meta = Readonly<Record<string, unknown>>;

export class ChartSnapshot {
  readonly status: "active" | "done";
  readonly output = undefined;
  readonly error = undefined;
  readonly machine: AnyStateMachine;
  readonly context: Context;
  readonly _nodes: readonly Node[];
  readonly value: StateValue;
  readonly tags = NO_TAGS;
  readonly children = NONE;
  readonly historyValue = NONE;
  readonly #configuration: Configuration;

  constructor(configuration: Configuration, context: Context) {
    this.status = configuration.status;
    this.machine = configuration.chart.machine;
    this.context = context;
    this._nodes = configuration.nodes;
    this.value = configuration.value;
    this.#configuration = configuration;
  }

  /** null: XState made it. */
  static configurationOf(snapshot: object): Configuration | null {
    return #configuration in snapshot ? snapshot.#configuration : null;
  }

  matches(wanted: StateValue): boolean {
    return typeof wanted === "string" ? this.#configuration.paths.has(wanted) : isWithin(wanted, this.value);
  }

  hasTag(tag: string): boolean {
    return this.tags.has(tag);
  }

  can(event: EventObject): boolean {
    const transitions: readonly { readonly target?: unknown; readonly actions: readonly unknown[] }[] =
      this.machine.getTransitionData(this as never, event);
    return transitions.some(({ target, actions }) => target !== undefined || actions.length > 0);
  }

  getMeta(): Meta {
    return Object.fromEntries(this._nodes.flatMap(({ id, meta }) => (meta === undefined ? [] : [[id, meta]])));
  }

  toJSON(): unknown {
    const { status, output, error, context, value, children, historyValue } = this;
    return { status, output, error, context, value, children, historyValue, tags: [] };
  }
}

function isWithin(wanted: StateValue, value: StateValue): boolean {
  if (typeof wanted === "string") return typeof value === "string" ? value === wanted : wanted in value;
  if (typeof value === "string") return false;
  for (const key in wanted) {
    const [inner, outer] = [wanted[key], value[key]];
    if (outer === undefined || (inner !== undefined && !isWithin(inner, outer))) return false;
  }
  return true;
}
