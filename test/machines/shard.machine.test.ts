/** C22: a shard is looked after when it is ours and no sooner, and comes to rest before it is given back. */
import { expect, test } from "vitest";
import { initialTransition, transition } from "xstate";
import { type ShardEvent, type ShardLife, shardMachine } from "../../src/machines/shard.machine.js";

type Row = readonly [from: ShardLife, event: ShardEvent["type"], to: readonly string[]];

const ROWS: readonly Row[] = [
  ["waiting", "BEGIN", ["beginning"]],
  ["waiting", "STOP", ["stopped", "letGo", "tellReady"]],
  ["beginning", "BEGUN", ["serving", "tellReady"]],
  ["beginning", "FAILED", ["broken", "letGo", "tellReady"]],
  ["beginning", "STOP", ["recalled"]],
  ["broken", "BEGIN", ["beginning"]],
  ["broken", "STOP", ["stopped", "letGo", "tellReady"]],
  ["recalled", "BEGUN", ["settling", "tellReady"]],
  ["recalled", "FAILED", ["stopped", "letGo", "tellReady"]],
  ["serving", "STOP", ["settling", "tellReady"]],
  ["settling", "QUIET", ["resting"]],
  ["resting", "RESTED", ["stopped", "letGo", "tellReady"]],
];
const LIVES = Object.keys(shardMachine.states) as readonly ShardLife[];
const EVENTS: readonly ShardEvent["type"][] = ["BEGIN", "BEGUN", "FAILED", "STOP", "QUIET", "RESTED"];

function step(value: ShardLife, type: ShardEvent["type"]): readonly string[] {
  const [next, actions] = transition(shardMachine, shardMachine.resolveState({ value }), { type });
  return [next.value, ...actions.map((action) => action.type)];
}

test.each(ROWS)("C22: %s, %s", (from, event, to) => {
  expect(step(from, event)).toEqual(to);
});

test("C22: whatever else is told changes nothing: what was given back is never begun again", () => {
  const known = new Set(ROWS.map(([from, event]) => `${from} ${event}`));
  const others = LIVES.flatMap((from) =>
    EVENTS.flatMap((event) => (known.has(`${from} ${event}`) ? [] : [[from, event]])),
  );
  expect(others.length).toBe(LIVES.length * EVENTS.length - ROWS.length);
  for (const [from, event] of others) {
    expect(step(from as ShardLife, event as ShardEvent["type"]), `${from} ${event}`).toEqual([from]);
  }
});

test("a shard waits for its turn first", () => {
  expect(initialTransition(shardMachine)[0].value).toBe("waiting");
});
