/**
 * A chart as a table: every configuration of its states, with what each event leads to from there. The answer to an event
 * is a tree of guards in their order; at its leaves stand the states that follow and all that is to be done on the way, in
 * XState's order. Compiled once; nothing of the chart is looked at again.
 */
import type { AnyStateMachine, StateValue } from "xstate";
import {
  ancestorsOf,
  byOrder,
  childrenOf,
  type Entry,
  entrySet,
  exitSet,
  initialNodes,
  isAtomic,
  isComplete,
  isMoving,
  type Node,
  type Transition,
  withoutConflicts,
} from "./nodes.js";
import { type Act, actOf, type Guard, guardOf, RAISE, Unsupported } from "./parts.js";
import { assertSupported } from "./supported.js";

const CONFIGURATIONS_AT_MOST = 1_000;
const ANSWERS_AT_MOST = 5_000;

export interface Microstep {
  readonly acts: readonly Act[];
  readonly to: Configuration;
}

/** Ask the guard, and go on at `yes` or `no`; without one the answer is `step`, null if nothing comes of the event. */
type Choice =
  | { readonly guard: Guard; readonly yes: Choice; readonly no: Choice; readonly step: null }
  | { readonly guard: null; readonly yes: null; readonly no: null; readonly step: Microstep | null };

export interface Configuration {
  readonly chart: Chart;
  readonly nodes: readonly Node[];
  readonly value: StateValue;
  readonly status: "active" | "done";
  /** Of each state that is active, from the root on: `a`, `a.b`. */
  readonly paths: ReadonlySet<string>;
  readonly on: ReadonlyMap<string, Choice>;
  /** Where there is no event to wait for; null: nowhere. */
  readonly always: Choice | null;
}

export interface Chart {
  readonly machine: AnyStateMachine;
  readonly initial: Microstep;
  /** Throws for what is no state of this chart. */
  configurationOf(value: StateValue): Configuration;
}

export function compileChart(machine: AnyStateMachine): Chart {
  try {
    assertSupported(machine);
    return new Compiler(machine);
  } catch (error) {
    if (!(error instanceof Unsupported)) throw error;
    throw new Error(`the chart ${machine.id} cannot be compiled: ${error.message}`);
  }
}

export function chosen(choice: Choice, told: Parameters<Guard>[0]): Microstep | null {
  let at = choice;
  while (at.guard !== null) at = at.guard(told) ? at.yes : at.no;
  return at.step;
}

type Building = { -readonly [K in keyof Configuration]: Configuration[K] } & { readonly active: ReadonlySet<Node> };
type Chosen = readonly Transition[];
type Then = (transitions: Chosen) => Choice;

class Compiler implements Chart {
  readonly initial: Microstep;
  readonly #root: Node;
  readonly #byKey = new Map<string, Building>();
  readonly #byText = new Map<string, Configuration>();
  readonly #acts = new Map<unknown, Act>();
  readonly #guards = new Map<unknown, Guard>();
  readonly #heard = new Map<Node, ReadonlySet<string>>();
  readonly #entries = new Map<Transition, Entry>();
  #answers = 0;

