import { type Configuration, loadConfiguration } from "../../actors/pool/load/configuration.js";
import { locateProblems } from "../../actors/pool/load/locate.js";
import type { HostFindings } from "../../actors/preflight/findings.js";
import { errorKind } from "../../core/base/errors/registry.js";
import { deadlineWarnings } from "../../core/config/lint/deadlines.js";
import { type LintWarning, lintWarnings } from "../../core/config/lint/lint.js";
import { compileRule } from "../../core/decision/compile.js";
import { literalAddressFindings } from "../../krond/boot/addresses.js";
import { configTrust, trustRules } from "../../krond/boot/config-trust.js";
import type { ConfigCheck, ConfigFinding } from "../../persist/config-files.js";
import { outputForm, type ParsedArgs } from "../args.js";
import { EXIT, type ExitCode } from "../exit.js";
import { plural } from "../format.js";
import type { CliIo } from "../io.js";
import { withKronJobs } from "../kube/kron-job-file.js";
import { configurationSources, findingsText } from "../load.js";
import { momentArg } from "../moments.js";
import { printReport } from "../output.js";
import { hasColour, type Paint, paintFor } from "../style.js";

const NOT_LOOKED: HostFindings = { findings: [], untold: 0 };

function warningText(warning: LintWarning, paint: Paint): string {
  const jobs = warning.identities.length === 0 ? "" : `${paint.bold(warning.identities.join(", "))}: `;
  return `${jobs}${paint.yellow("warning:")} ${warning.message}\n  hint: ${warning.hint}\n`;
}

function findingJson({ located, sourceLine }: ConfigFinding): object {
  const { problem, file, line, column, length, identity } = located;
  const { code, message, path, hint } = problem;
  const category = errorKind(code).category;
  return {
    file,
    line,
    column,
    length,
    identity,
    code,
    category,
    path,
    message,
    hint: hint ?? null,
    source: sourceLine,
  };
}

async function printText(
  configuration: Configuration,
  warnings: readonly LintWarning[],
  args: ParsedArgs,
  io: CliIo,
): Promise<void> {
  const paint = paintFor(args, io);
  await io.out(findingsText(configuration.findings, hasColour(args, io, io.isOutTerminal)));
  for (const warning of warnings) await io.out(warningText(warning, paint));
  const counts = [
    plural(configuration.jobs.length, "job"),
    plural(configuration.findings.length, "error"),
    plural(warnings.length, "warning"),
  ].join(", ");
  const verdict = configuration.findings.length === 0 ? paint.green("ok") : paint.red("invalid");
  await io.out(`${verdict}: ${configuration.files.join(", ") || "no file"}: ${counts}\n`);
}

async function printJson(
  configuration: Configuration,
  warnings: readonly LintWarning[],
  form: "json" | "jsonl",
  io: CliIo,
): Promise<void> {
  const errors = configuration.findings.map(findingJson);
  const { files, jobs } = configuration;
  const whole = { files, valid: errors.length === 0, jobs: jobs.length, errors, warnings };
  const rows = [
    ...errors.map((error) => ({ severity: "error", ...error })),
    ...warnings.map((warning) => ({ severity: "warning", ...warning })),
  ];
  await printReport(form, whole, rows, io);
}

export async function run(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const form = outputForm(args);
  const at = (await momentArg(args, "at", io)) ?? io.now();
  const doubts = new Map<string, LintWarning>();
  const sources = await withKronJobs(await configurationSources(args, io));
  const loaded = await loadConfiguration(sources, doubting(doubts));
  const isPrivateFine = args.has("allow-private");
  const host = args.has("on-this-host") ? await lookAtHost(loaded, io) : NOT_LOOKED;
  const others = await locateProblems(sources, [...forbiddenAddresses(loaded, isPrivateFine), ...host.findings]);
  const findings = [...loaded.findings, ...others];
  const configuration = { ...loaded, findings };
  const active = configuration.jobs.filter(({ definition }) => !definition.policy.suspend);
  const rules = active.map(({ definition }) => compileRule(definition));
  const deadlines = deadlineWarnings(active.map(({ definition }) => definition));
  const warnings = [...doubts.values(), ...lintWarnings(rules, at), ...deadlines, ...untoldWarning(host)];
  if (form === "text") await printText(configuration, warnings, args, io);
  else await printJson(configuration, warnings, form, io);
  const isStrictFailure = args.has("strict") && warnings.length > 0;
  return configuration.findings.length > 0 || isStrictFailure ? EXIT.configuration : EXIT.ok;
}

/** Launchers are a program of their own, which nobody else who lints has to read. */
async function lookAtHost(configuration: Configuration, io: CliIo): Promise<HostFindings> {
  const { findingsOnThisHost } = await import("../on-this-host.js");
  return findingsOnThisHost(configuration, io);
}

/** Nobody is to believe that more was looked at than could be. */
function untoldWarning({ untold }: HostFindings): LintWarning[] {
  if (untold === 0) return [];
  const message = `of ${plural(untold, "job")} it cannot be told from here whether this host can start it`;
  const hint =
    "run this as root, as krond runs; what comes from krond's own environment, 'kron plan --on-this-host' can tell";
  return [{ kind: "untold", identities: [], message, hint }];
}

/**
 * What a daemon of this user would refuse to read, it reads no less for that: the file may be on its way to another machine
 * and another owner. One word for each place, however many files lie behind it.
 */
function doubting(doubts: Map<string, LintWarning>): ConfigCheck {
  const judge = configTrust(trustRules([]));
  return async (opened) => {
    const problem = await judge(opened);
    if (problem === null) return null;
    const message = `as it lies here, krond would not start with it: ${problem.message}`;
    const hint = problem.hint ?? "give it to root or to the daemon's user, writable by nobody else";
    doubts.set(problem.message, { kind: "untrusted", identities: [], message, hint });
    return null;
  };
}

/** Of names nobody knows where they lead before they are looked up. */
function forbiddenAddresses({ jobs, settings }: Configuration, isPrivateFine: boolean): ConfigFinding[] {
  const policy = { ...settings.http, allowPrivate: settings.http.allowPrivate || isPrivateFine };
  return jobs.flatMap((job) => literalAddressFindings(job, policy));
}
