/** From flags and a scenario file to the input of a simulation; flags win over the file. */

import { dirname } from "node:path";
import type { Configuration } from "../actors/pool/load/configuration.js";
import { formatProblem } from "../core/config/format-problem.js";
import { LineIndex } from "../core/config/located.js";
import { type EpochMs, floorToSecond, formatInstant, HOUR_MS } from "../core/time/instant.js";
import { type Expectation, parseExpectation } from "../simulation/expectations.js";
import {
  type Act,
  type Loaded,
  NO_SCENARIO,
  type PlannedAct,
  type Scenario,
  type TimedAct,
} from "../simulation/scenario.js";
import { readScenario, SCENARIO_BYTES } from "../simulation/scenario-reader.js";
import type { SimulationInput } from "../simulation/simulation.js";
import { formatSpan, parseSpan } from "../simulation/span.js";
import type { ParsedArgs } from "./args.js";
import { CliError, EXIT, usageError } from "./exit.js";
import { plural } from "./format.js";
import type { CliIo } from "./io.js";
import { loadAllJobs, loadSources, sourceOf } from "./load.js";
import { momentArg } from "./moments.js";
import { flaggedActs, flaggedRules, unwrap } from "./simulate-flags.js";
import { hasColour } from "./style.js";
import { readTextFile } from "./text-file.js";

const DEFAULT_HORIZON_MS = 24 * HOUR_MS;
const LONGEST_HORIZON_MS = 100 * 366 * 24 * HOUR_MS;

export interface SimulationPlan extends Omit<SimulationInput, "versions"> {
  readonly expectations: readonly Expectation[];
}

export async function readPlan(args: ParsedArgs, io: CliIo): Promise<SimulationPlan> {
  const { scenario, directory } = await scenarioOf(args, io);
  const fromAt = (await momentArg(args, "from", io)) ?? scenario.from ?? floorToSecond(io.now());
  const toAt = await endOf(args, io, scenario, fromAt);
  const flagged = flaggedActs(args);
  return {
    loaded: loadedOf(await loadAllJobs(args, io)),
    fromAt,
    toAt,
    seed: seedOf(args, scenario),
    rules: [...scenario.rules, ...flaggedRules(args)],
    acts: [
      ...(await timed(scenario.acts, directory, { fromAt, toAt }, args, io)),
      ...(await timed(flagged, io.cwd, { fromAt, toAt }, args, io)),
    ],
    expectations: [
      ...scenario.expectations,
      ...args.all("expect").map((text) => unwrap("expect", parseExpectation(text))),
    ],
  };
}

// --- the file ---

async function scenarioOf(args: ParsedArgs, io: CliIo): Promise<{ scenario: Scenario; directory: string }> {
  const name = args.text("scenario");
  if (name === undefined) return { scenario: NO_SCENARIO, directory: io.cwd };
  const { path, text } = await readTextFile(name, SCENARIO_BYTES, io);
  const { scenario, problems } = readScenario(name, text);
  if (scenario !== null) return { scenario, directory: path === null ? io.cwd : dirname(path) };
  const lines = new LineIndex(text);
  const color = hasColour(args, io, io.isErrTerminal);
  for (const located of problems) await io.err(`${formatProblem(located, lines.lineText(located.line), { color })}\n`);
  throw new CliError(EXIT.configuration, `${plural(problems.length, "problem")} in ${name}`);
}

// --- the configuration ---

function loadedOf({ jobs, settings }: Configuration): Loaded {
  return { definitions: jobs.map(({ definition }) => definition), settings };
}

async function loadOther(name: string, directory: string, args: ParsedArgs, io: CliIo): Promise<Loaded> {
  return loadedOf(await loadSources([await sourceOf(name, { ...io, cwd: directory })], args, io));
}

// --- when ---

async function endOf(args: ParsedArgs, io: CliIo, scenario: Scenario, fromAt: EpochMs): Promise<EpochMs> {
  const [to, horizon] = [await momentArg(args, "to", io), args.text("horizon")];
  if (to !== undefined && horizon !== undefined) throw usageError("--to and --horizon say the same: give one of them");
  const horizonMs = horizon === undefined ? scenario.horizonMs : unwrap("horizon", parseSpan(horizon));
  const written = to ?? (horizon === undefined ? scenario.to : null);
  const toAt = written ?? fromAt + (horizonMs ?? DEFAULT_HORIZON_MS);
  if (toAt <= fromAt) throw usageError(`the simulation would end at ${formatInstant(toAt)}, not after its beginning`);
  if (toAt - fromAt > LONGEST_HORIZON_MS) throw usageError("a simulation is at most 100 years long");
  return toAt;
}

function seedOf(args: ParsedArgs, { seed }: Scenario): string {
  const given = args.text("seed");
  if (given !== undefined && !/^\d{1,15}$/.test(given)) throw usageError(`--seed: "${given}" is not a whole number`);
  return given ?? seed ?? "0";
}

interface Range {
  readonly fromAt: EpochMs;
  readonly toAt: EpochMs;
}

async function timed(
  planned: readonly PlannedAct[],
  directory: string,
  { fromAt, toAt }: Range,
  args: ParsedArgs,
  io: CliIo,
): Promise<TimedAct[]> {
  const acts: TimedAct[] = [];
  for (const { when, act } of planned) {
    const afterMs = when.kind === "after" ? when.ms : when.at - fromAt;
    if (afterMs < 0 || afterMs >= toAt - fromAt) {
      const at = when.kind === "after" ? `+${formatSpan(when.ms)}` : formatInstant(when.at);
      const range = `${formatInstant(fromAt)} to ${formatInstant(toAt)}`;
      throw new CliError(EXIT.configuration, `${act.do} at ${at} lies outside the simulation`, `it goes from ${range}`);
    }
    acts.push({ afterMs, act: await complete(act, directory, args, io) });
  }
  return acts;
}

async function complete(act: Act<string>, directory: string, args: ParsedArgs, io: CliIo): Promise<Act> {
  if (act.do !== "reload") return act;
  return { do: act.do, config: await loadOther(act.config, directory, args, io) };
}