  constructor(readonly machine: AnyStateMachine) {
    this.#root = machine.root as Node;
    for (const nodes of configurationsOf(this.#root)) this.#add(nodes);
    for (const configuration of this.#byKey.values()) this.#fill(configuration);
    this.initial = this.#microstep(new Set([this.#root]), [initialTransition(this.#root)], true);
  }

  configurationOf(value: StateValue): Configuration {
    const text = JSON.stringify(value);
    const known = this.#byText.get(text);
    if (known !== undefined) return known;
    // Spelt otherwise, such as without the states that are entered by default: XState says what is meant.
    const resolved = this.machine.resolveState({ value, context: {} }) as { readonly _nodes: readonly Node[] };
    const found = this.#byKey.get(keyOf(resolved._nodes));
    if (found === undefined) throw new Error(`invariant broken: ${text} is no state of the chart ${this.machine.id}`);
    this.#byText.set(text, found);
    return found;
  }

  #add(nodes: readonly Node[]): void {
    if (this.#byKey.size === CONFIGURATIONS_AT_MOST) throw new Unsupported("it has too many configurations");
    const active = new Set(nodes);
    const value = frozen(stateValue(this.#root, active));
    const configuration = {
      chart: this,
      nodes: Object.freeze(nodes),
      active,
      value,
      status: isComplete(active, this.#root) ? "done" : "active",
      paths: new Set(nodes.map(({ path }) => path.join("."))),
      on: new Map(),
      always: null,
    } as const;
    this.#byKey.set(keyOf(nodes), configuration);
    this.#byText.set(JSON.stringify(value), configuration);
  }

  #fill(configuration: Building): void {
    const { active } = configuration;
    const on = new Map<string, Choice>();
    for (const event of this.#heardIn(this.#root)) {
      const choice = this.#within(this.#root, active, event, (found) => this.#answer(active, found, event));
      if (choice !== NOTHING) on.set(event, choice);
    }
    configuration.on = on;
    const always = this.#withoutEvent(active, configuration.nodes.filter(isAtomic), []);
    configuration.always = always === NOTHING ? null : always;
    // XState's pure transition would go on from there, an actor would not.
    if (configuration.status === "done" && (on.size > 0 || always !== NOTHING)) {
      throw new Unsupported(`something can still happen in ${JSON.stringify(configuration.value)}, where it has ended`);
    }
  }

  /** What the event leads to inside this state: the innermost states are asked first, regions one after the other. */
  #within(node: Node, active: ReadonlySet<Node>, event: string, then: Then): Choice {
    const own = (found: Chosen): Choice => {
      if (found.length > 0) return then(found);
      return this.#ask(node.transitions.get(event) ?? [], (transition) =>
        then(transition === null ? [] : [transition]),
      );
    };
    const inside = (children: readonly Node[], found: Chosen): Choice => {
      const [child, ...others] = children;
      if (child === undefined) return own(found);
      return this.#within(child, active, event, (more) => inside(others, [...found, ...more]));
    };
    const listening = childrenOf(node).filter((child) => active.has(child) && this.#heardIn(child).has(event));
    return inside(listening, []);
  }

  #heardIn(node: Node): ReadonlySet<string> {
    const known = this.#heard.get(node) ?? new Set(nodesBelow(node).flatMap((each) => [...each.transitions.keys()]));
    this.#heard.set(node, known);
    return known;
  }

  /** Every innermost state is asked, and those around it. */
  #withoutEvent(active: ReadonlySet<Node>, atomic: readonly Node[], found: Chosen): Choice {
    const [node, ...others] = atomic;
    if (node === undefined) return this.#answer(active, this.#unordered(found, active), null);
    const candidates = [node, ...ancestorsOf(node, undefined)].flatMap(
      (each): readonly Transition[] => each.always ?? [],
    );
    return this.#ask(candidates, (transition) => {
      const isNew = transition !== null && !found.includes(transition);
      return this.#withoutEvent(active, others, isNew ? [...found, transition] : found);
    });
  }

