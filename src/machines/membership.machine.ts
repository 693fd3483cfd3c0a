/**
 * The part of a node among several, from its first look at the store to its end. What the store says is told to the chart;
 * everybody else asks what the part allows (`mayTake`, `mayBegin`, ...) instead of remembering it.
 */
import { setup } from "xstate";
import { compiled } from "./advance.js";

export type MembershipEvent =
  /** The store says that this node is to give up what it has; or that it may take its share again. */
  | { readonly type: "DRAIN" | "UNDRAIN" }
  /** Nothing is held any more. */
  | { readonly type: "EMPTIED" }
  /** This node is stopping: what it has is handed back at once. */
  | { readonly type: "LEAVE" }
  /** What could be handed back was. */
  | { readonly type: "HANDED" }
  | { readonly type: "CLOSE" };

export type MembershipEffect =
  /** No look is to begin from here on; looks are to go on. */
  "rest" | "look" | "sayDrained";

export type MembershipPart = "sharing" | "draining" | "drained" | "handing" | "lingering" | "closed";

const carriedOutByNode = () => {};

const definition = setup({
  types: { events: {} as MembershipEvent },
  actions: { rest: carriedOutByNode, look: carriedOutByNode, sayDrained: carriedOutByNode },
}).createMachine({
  id: "membership",
  initial: "sharing",
  states: {
    sharing: { on: { DRAIN: "draining", LEAVE: "handing", CLOSE: "closed" } },
    /** Everything is given up, each at a calm moment; what runs is watched to its end. */
    draining: { on: { EMPTIED: "drained", UNDRAIN: "sharing", LEAVE: "handing", CLOSE: "closed" } },
    drained: { entry: "sayDrained", on: { UNDRAIN: "sharing", LEAVE: "handing", CLOSE: "closed" } },
    /** A look that is on its way now would show what is handed back as ours still. */
    handing: { entry: "rest", on: { HANDED: "lingering", CLOSE: "closed" } },
    /** What nobody else could take is kept until nothing of it runs; then that is handed back too. */
    lingering: { entry: "look", on: { LEAVE: "handing", CLOSE: "closed" } },
    /** Nothing more is begun, and nothing is looked at. */
    closed: { type: "final", entry: "rest" },
  },
});

export const membershipMachine = compiled(definition);

/** Of what is free this node takes what is due to it. */
export function mayTake(part: MembershipPart): boolean {
  return part === "sharing";
}

/** What was taken is looked after; else somebody else will. */
export function mayBegin(part: MembershipPart): boolean {
  return part === "sharing" || isDraining(part);
}

/** All of it is to go, to whoever comes. */
export function isDraining(part: MembershipPart): boolean {
  return part === "draining" || part === "drained";
}

/** The store is looked at again and again. */
export function isLooking(part: MembershipPart): boolean {
  return part !== "handing" && part !== "closed";
}
