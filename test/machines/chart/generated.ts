/** Random charts of everything that a table may hold: states in states, regions, ends, and transitions between them all. */
import fc from "fast-check";
import { type AnyStateMachine, assign, raise, setup } from "xstate";

type Kind = "atomic" | "final" | "compound" | "parallel";

interface Shape {
  readonly kind: Kind;
  readonly inside: readonly Shape[];
}

interface Arrow {
  readonly from: number;
  readonly to: readonly number[];
  readonly on: string;
  readonly isReentering: boolean;
  readonly isAsking: boolean;
  readonly raises: string | null;
}

export const EVENTS = ["A", "B", "C"];
/** Arrows of these need no event; they are taken as long as there is fuel, so that none goes round in circles for ever. */
const [ALWAYS, DONE] = ["always", "done"];

const { shape } = fc.letrec<{ shape: Shape }>((tie) => ({
  shape: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom<Shape>({ kind: "atomic", inside: [] }, { kind: "final", inside: [] }),
    fc.record({
      kind: fc.constant<Kind>("compound"),
      inside: fc.array(tie("shape"), { minLength: 1, maxLength: 3 }),
    }),
    fc.record({
      kind: fc.constant<Kind>("parallel"),
      inside: fc.array(tie("shape"), { minLength: 2, maxLength: 2 }),
    }),
  ),
}));

const arrow: fc.Arbitrary<Arrow> = fc.record({
  from: fc.nat(20),
  to: fc.array(fc.nat(20), { maxLength: 1 }),
  on: fc.constantFrom(...EVENTS, ...EVENTS, ALWAYS, DONE),
  isReentering: fc.boolean(),
  isAsking: fc.boolean(),
  raises: fc.constantFrom(null, null, ...EVENTS),
});

export const chart: fc.Arbitrary<AnyStateMachine> = fc
  .tuple(fc.array(shape, { minLength: 1, maxLength: 3 }), fc.boolean(), fc.array(arrow, { maxLength: 12 }))
  .map(([inside, isParallel, arrows]) => chartFrom({ kind: isParallel ? "parallel" : "compound", inside }, arrows));

/** Each says where it stands in the order, and what the context is by then. */
const says = (what: string) => ({
  type: what,
  params: ({ context, event }: { readonly context: { readonly fuel: number }; readonly event: { type: string } }) => {
    return { fuel: context.fuel, event: event.type };
  },
});

function chartFrom(root: Shape, arrows: readonly Arrow[]): AnyStateMachine {
  const count = sizeOf(root);
  let next = 0;
  const configOf = ({ kind, inside }: Shape): object => {
    const index = next++;
    const id = `s${index}`;
    const own = kind === "final" ? [] : arrows.filter(({ from }) => from % count === index);
    const children = inside.map((child) => [`s${next}`, configOf(child)] as const);
    return {
      id,
      entry: [says(`in ${id}`), "burn"],
      exit: says(`out ${id}`),
      ...(kind === "parallel" || kind === "final" ? { type: kind } : {}),
      ...(kind === "compound" ? { initial: initialOf(index, children[0]?.[0]) } : {}),
      ...(children.length > 0 ? { states: Object.fromEntries(children) } : {}),
      ...transitionsOf(own, count),
    };
  };
  return setup({
    types: { context: {} as { fuel: number } },
    guards: {
      hasFuel: ({ context }) => context.fuel > 0,
      isEven: ({ context }) => context.fuel % 2 === 0,
    },
    actions: { burn: assign(({ context }) => ({ fuel: context.fuel - 1 })) },
  }).createMachine({ context: { fuel: 12 }, ...configOf(root) } as never) as unknown as AnyStateMachine;
}

function initialOf(index: number, target: string | undefined): object {
  return { target, actions: says(`first of s${index}`) };
}

function transitionsOf(arrows: readonly Arrow[], count: number): object {
  const [always, onDone] = [ALWAYS, DONE].map((kind) => arrows.filter(({ on }) => on === kind));
  const on = EVENTS.map((event) => [event, arrows.filter((each) => each.on === event)] as const);
  return {
    on: Object.fromEntries(on.map(([event, own]) => [event, own.map((each) => transitionOf(each, count))])),
    // Several regions may do without an event only what has no order.
    ...(always?.length ? { always: always.map((each) => ({ ...transitionOf(each, count), actions: [] })) } : {}),
    ...(onDone?.length ? { onDone: onDone.map((each) => transitionOf(each, count)) } : {}),
  };
}

function transitionOf({ from, to, on, isReentering, isAsking, raises }: Arrow, count: number): object {
  const mayCircle = on === ALWAYS || on === DONE || raises !== null;
  const raised = raises === null ? [] : [raise({ type: raises })];
  return {
    ...(to.length === 0 ? {} : { target: to.map((each) => `#s${each % count}`) }),
    ...(isReentering ? { reenter: true } : {}),
    ...(mayCircle ? { guard: "hasFuel" } : isAsking ? { guard: "isEven" } : {}),
    actions: [says(`${on} from s${from}`), "burn", ...raised],
  };
}

function sizeOf({ inside }: Shape): number {
  return inside.reduce((sum, shape) => sum + sizeOf(shape), 1);
}
