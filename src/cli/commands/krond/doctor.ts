import { examine } from "../../../krond/doctor/doctor.js";
import type { Finding, Verdict } from "../../../krond/doctor/model.js";
import { outputForm, type ParsedArgs } from "../../args.js";
import type { Command } from "../../command.js";
import { EXIT, type ExitCode, usageError } from "../../exit.js";
import type { CliIo } from "../../io.js";
import { STATE_OPTION, stateDirectoryOf } from "../../state-options.js";
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

async function run(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  if (args.positionals.length > 0) throw usageError("doctor takes no arguments");
  const [form, paint] = [outputForm(args), paintFor(args, io)];
  const findings: Finding[] = [];
  for await (const finding of examine({ stateDirectory: stateDirectoryOf(args, io), env: io.env })) {
    findings.push(finding);
    // As they come: the whole takes some seconds.
    if (form === "text") await io.out(textOf(finding, paint));
    if (form === "jsonl") await io.out(`${JSON.stringify(finding)}\n`);
  }
  if (form === "json") await io.out(`${JSON.stringify(findings, null, 2)}\n`);
  return findings.some(({ verdict }) => verdict === "bad") ? EXIT.usage : EXIT.ok;
}

export const DOCTOR: Command = {
  name: "doctor",
  summary: "measure this machine, and say what to expect of it",
  usage: "[OPTIONS]",
  details: `
Measures how long a durable write takes on the state directory, how many processes a second can be made ready and started,
how late timers are and whether the clock runs evenly; looks at the disk, the limits and the programs that the daemon needs.
Takes some seconds, changes nothing and leaves nothing behind. Run it as the daemon's user. Exits 1 when something is bad.

  krond doctor --state /var/lib/krond`,
  options: [STATE_OPTION],
  run,
};
