/** Charts run as tables; XState's own transition on the same chart is the definition of what a table must say. */
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import {
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyStateNode,
  assign,
  createActor,
  raise,
  type StateValue,
} from "xstate";
import { resolve } from "../../../src/machines/advance.js";
import { SUBJECTS } from "./charts.js";
import { beginBoth, explore, nodesOf, stepBoth, type Walk } from "./oracle.js";

/** More than any of them has but the job, whose document is a history. */
const STATES_AT_MOST = 300;

const BUILT_IN = new Set<unknown>(
  [assign({}), raise({ type: "any" })].map((action) => (action as { resolve?: unknown }).resolve),
);

function effectsNamedBy({ implementations }: AnyStateMachine): readonly string[] {
  const actions = Object.entries(implementations.actions as Record<string, { readonly resolve?: unknown }>);
  return actions.filter(([, action]) => !BUILT_IN.has(action.resolve)).map(([type]) => type);
}

function nodesNamedBy({ root }: AnyStateMachine): readonly string[] {
  const below = (node: AnyStateNode): readonly string[] => {
    return [node.id, ...Object.values<AnyStateNode>(node.states).flatMap(below)];
  };
  return below(root);
}

/** The value, and each of its parts. */
function partsOf(value: StateValue): readonly StateValue[] {
  if (typeof value === "string") return [value];
  return [
    value,
    ...Object.entries(value).flatMap(([key, inner]) => [
      key,
      ...(inner === undefined ? [] : partsOf(inner).map((part) => ({ [key]: part }))),
    ]),
  ];
}

describe.each(SUBJECTS)("the chart of a $name", ({ machine, inputs, events }) => {
  let walk: Walk;

  beforeAll(() => {
    walk = explore(machine, inputs, events, STATES_AT_MOST);
  });

  test("does as XState does, wherever it gets, and it gets everywhere", () => {
    const nodes = new Set(walk.met.flatMap(({ ours }) => nodesOf(ours)));
    expect([...nodes].sort()).toEqual([...nodesNamedBy(machine)].sort());
    expect([...walk.effects].sort()).toEqual([...effectsNamedBy(machine)].sort());
  });

  test("does as XState does, over random histories", () => {
    const histories = fc.array(fc.constantFrom(...events), { maxLength: 25 });
    fc.assert(
      fc.property(fc.constantFrom(...inputs), histories, (input, history) => {
        history.reduce((both, event) => stepBoth(machine, both, event), beginBoth(machine, input));
      }),
    );
  });

  test("is where XState says it is, and can do what XState says it can", () => {
    const byValue = new Map(walk.met.map((both) => [JSON.stringify(both.ours.value), both]));
    const values = [...byValue.values()].flatMap(({ theirs }) => partsOf(theirs.value));
    const seenIn = (snapshot: AnyMachineSnapshot) => ({
      matches: values.map((value) => snapshot.matches(value as never)),
      can: events.map((event) => snapshot.can(event)),
      value: resolve(machine, snapshot).value,
    });
    for (const { ours, theirs } of byValue.values()) expect(seenIn(ours)).toEqual(seenIn(theirs));
  });

  test("goes on from what XState has kept of it, and XState goes on from its own", () => {
    for (const { ours, theirs } of walk.met.slice(0, 50)) {
      const kept: AnyMachineSnapshot = JSON.parse(JSON.stringify(machine.getPersistedSnapshot(ours)));
      expect(kept).toEqual(JSON.parse(JSON.stringify(machine.getPersistedSnapshot(theirs))));
      const restored = createActor(machine, { snapshot: kept }).getSnapshot() as AnyMachineSnapshot;
      for (const event of events) stepBoth(machine, { ours: restored, theirs: ours, effects: [] }, event);
    }
  });
});
