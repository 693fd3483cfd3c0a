import { examine } from "../../../krond/doctor/doctor.js";
import type { Finding, Verdict } from "../../../krond/doctor/model.js";
import { foundOr } from "../../../persist/backends.js";
import { outputForm, type ParsedArgs } from "../../args.js";
import { EXIT, type ExitCode, usageError } from "../../exit.js";
import type { CliIo } from "../../io.js";
import { stateDirectoryOf } from "../../state-options.js";
import { storePlaceOf } from "../../store-option.js";
import { type Paint, paintFor } from "../../style.js";

const VERDICT_CHARS = 8;
const CHECK_CHARS = 6;

function painted(verdict: Verdict, paint: Paint): string {
  const word = verdict.padEnd(VERDICT_CHARS);
  if (verdict === "ok") return paint.green(word);
  return verdict === "unknown" ? paint.dim(word) : verdict === "bad" ? paint.red(word) : paint.yellow(word);
}

function textOf({ check, verdict, message, advice }: Finding, paint: Paint): string {
  const line = `${painted(verdict, paint)} ${paint.bold(check.padEnd(CHECK_CHARS))} ${message}\n`;
  const indent = " ".repeat(VERDICT_CHARS + CHECK_CHARS + 2);
  return advice === null ? line : `${line}${indent}${paint.dim(advice)}\n`;
}

export async function run(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  if (args.positionals.length > 0) throw usageError("doctor takes no arguments");
  const [form, paint] = [outputForm(args), paintFor(args, io)];
  const store = foundOr(storePlaceOf(args, io));
  const findings: Finding[] = [];
  for await (const finding of examine({ stateDirectory: stateDirectoryOf(args, io), store, env: io.env })) {
    findings.push(finding);
    // As they come: the whole takes some seconds.
    if (form === "text") await io.out(textOf(finding, paint));
    if (form === "jsonl") await io.out(`${JSON.stringify(finding)}\n`);
  }
  if (form === "json") await io.out(`${JSON.stringify(findings, null, 2)}\n`);
  return findings.some(({ verdict }) => verdict === "bad") ? EXIT.usage : EXIT.ok;
}
