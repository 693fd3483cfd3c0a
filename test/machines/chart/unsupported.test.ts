/** A chart that asks for more than a table can hold is refused where it is defined, with the place and the reason. */
import { describe, expect, test } from "vitest";
import {
  type AnyStateMachine,
  assign,
  cancel,
  createMachine,
  emit,
  enqueueActions,
  fromPromise,
  log,
  raise,
  sendTo,
  setup,
  spawnChild,
  stateIn,
  stopChild,
} from "xstate";
import { begin, compiled } from "../../../src/machines/advance.js";

/** One state `a` with this in it, and another. */
const withState = (a: object): AnyStateMachine =>
  createMachine({ id: "small", initial: "a", states: { a, b: {}, c: {} } } as never);

const withAction = (action: unknown): AnyStateMachine => withState({ on: { GO: { target: "b", actions: action } } });

const withGuard = (guard: unknown): AnyStateMachine => withState({ on: { GO: { target: "b", guard } } });

const withRegions = (left: object, right: object): AnyStateMachine =>
  createMachine({ id: "small", type: "parallel", states: { left, right } } as never);

const promise = fromPromise(async () => 1);

describe("a chart is refused that", () => {
  test.each<[title: string, chart: AnyStateMachine, message: string]>([
    [
      "remembers",
      withState({ initial: "x", states: { x: {}, h: { type: "history" } } }),
      "#small.a.h is a history state",
    ],
    ["invokes", withState({ invoke: { src: promise } }), "#small.a invokes an actor"],
    ["waits", withState({ after: { 1000: "b" } }), "#small.a has a delay"],
    ["has a route", withState({ id: "a", route: {} }), "#a has a route"],
    ["has an output", withState({ type: "final", output: 1 }), "#small.a has an output"],
    ["has tags", withState({ tags: "busy" }), "#small.a has tags"],
    ["takes any event", withState({ on: { "*": "b" } }), "#small.a takes events by a wildcard"],
    ["takes many events", withState({ on: { "job.*": "b" } }), "#small.a takes events by a wildcard"],
    ["has code for an action", withAction(function beep() {}), "#small.a: the action beep is code in the chart"],
    ["raises later", withAction(raise({ type: "GO" }, { delay: 10 })), "#small.a: an event is raised with a delay"],
    ["logs", withAction(log("hello")), "the action xstate.log is neither assign nor raise"],
    ["emits", withAction(emit({ type: "x" })), "the action xstate.emit is neither assign nor raise"],
    ["sends", withAction(sendTo("other", { type: "x" })), "the action xstate.sendTo is neither"],
    ["cancels", withAction(cancel("x")), "the action xstate.cancel is neither"],
    ["spawns", withAction(spawnChild(promise)), "the action xstate.spawnChild is neither"],
    ["stops a child", withAction(stopChild("x")), "the action xstate.stopChild is neither"],
    ["queues actions", withAction(enqueueActions(() => {})), "the action xstate.enqueueActions is neither"],
    ["asks where it is", withGuard(stateIn("b")), "#small.a: the guard stateIn is none of and, or, not"],
    ["asks what nobody knows", withGuard("isMagic"), "#small.a: the guard isMagic is not implemented"],
    ["enters with code", withState({ entry: () => {} }), "#small.a: the action entry is code in the chart"],
    ["leaves with code", withState({ exit: () => {} }), "#small.a: the action exit is code in the chart"],
    [
      "acts in several regions without an event",
      withRegions(
        { initial: "x", states: { x: { always: { target: "y", actions: "left" } }, y: {} } },
        { initial: "x", states: { x: { always: { target: "y", actions: "right" } }, y: {} } },
      ),
      "several regions act at once without an event",
    ],
    [
      "leaves several regions at once without an event",
      withRegions(
        { initial: "x", states: { x: { always: { target: "#small.right.y" } }, y: {} } },
        { initial: "x", states: { x: { always: "y" }, y: {} } },
      ),
      "several regions act at once without an event",
    ],
    [
      "goes on after its end",
      createMachine({ id: "small", initial: "a", states: { a: { type: "final" } }, on: { GO: { actions: "late" } } }),
      'something can still happen in "a", where it has ended',
    ],
    [
      "counts its microsteps",
      createMachine({ id: "small", initial: "a", states: { a: {} }, options: { maxIterations: 5 } }),
      "it limits its own microsteps",
    ],
    [
      "is too large",
      createMachine({
        id: "small",
        type: "parallel",
        states: Object.fromEntries(
          Array.from({ length: 10 }, (_, i) => [`r${i}`, { initial: "x", states: { x: { on: { GO: "y" } }, y: {} } }]),
        ),
      } as never),
      "it has too many configurations",
    ],
    [
      "has too many cases",
      createMachine({
        id: "small",
        type: "parallel",
        states: Object.fromEntries(
          Array.from({ length: 8 }, (_, i) => [
            `r${i}`,
            {
              initial: "x",
              states: { x: { on: { GO: [{ guard: () => true, target: "y" }, { actions: "stay" }] } }, y: {} },
            },
          ]),
        ),
      } as never),
      "it has too many answers to GO",
    ],
  ])("%s", (_, chart, message) => {
    expect(() => compiled(chart)).toThrow("the chart small cannot be compiled: ");
    expect(() => compiled(chart)).toThrow(message);
  });
});

describe("while it runs, a chart breaks an invariant that", () => {
  test("asks for an actor", () => {
    const chart = setup({
      types: { context: {} as { self: unknown } },
      actions: { look: assign(({ self }) => ({ self })) },
    }).createMachine({ context: { self: null }, entry: "look" });
    expect(() => begin(chart)).toThrow("a compiled chart has no actor to ask");
  });

  test("goes round in circles", () => {
    const chart = setup({
      types: { context: {} as { turns: number } },
      actions: { turn: assign(({ context }) => ({ turns: context.turns + 1 })) },
    }).createMachine({ context: { turns: 0 }, always: { actions: "turn" } });
    expect(() => begin(chart)).toThrow("the chart goes round in circles");
  });
});
