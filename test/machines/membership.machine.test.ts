import { expect, test } from "vitest";
import { initialTransition, transition } from "xstate";
import {
  isDraining,
  isLooking,
  type MembershipEvent,
  type MembershipPart,
  mayBegin,
  mayTake,
  membershipMachine,
} from "../../src/machines/membership.machine.js";

type Row = readonly [from: MembershipPart, event: MembershipEvent["type"], to: readonly string[]];

const ROWS: readonly Row[] = [
  ["sharing", "DRAIN", ["draining"]],
  ["draining", "EMPTIED", ["drained", "sayDrained"]],
  ["draining", "UNDRAIN", ["sharing"]],
  ["drained", "UNDRAIN", ["sharing"]],
  ["sharing", "LEAVE", ["handing", "rest"]],
  ["draining", "LEAVE", ["handing", "rest"]],
  ["drained", "LEAVE", ["handing", "rest"]],
  ["handing", "HANDED", ["lingering", "look"]],
  ["lingering", "LEAVE", ["handing", "rest"]],
  ...(["sharing", "draining", "drained", "handing", "lingering"] as const).map(
    (from): Row => [from, "CLOSE", ["closed", "rest"]],
  ),
];
const PARTS = Object.keys(membershipMachine.states) as readonly MembershipPart[];
const EVENTS: readonly MembershipEvent["type"][] = ["DRAIN", "UNDRAIN", "EMPTIED", "LEAVE", "HANDED", "CLOSE"];

function step(value: MembershipPart, type: MembershipEvent["type"]): readonly string[] {
  const [next, actions] = transition(membershipMachine, membershipMachine.resolveState({ value }), { type });
  return [next.value, ...actions.map((action) => action.type)];
}

test.each(ROWS)("%s, %s", (from, event, to) => {
  expect(step(from, event)).toEqual(to);
});

test("whatever else is told changes nothing: that a node is drained is said once, and a closed one begins nothing", () => {
  const known = new Set(ROWS.map(([from, event]) => `${from} ${event}`));
  const others = PARTS.flatMap((from) =>
    EVENTS.flatMap((event) => (known.has(`${from} ${event}`) ? [] : [[from, event]])),
  );
  expect(others.length).toBe(PARTS.length * EVENTS.length - ROWS.length);
  for (const [from, event] of others) {
    expect(step(from as MembershipPart, event as MembershipEvent["type"]), `${from} ${event}`).toEqual([from]);
  }
});

test.each<[MembershipPart, readonly string[]]>([
  ["sharing", ["take", "begin", "look"]],
  ["draining", ["begin", "giveAll", "look"]],
  ["drained", ["begin", "giveAll", "look"]],
  ["handing", []],
  ["lingering", ["look"]],
  ["closed", []],
])("what a node may do that is %s", (part, allowed) => {
  const questions = { take: mayTake, begin: mayBegin, giveAll: isDraining, look: isLooking };
  expect(Object.entries(questions).flatMap(([name, ask]) => (ask(part) ? [name] : []))).toEqual(allowed);
});

test("a node takes its share from the first", () => {
  expect(initialTransition(membershipMachine)[0].value).toBe("sharing");
});
