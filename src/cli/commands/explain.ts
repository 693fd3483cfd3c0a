import { zoneDataVersion } from "../../actors/zone-data.js";
import { ENGINE_VERSION } from "../../core/base/version.js";
import { compileRule } from "../../core/decision/compile.js";
import { explainDecision } from "../../core/decision/explain.js";
import { type CompiledRule, hasPeriods } from "../../core/decision/model.js";
import { toDecisionRecord } from "../../core/decision/record.js";
import type { JobDefinition } from "../../core/job/definition.js";
import { currentPeriod } from "../../core/period/periods.js";
import { formatDuration } from "../../core/time/duration.js";
import { type EpochMs, formatInstant } from "../../core/time/instant.js";
import { outputForm, type ParsedArgs } from "../args.js";
import { CliError, EXIT, type ExitCode, usageError } from "../exit.js";
import type { CliIo } from "../io.js";
import { findJob, loadJobs } from "../load.js";
import { momentArg } from "../moments.js";
import { paintFor } from "../style.js";
import { explanationText } from "./explain-text.js";

export async function run(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const [identity, ...more] = args.positionals;
  if (identity === undefined || more.length > 0)
    throw usageError("explain takes one job", "kron explain JOB --at INSTANT");
  outputForm(args);
  const at = (await momentArg(args, "at", io)) ?? io.now();
  const { jobs } = await loadJobs(args, io);
  return explainDefinition(findJob(jobs, identity).definition, at, args, io);
}

export async function explainDefinition(
  definition: JobDefinition,
  at: EpochMs,
  args: ParsedArgs,
  io: CliIo,
): Promise<ExitCode> {
  const form = outputForm(args);
  const { identity } = definition;
  const compiled = compileRule(definition);
  if (!hasPeriods(compiled)) throw noDecision(compiled);
  const nominalAt = currentPeriod(compiled, at);
  if (nominalAt === null) {
    throw new CliError(EXIT.usage, `${identity} has no period at or before ${formatInstant(at)}`);
  }
  const explanation = explainDecision(compiled, nominalAt);
  const versions = { tzVersion: zoneDataVersion(), engineVersion: ENGINE_VERSION };
  const record = toDecisionRecord(compiled, explanation.decision, versions);
  if (form === "text") await io.out(explanationText(explanation, record, paintFor(args, io)));
  else await io.out(`${JSON.stringify(record, null, form === "json" ? 2 : 0)}\n`);
  return EXIT.ok;
}

function noDecision({ rule: { identity }, everyMs }: CompiledRule): CliError {
  const message =
    everyMs === null
      ? `${identity} runs once for each boot of the machine: there is no window and no hash, and nothing to decide`
      : `${identity} runs every ${formatDuration(everyMs)}: there is no window, and nothing to decide`;
  return new CliError(EXIT.usage, message, "'kron next' shows when, 'kron why' what became of it");
}
