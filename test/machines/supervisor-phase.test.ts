import { expect, test } from "vitest";
import { resolve } from "../../src/machines/advance.js";
import { type SupervisorSnapshot, supervisorMachine } from "../../src/machines/supervisor.machine.js";
import { FIRST } from "../../src/machines/supervisor-logic.js";
import {
  hasFailed,
  healthPhase,
  isHalted,
  isScheduling,
  isStarting,
  mayStart,
  phaseName,
  phaseText,
} from "../../src/machines/supervisor-phase.js";

type Value = SupervisorSnapshot["value"];

const ROWS: readonly (readonly [value: Value, text: string, health: string, allows: readonly string[]])[] = [
  [{ booting: "configuring" }, "booting.configuring", "starting", ["starting", "start"]],
  [{ booting: "locking" }, "booting.locking", "starting", ["starting", "start"]],
  [{ booting: "opening" }, "booting.opening", "starting", ["starting", "start"]],
  ["recovering", "recovering", "starting", ["starting", "start"]],
  ["introducing", "introducing", "starting", ["starting", "scheduling", "start"]],
  ["running", "running", "running", ["scheduling", "start"]],
  [{ reloading: "reading" }, "reloading.reading", "reloading", ["scheduling", "start"]],
  [{ reloading: "changing" }, "reloading.changing", "reloading", ["scheduling", "start"]],
  ["draining", "draining", "draining", []],
  ["closing", "closing", "draining", ["halted"]],
  ["stopped", "stopped", "draining", ["halted"]],
  ["failed", "failed", "failed", ["halted", "failed"]],
];

test.each(ROWS)("S29: what the phase %j allows", (value, text, health, allows) => {
  const phase = resolve(supervisorMachine, { value, context: FIRST });
  const questions = {
    starting: isStarting,
    scheduling: isScheduling,
    start: mayStart,
    halted: isHalted,
    failed: hasFailed,
  };
  const allowed = Object.entries(questions).flatMap(([name, ask]) => (ask(phase) ? [name] : []));
  expect([phaseText(phase), phaseName(phase), healthPhase(phase), allowed]).toEqual([
    text,
    text.split(".")[0],
    health,
    allows,
  ]);
});

test("the table has every state of the chart", () => {
  const names = ROWS.map(([, text]) => text.split(".")[0]);
  expect([...new Set(names)].sort()).toEqual(Object.keys(supervisorMachine.states).sort());
});
