/** Runs generated scenarios, judges each, and says what the whole lot consisted of. */
import fc from "fast-check";
import { expect } from "vitest";
import { describeAction } from "../../../../src/scheduler/testing/index.js";
import { type Scenario, scenarioOf, THEMES } from "./scenario.js";
import { type Outcome, play, type Subject } from "./world.js";

/** Traces of each theme in the default suite; all themes together make more than 10,000. */
const TRACES = 2_600;
const LONG_TRACES = 100_000;

export function tracesOf(short = TRACES): number {
  return process.env["KRON_TEST_LONG"] === "1" ? Math.round((short / TRACES) * LONG_TRACES) : short;
}

interface Figures {
  traces: number;
  actions: number;
  runs: number;
  failures: number;
  crashes: number;
  stops: number;
  clockChanges: number;
  storeFaults: number;
  virtualDays: number;
  violations: number;
}

function count({ trace }: Outcome, ...kinds: readonly string[]): number {
  return trace.actions.filter((action) => kinds.includes(action.kind)).length;
}

function add(figures: Figures, outcome: Outcome): void {
  figures.traces++;
  figures.actions += outcome.trace.actions.length;
  figures.runs += count(outcome, "RS");
  figures.failures += count(outcome, "REf");
  figures.crashes += count(outcome, "Crash");
  figures.stops += count(outcome, "SE");
  figures.clockChanges += count(outcome, "Clock", "Zone", "Pause");
  figures.storeFaults += count(outcome, "StoreFailed", "StoreSlow");
  figures.virtualDays += (outcome.trace.end.ranMs - outcome.trace.start.ranMs) / 86_400_000;
  figures.violations += outcome.violations.length;
}

/** Every start and every end that the events tell of happened, and the other way round. */
function countEvents({ events }: Outcome, ...types: readonly string[]): number {
  return events.filter((event) => types.includes(event.type)).length;
}

function complaints(outcome: Outcome): readonly string[] {
  const said = outcome.violations.map(
    ({ property, message, action, task }) => `${property} at ${action}: ${message} ${task ?? ""}`,
  );
  const started = countEvents(outcome, "TaskRunStarted", "TaskRetryStarted");
  const ended = countEvents(outcome, "TaskRunCompleted", "TaskRunFailed");
  if (started !== 0 && started !== count(outcome, "RS")) said.push(`${started} starts were told of`);
  const untold = count(outcome, "REs", "REf") - ended;
  // An instance that dies with its callback takes the news along.
  const mayBeUntold = count(outcome, "Crash") > 0;
  if (started !== 0 && (untold < 0 || (untold > 0 && !mayBeUntold))) said.push(`${untold} ends were not told of`);
  return [...said, ...outcome.programErrors.map(String)];
}

async function judge(subject: Subject, scenario: Scenario, figures: Figures): Promise<void> {
  const outcome = await play(subject, scenario);
  add(figures, outcome);
  const said = complaints(outcome);
  if (said.length === 0) return;
  const lines = outcome.trace.actions.map((action, i) => `${i} ${describeAction(action)}`);
  throw new Error([...said, ...lines].join("\n"));
}

/** `seed` is fixed, so that every machine sees the same traces. */
export async function checkModel(
  name: string,
  subject: Subject,
  theme: keyof typeof THEMES,
  seed: number,
  traces: number,
): Promise<void> {
  const figures: Figures = {
    traces: 0,
    actions: 0,
    runs: 0,
    failures: 0,
    crashes: 0,
    stops: 0,
    clockChanges: 0,
    storeFaults: 0,
    virtualDays: 0,
    violations: 0,
  };
  const property = fc.asyncProperty(scenarioOf(THEMES[theme]), (scenario) => judge(subject, scenario, figures));
  await fc.assert(property, { numRuns: traces, seed });
  figures.virtualDays = Math.round(figures.virtualDays);
  console.log(`${name}, ${theme}: ${JSON.stringify(figures)}`);
  expect(figures.traces).toBe(traces);
}
