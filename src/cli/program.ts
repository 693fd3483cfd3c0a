import { COMMON_OPTIONS, type OptionSpec, parseCommandArgs } from "./args.js";
import type { Command } from "./command.js";
import { CliError, EXIT, type ExitCode } from "./exit.js";
import type { CliIo } from "./io.js";

/** A set of commands under one name: finds the verb, shows help, turns trouble into one line and an exit code. */
export interface Program {
  readonly name: string;
  readonly summary: string;
  readonly version: string;
  readonly commands: readonly Command[];
}

export async function runProgram(program: Program, argv: readonly string[], io: CliIo): Promise<ExitCode> {
  try {
    return await dispatch(program, argv, io);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    await io.err(`${program.name}: ${error.message}\n${error.hint === undefined ? "" : `  ${error.hint}\n`}`);
    return error.exitCode;
  }
}

async function dispatch(program: Program, argv: readonly string[], io: CliIo): Promise<ExitCode> {
  const [verb, ...rest] = argv;
  if (verb === "--version" || verb === "-V") {
    await io.out(`${program.name} ${program.version}\n`);
    return EXIT.ok;
  }
  if (verb === undefined || verb === "--help" || verb === "-h" || verb === "help") {
    const named = program.commands.find((command) => command.name === rest[0]);
    const text = verb === "help" && named !== undefined ? commandHelp(program, named) : programHelp(program);
    await (verb === undefined ? io.err(text) : io.out(text));
    return verb === undefined ? EXIT.usage : EXIT.ok;
  }
  const command = program.commands.find((candidate) => candidate.name === verb);
  if (command === undefined) throw new CliError(EXIT.usage, `unknown command "${verb}"`, nearestHint(program, verb));
  const args = parseCommandArgs(optionsOf(command), rest);
  if (args.has("help")) {
    await io.out(commandHelp(program, command));
    return EXIT.ok;
  }
  return command.run(args, io);
}

function nearestHint(program: Program, verb: string): string {
  const near = program.commands.find((command) => command.name.startsWith(verb.slice(0, 2)));
  return near === undefined ? `see '${program.name} --help'` : `did you mean '${program.name} ${near.name}'?`;
}

function programHelp(program: Program): string {
  const width = Math.max(...program.commands.map((command) => command.name.length));
  const lines = program.commands.map((command) => `  ${command.name.padEnd(width)}  ${command.summary}`);
  return `${program.summary}

Usage: ${program.name} COMMAND [OPTIONS]

Commands:
${lines.join("\n")}

'${program.name} COMMAND --help' explains one; '${program.name} --version' names this version.
Exit codes: 0 ok, 1 usage or not found, 2 configuration, 3 state, 4 lock held, 5 internal.
`;
}

function commandHelp(program: Program, command: Command): string {
  return `Usage: ${program.name} ${command.name} ${command.usage}

${command.details.trim()}

Options:
${optionLines(optionsOf(command))}
`;
}

/** A command's own form of a common option takes its place. */
function optionsOf({ options }: Command): readonly OptionSpec[] {
  const own = new Set(options.map(({ name }) => name));
  return [...options, ...COMMON_OPTIONS.filter(({ name }) => !own.has(name))];
}

function optionLines(specs: readonly OptionSpec[]): string {
  const names = specs.map(
    (spec) =>
      `${spec.short === undefined ? "    " : `-${spec.short}, `}--${spec.name}${spec.value === undefined ? "" : ` ${spec.value}`}`,
  );
  const width = Math.max(...names.map((name) => name.length));
  return specs.map((spec, index) => `  ${(names[index] ?? "").padEnd(width)}  ${spec.help}`).join("\n");
}
