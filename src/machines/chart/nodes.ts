/**
 * Where a transition leads: which states are left and which are entered, as SCXML says it and XState does it, for charts
 * without history. Asked only while a chart is compiled.
 */
import type { AnyStateNode } from "xstate";

export type Node = AnyStateNode;

/** As XState reads it from the chart: targets are states, not names. */
export interface Transition {
  readonly source: Node;
  readonly target: readonly Node[] | undefined;
  readonly reenter: boolean;
  readonly guard?: unknown;
  readonly actions: readonly unknown[];
}

export interface Entry {
  readonly entered: ReadonlySet<Node>;
  /** Aimed at, or entered by default: their initial transition has its say. */
  readonly byDefault: ReadonlySet<Node>;
}

export function childrenOf(node: Node): readonly Node[] {
  return Object.values(node.states as Record<string, Node>);
}

export function isAtomic({ type }: Node): boolean {
  return type === "atomic" || type === "final";
}

export function byOrder(a: Node, b: Node): number {
  return a.order - b.order;
}

/** From the nearest on, up to but without `end`. */
export function ancestorsOf(node: Node, end: Node | undefined): readonly Node[] {
  const ancestors: Node[] = [];
  for (let each = end === node ? undefined : node.parent; each && each !== end; each = each.parent)
    ancestors.push(each);
  return ancestors;
}

/** Everything lies below nothing: `undefined` is above the root. */
function isBelow(node: Node, above: Node | undefined): boolean {
  let each = node;
  while (each.parent && each.parent !== above) each = each.parent;
  return each.parent === above;
}

/** Whether its final state is reached; of regions, all of theirs. */
export function isComplete(active: ReadonlySet<Node>, node: Node): boolean {
  if (node.type === "compound") return childrenOf(node).some((child) => child.type === "final" && active.has(child));
  if (node.type === "parallel") return childrenOf(node).every((child) => isComplete(active, child));
  return node.type === "final";
}

/** The states that a chart is in when it begins. */
export function initialNodes(root: Node): readonly Node[] {
  const nodes: Node[] = [root];
  if (root.type === "compound") nodes.push(...root.initial.target.flatMap(initialNodes));
  if (root.type === "parallel") nodes.push(...childrenOf(root).flatMap(initialNodes));
  return nodes;
}

/** What stays as it is around the transition; undefined: not even the root does. */
function domainOf({ source, target = [], reenter }: Transition): Node | undefined {
  if (!reenter && target.every((node) => node === source || isBelow(node, source))) return source;
  const [head = source, ...others] = [...target, source];
  const common = ancestorsOf(head, undefined).find((ancestor) => others.every((node) => isBelow(node, ancestor)));
  return common ?? (reenter ? undefined : (source.machine.root as Node));
}

export function isMoving({ target }: Transition): boolean {
  return target !== undefined && target.length > 0;
}

export function exitSet(transitions: readonly Transition[], active: ReadonlySet<Node>): ReadonlySet<Node> {
  const left = new Set<Node>();
  for (const transition of transitions) {
    if (!isMoving(transition)) continue;
    const domain = domainOf(transition);
    if (transition.reenter && domain !== undefined && transition.source === domain) left.add(domain);
    for (const node of active) {
      if (isBelow(node, domain)) left.add(node);
    }
  }
  return left;
}

/** Of transitions that would leave the same states only one is taken: the one from further in, else the first. */
export function withoutConflicts(enabled: readonly Transition[], active: ReadonlySet<Node>): readonly Transition[] {
  if (enabled.filter(isMoving).length < 2) return enabled;
  const kept = new Set<Transition>();
  for (const transition of enabled) {
    const left = exitSet([transition], active);
    const rivals = [...kept].filter((other) => [...exitSet([other], active)].some((node) => left.has(node)));
    if (!rivals.every((rival) => isBelow(transition.source, rival.source))) continue;
    for (const rival of rivals) kept.delete(rival);
    kept.add(transition);
  }
  return [...kept];
}

export function entrySet(transitions: readonly Transition[]): Entry {
  const entry = new EntrySet();
  for (const transition of transitions) entry.follow(transition);
  return entry;
}

class EntrySet implements Entry {
  readonly entered = new Set<Node>();
  readonly byDefault = new Set<Node>();

  follow(transition: Transition): void {
    const { source, target = [], reenter } = transition;
    const domain = domainOf(transition);
    for (const node of target) {
      if (source !== node || source !== domain || reenter) this.#addDefault(node);
      this.#addBelow(node);
    }
    const isAll = source.parent === undefined && reenter;
    for (const node of target) {
      const above = [...ancestorsOf(node, domain), ...(domain?.type === "parallel" ? [domain] : [])];
      this.#addAbove(above, isAll ? undefined : domain);
    }
  }

  #addDefault(node: Node): void {
    this.entered.add(node);
    this.byDefault.add(node);
  }

  #addBelow(node: Node): void {
    if (node.type === "compound") {
      const [first] = node.initial.target as readonly Node[];
      if (first === undefined) return;
      this.#addDefault(first);
      this.#addBelow(first);
      this.#addAbove(ancestorsOf(first, node), undefined);
    } else if (node.type === "parallel") {
      for (const region of this.#regionsWithout(node)) {
        this.#addDefault(region);
        this.#addBelow(region);
      }
    }
  }

  #addAbove(ancestors: readonly Node[], domain: Node | undefined): void {
    for (const ancestor of ancestors) {
      if (domain === undefined || isBelow(ancestor, domain)) this.entered.add(ancestor);
      if (ancestor.type !== "parallel") continue;
      for (const region of this.#regionsWithout(ancestor)) {
        this.entered.add(region);
        this.#addBelow(region);
      }
    }
  }

  /** Regions in which nothing is entered yet; asked anew for each, because one may be entered with another. */
  *#regionsWithout(parallel: Node): Generator<Node> {
    for (const region of childrenOf(parallel)) {
      if (![...this.entered].some((node) => isBelow(node, region))) yield region;
    }
  }
}
