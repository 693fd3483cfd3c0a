/**
 * What a chart may use: states inside states and beside each other, final ones, guards, effects, assignments, raised events.
 * Everything else (delays, children, history, wildcards, output) is refused before anything runs.
 */
import type { AnyStateMachine } from "xstate";
import { childrenOf, type Node, type Transition } from "./nodes.js";
import { actOf, guardOf, Unsupported } from "./parts.js";

type Refused = readonly [isUsed: (node: Node) => boolean, what: string];

const REFUSED: readonly Refused[] = [
  [({ type }) => type === "history", "is a history state"],
  [({ invoke }) => invoke.length > 0, "invokes an actor"],
  [({ config }) => config.after !== undefined, "has a delay"],
  [({ config }) => config.route !== undefined, "has a route"],
  [({ config }) => config.output !== undefined, "has an output"],
  [({ tags }) => tags.length > 0, "has tags"],
  [
    ({ transitions }) => [...transitions.keys()].some((event) => `${event}`.endsWith("*")),
    "takes events by a wildcard",
  ],
];

export function assertSupported(machine: AnyStateMachine): void {
  if (Number.isFinite(machine.options.maxIterations)) throw new Unsupported("it limits its own microsteps");
  assertNode(machine, machine.root as Node);
}

function assertNode(machine: AnyStateMachine, node: Node): void {
  for (const [isUsed, what] of REFUSED) {
    if (isUsed(node)) throw new Unsupported(`#${node.id} ${what}`);
  }
  const transitions = [...node.transitions.values(), node.always ?? []].flat() as readonly Transition[];
  const actions = [...node.entry, ...node.exit, ...node.initial.actions];
  named(node, () => {
    for (const action of [...actions, ...transitions.flatMap((each) => each.actions)]) actOf(machine, action);
    for (const { guard } of transitions) {
      if (guard !== undefined) guardOf(machine, guard);
    }
  });
  for (const child of childrenOf(node)) assertNode(machine, child);
}

function named({ id }: Node, check: () => void): void {
  try {
    check();
  } catch (error) {
    throw error instanceof Unsupported ? new Unsupported(`#${id}: ${error.message}`) : error;
  }
}
