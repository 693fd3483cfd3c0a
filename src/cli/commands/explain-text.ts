import { briefClauses } from "../../core/decision/constraints.js";
import type { CandidateStep, Explanation } from "../../core/decision/explain.js";
import type { DecisionRecord } from "../../core/decision/model.js";
import { formatInstant } from "../../core/time/instant.js";
import type { Paint } from "../style.js";
import { renderPairs, renderTable } from "../style.js";

/** Candidates shown before the rest is summed up; a decision rarely needs more than a few. */
const SHOWN_CANDIDATES = 12;

/** Every step of a decision, so that a person can follow it with a calculator and a SHA-256 tool. */
export function explanationText(explanation: Explanation, record: DecisionRecord, paint: Paint): string {
  return [
    paint.bold("Job"),
    renderPairs(jobPairs(explanation, record), paint),
    paint.bold("Period"),
    renderPairs(periodPairs(explanation, record), paint),
    paint.bold("Seed"),
    renderPairs(seedPairs(explanation, record), paint),
    paint.bold("Candidates"),
    candidateTable(explanation, paint),
    verdictLine(explanation, record, paint),
  ].join("\n");
}

type Pairs = readonly (readonly [string, string])[];

function jobPairs({ rule }: Explanation, record: DecisionRecord): Pairs {
  const parameters = Object.entries(record.dist_params).map(([name, value]) => ` ${name}=${value}`);
  return [
    ["  identity", rule.identity],
    ["  schedule", `${rule.schedule}   in ${rule.timezone} (zone data ${record.tz_version})`],
    ["  clock changes", `gap=${rule.dst.gap} overlap=${rule.dst.overlap}`],
    ["  window", `${rule.window.mode} ${record.window_duration}`],
    ["  distribution", `${rule.distribution.name}${parameters.join("")}`],
    ["  only", briefClauses(rule.constraints.only) || "-"],
    ["  avoid", briefClauses(rule.constraints.avoid) || "-"],
  ];
}

function periodPairs(explanation: Explanation, record: DecisionRecord): Pairs {
  return [
    ["  period id", record.period_id],
    ["  nominal", `${record.nominal_time}   (${explanation.nominalWallTime.replace("T", " ")} in ${record.timezone})`],
    ["  window", `${record.window_start} ... ${record.window_end}   (W = ${explanation.windowSeconds} s)`],
  ];
}

function seedPairs(explanation: Explanation, record: DecisionRecord): Pairs {
  return [
    ["  strategy", record.seed_strategy],
    ["  period key", record.period_key],
    ["  hash input", JSON.stringify(explanation.hashInput)],
    ["  sha-256", record.seed_hash],
    ["  state", `0x${explanation.state0}   (first 8 bytes; SplitMix64)`],
  ];
}

function candidateTable({ candidates }: Explanation, paint: Paint): string {
  const shown = candidates.length > SHOWN_CANDIDATES ? candidates.slice(0, SHOWN_CANDIDATES - 1) : candidates;
  const rows = shown.map(candidateRow);
  const last = candidates.at(-1);
  if (last !== undefined && shown.length < candidates.length) {
    const between = candidates.length - shown.length - 1;
    if (between > 0) rows.push(["", "", "", "", "", `... ${between} more rejected`]);
    rows.push(candidateRow(last));
  }
  const header = ["  draw", "u", "x", "second", "candidate (UTC)", "verdict"];
  return renderTable(header, rows, ["right", "left", "left", "right", "left", "left"], paint);
}

function candidateRow(step: CandidateStep): string[] {
  return [
    step.attempt === 0 ? "-" : String(step.attempt),
    step.u === null ? "-" : String(step.u),
    step.x === null ? "-" : String(step.x),
    `+${step.secondInWindow}`,
    formatInstant(step.candidateAt),
    verdictOf(step),
  ];
}

function verdictOf({ rejectedBy, wallTime }: CandidateStep): string {
  if (rejectedBy === null) return "accepted";
  return `rejected by ${rejectedBy.set} ${rejectedBy.clauses} (wall clock ${wallTime.replace("T", " ")})`;
}

function verdictLine({ decision }: Explanation, record: DecisionRecord, paint: Paint): string {
  if (decision.chosenAt === null) return `${paint.yellow("Unschedulable:")} ${record.reason}\n`;
  return `${paint.green("Chosen:")} ${paint.bold(record.chosen_time)}\n`;
}