  /** XState takes them in the order in which their states were entered, which no table knows. */
  #unordered(found: Chosen, active: ReadonlySet<Node>): Chosen {
    if (found.length === 1) return found;
    const isOrdered =
      found.some(({ actions }) => actions.length > 0) || withoutConflicts(found, active).length < found.length;
    if (isOrdered) throw new Unsupported("several regions act at once without an event");
    return found;
  }

  #ask(candidates: readonly Transition[], then: (transition: Transition | null) => Choice): Choice {
    const [first, ...others] = candidates;
    if (first === undefined) return then(null);
    const yes = then(first);
    if (first.guard === undefined) return yes;
    const no = this.#ask(others, then);
    return yes === NOTHING && no === NOTHING ? NOTHING : { guard: this.#guard(first.guard), yes, no, step: null };
  }

  #answer(active: ReadonlySet<Node>, found: Chosen, event: string | null): Choice {
    if (found.length === 0) return NOTHING;
    this.#answers += 1;
    if (this.#answers > ANSWERS_AT_MOST) throw new Unsupported(`it has too many answers to ${event ?? "no event"}`);
    return { guard: null, yes: null, no: null, step: this.#microstep(active, found, false) };
  }

  #microstep(active: ReadonlySet<Node>, found: Chosen, isInitial: boolean): Microstep {
    const taken = withoutConflicts(found, active);
    const moving = taken.filter(isMoving);
    const next = new Set(active);
    const actions: unknown[] = [];
    if (!isInitial && moving.length > 0) {
      for (const node of [...exitSet(moving, active)].sort(byOrder).reverse()) {
        actions.push(...node.exit);
        next.delete(node);
      }
    }
    actions.push(...taken.flatMap((transition) => transition.actions));
    const acts = actions.map((action) => this.#act(action));
    if (moving.length > 0) acts.push(...this.#enter(moving, next, isInitial));
    const to = this.#byKey.get(keyOf([...next]));
    if (to === undefined) throw new Unsupported(`a transition leads into half a state`);
    if (to.status === "done") {
      for (const node of [...next].sort(byOrder).reverse()) acts.push(...node.exit.map((action) => this.#act(action)));
    }
    return { acts, to };
  }

  #enter(moving: Chosen, next: Set<Node>, isInitial: boolean): readonly Act[] {
    const { entered, byDefault } = this.#entry(moving);
    const acts: Act[] = [];
    const complete = new Set<Node>();
    for (const node of [...entered].sort(byOrder)) {
      next.add(node);
      const isDefault = byDefault.has(node) || (isInitial && node === this.#root);
      const actions = [...node.entry, ...(isDefault ? node.initial.actions : [])];
      acts.push(...actions.map((action) => this.#act(action)));
      if (node.type === "final") acts.push(...endedBy(node, next, complete).map(raised));
    }
    return acts;
  }

  #entry(moving: Chosen): Entry {
    const [only] = moving;
    if (only === undefined || moving.length > 1) return entrySet(moving);
    const entry = this.#entries.get(only) ?? entrySet(moving);
    this.#entries.set(only, entry);
    return entry;
  }

  #act(action: unknown): Act {
    const act = this.#acts.get(action) ?? actOf(this.machine, action);
    this.#acts.set(action, act);
    return act;
  }

  #guard(guard: unknown): Guard {
    const known = this.#guards.get(guard) ?? guardOf(this.machine, guard);
    this.#guards.set(guard, known);
    return known;
  }
}

const NOTHING: Choice = { guard: null, yes: null, no: null, step: null };

/** The states that have come to their end with this one, from the inside out. */
function endedBy(final: Node, active: ReadonlySet<Node>, complete: Set<Node>): readonly Node[] {
  const { parent } = final;
  const ended: Node[] = parent?.type === "compound" ? [parent] : [];
  let around = parent?.type === "parallel" ? parent : parent?.parent;
  while (around?.type === "parallel" && !complete.has(around) && isComplete(active, around)) {
    complete.add(around);
    ended.push(around);
    around = around.parent;
  }
  return ended;
}

function raised({ id }: Node): Act {
  return {
    kind: RAISE,
    event: { type: `xstate.done.state.${id}`, output: undefined } as { type: string },
    params: undefined,
  };
}

function initialTransition(root: Node): Transition {
  return { source: root, target: initialNodes(root), reenter: true, actions: [] };
}

function nodesBelow(node: Node): readonly Node[] {
  return [node, ...childrenOf(node).flatMap(nodesBelow)];
}

/** Every set of states that can be active at once, in the order of the chart. */
function configurationsOf(node: Node): readonly (readonly Node[])[] {
  const inside = childrenOf(node).map(configurationsOf);
  if (node.type === "compound") return inside.flat().map((nodes) => [node, ...nodes]);
  if (node.type !== "parallel") return [[node]];
  return inside.reduce<readonly (readonly Node[])[]>(
    (all, region) => {
      if (all.length * region.length > CONFIGURATIONS_AT_MOST) throw new Unsupported("it has too many configurations");
      return all.flatMap((nodes) => region.map((more) => [...nodes, ...more]));
    },
    [[node]],
  );
}

function keyOf(nodes: readonly Node[]): string {
  return nodes
    .map(({ order }) => order)
    .sort((a, b) => a - b)
    .join();
}

function stateValue(node: Node, active: ReadonlySet<Node>): StateValue {
  const children = childrenOf(node).filter((child) => active.has(child));
  const [only] = children;
  if (node.type === "compound" && only !== undefined && isAtomic(only)) return only.key;
  return Object.fromEntries(children.map((child) => [child.key, stateValue(child, active)]));
}

function frozen(value: StateValue): StateValue {
  if (typeof value === "string") return value;
  for (const inner of Object.values(value)) {
    if (inner !== undefined) frozen(inner);
  }
  return Object.freeze(value);
}
