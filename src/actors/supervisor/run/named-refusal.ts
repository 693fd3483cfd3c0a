/**
 * Names the command in what is said when there is none to run: whoever reads that in a log or was refused a run wants to
 * know what was looked for. Of a command only its program is ever named, and that only where it cannot be more than a
 * name: a whole line in its place may hold a password.
 */
import type { ErrorCode } from "../../../core/base/errors/registry.js";
import type { Command } from "../../launcher/port.js";
import type { ArmFailure } from "../../runner/port.js";

const ABOUT_THE_COMMAND: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["command-not-found", "command-not-executable"]);
const SHELL = "/bin/sh";
/** Neither blanks nor `=`, and nothing that a terminal would obey. */
const NAME = /^[^\s=\p{Cc}\p{Cf}\p{Cs}]{1,256}$/u;

export function namedRefusal(refusal: ArmFailure, command: Command): ArmFailure {
  if (!ABOUT_THE_COMMAND.has(refusal.code)) return refusal;
  const program = command.kind === "shell" ? SHELL : (command.argv[0] ?? "");
  if (program === "") return refusal;
  const name = NAME.test(program)
    ? program
    : "its name is not shown, for it holds more than a name; arguments are elements of their own";
  return { ...refusal, message: `${refusal.message}: ${name}` };
}
