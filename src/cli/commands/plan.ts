import type { ChangedJob, PlanReport } from "../../actors/supervisor/port.js";
import type { PlanAnswer } from "../../operations/system/plan-answer.js";
import type { ParsedArgs } from "../args.js";
import { askDaemon } from "../daemon.js";
import { EXIT, type ExitCode, usageError } from "../exit.js";
import type { CliIo } from "../io.js";
import { printValue } from "../output.js";
import { type Paint, paintFor } from "../style.js";

function movedText({ movesFrom, movesTo }: ChangedJob): string {
  if (movesFrom === movesTo) return "";
  return `; next run moves from ${movesFrom || "never"} to ${movesTo || "never"}`;
}

export function planText({ plan, kept, problems, notStartable = [] }: PlanAnswer, verb: string, paint: Paint): string {
  const lines = [
    ...plan.added.map((identity) => paint.green(`+ ${identity}`)),
    ...plan.removed.map((identity) => paint.red(`- ${identity}`)),
    ...plan.changed.map((job) => `${paint.yellow(`~ ${job.identity}`)} (${job.fields.join(", ")})${movedText(job)}`),
    ...kept.map((identity) => `= ${identity} keeps its definition`),
    ...problems.map((problem) => paint.red(`! ${problem}`)),
    ...(problems.length === 0 ? [] : ["  'kron lint' shows the lines, and what to write instead"]),
    ...notStartable.map((problem) => paint.red(`! ${problem}`)),
  ];
  return [...lines, summaryText(plan, verb), ""].join("\n");
}

function summaryText({ added, removed, changed, unchanged }: PlanReport, verb: string): string {
  return `${verb}: ${added.length} added, ${removed.length} removed, ${changed.length} changed, ${unchanged} unchanged`;
}

function publishedChange({ identity, fields, movesFrom, movesTo }: ChangedJob): object {
  return { identity, fields, moves_from: movesFrom, moves_to: movesTo };
}

/** Shared with `kron apply`. */
export function publishedPlan(plan: PlanReport): object {
  return { ...plan, changed: plan.changed.map(publishedChange) };
}

/** Shared with `krond reload`: exit code 2 says that something was rejected. */
export async function printPlan(answer: PlanAnswer, verb: string, args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const { plan, kept, problems, notStartable } = answer;
  const value = { ...publishedPlan(plan), kept, problems, ...(notStartable && { not_startable: notStartable }) };
  await printValue(value, () => planText(answer, verb, paintFor(args, io)), args, io);
  return problems.length + (notStartable?.length ?? 0) === 0 ? EXIT.ok : EXIT.configuration;
}

export async function run(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  if (args.positionals.length > 0) throw usageError("plan takes no arguments", "krond reload carries it out");
  const answer = (await askDaemon(args, io, {
    op: "plan",
    ...(args.has("on-this-host") && { onThisHost: true }),
  })) as PlanAnswer;
  return printPlan(answer, "a reload would do", args, io);
}
