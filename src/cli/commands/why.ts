import type { WhyAnswer } from "../../core/why/facts.js";
import type { ParsedArgs } from "../args.js";
import { EXIT, type ExitCode, usageError } from "../exit.js";
import type { CliIo } from "../io.js";
import { jobPeriodOf, unreadPeriod, whyAnswer } from "../job-period.js";
import { momentArg } from "../moments.js";
import { printValue } from "../output.js";
import { type Paint, paintFor, renderPairs } from "../style.js";

function answerText(answer: WhyAnswer, paint: Paint): string {
  const { identity, period_id, text, window_start, window_end, chosen_time, decision } = answer;
  const window = window_start === null ? [] : [["window", `${window_start} to ${window_end}`] as const];
  const chosen = chosen_time === null || chosen_time === "" ? [] : [["chosen", chosen_time] as const];
  const seed = decision === null ? [] : [["seed", decision.seed_hash] as const];
  const pairs = [...window, ...chosen, ...seed];
  return `${paint.bold(`${identity}@${period_id}`)}: ${text}\n${pairs.length === 0 ? "" : renderPairs(pairs, paint)}`;
}

export async function run(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const [written, ...more] = args.positionals;
  if (written === undefined || more.length > 0) {
    throw usageError("why takes one period", "kron why JOB@2026-03-01T00:00:00Z");
  }
  const period = await jobPeriodOf(written, args, io);
  const at = (await momentArg(args, "at", io)) ?? null;
  const value = await whyAnswer({ ...period, at }, args, io).catch((error: unknown) => {
    throw unreadPeriod(error, period);
  });
  await printValue(value, () => answerText(value, paintFor(args, io)), args, io);
  return EXIT.ok;
}
