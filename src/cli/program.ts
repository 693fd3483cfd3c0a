import { nearest } from "../core/job/suggest.js";
import { COMMON_OPTIONS, CONFIG_OPTION, type OptionSpec, parseCommandArgs, specOf } from "./args.js";
import type { Command } from "./command.js";
import { CliError, EXIT, usageError } from "./exit.js";
import type { CliIo } from "./io.js";
import { STATE_OPTION } from "./state-options.js";

/** A set of commands under one name: finds the verb, shows help, turns trouble into one line and an exit code. */
export interface Program {
  readonly name: string;
  readonly summary: string;
  readonly version: string;
  readonly commands: readonly Command[];
  /** One whose commands are taken for its own. */
  readonly beside?: Program;
}

export async function runProgram(program: Program, argv: readonly string[], io: CliIo): Promise<number> {
  try {
    return await dispatch(program, argv, io);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    await io.err(`${program.name}: ${error.message}\n${error.hint === undefined ? "" : `  ${error.hint}\n`}`);
    return error.exitCode;
  }
}

/** Options that may stand before the verb as well, as in `kron -s DIR list`. */
const LEADING_OPTIONS: readonly OptionSpec[] = [...COMMON_OPTIONS, CONFIG_OPTION, STATE_OPTION];

interface Split {
  /** With their values. */
  readonly leading: readonly string[];
  readonly verb: string | undefined;
  readonly rest: readonly string[];
}

function splitAtVerb(argv: readonly string[]): Split {
  let at = 0;
  while (argv[at]?.startsWith("-") === true && argv[at] !== "--") {
    const spec = specOf(LEADING_OPTIONS, argv[at] ?? "");
    at += spec?.value === undefined ? 1 : 2;
  }
  return { leading: argv.slice(0, at), verb: argv[at], rest: argv.slice(at + 1) };
}

async function dispatch(program: Program, argv: readonly string[], io: CliIo): Promise<number> {
  const { leading, verb, rest } = splitAtVerb(argv);
  if (leading.includes("--version") || leading.includes("-V")) {
    await io.out(`${program.name} ${program.version}\n`);
    return EXIT.ok;
  }
  const wantsHelp = leading.includes("--help") || leading.includes("-h") || verb === "help";
  if (verb === undefined || wantsHelp) {
    const name = verb === "help" ? rest[0] : verb;
    const named = program.commands.find((command) => command.name === name);
    const text = named === undefined ? programHelp(program) : commandHelp(program, named);
    await (wantsHelp ? io.out(text) : io.err(text));
    return wantsHelp ? EXIT.ok : EXIT.usage;
  }
  const command = program.commands.find((candidate) => candidate.name === verb);
  if (command === undefined) throw unknownLeading(leading) ?? unknownCommand(program, verb);
  const args = parseCommandArgs(optionsOf(command), [...leading, ...rest]);
  if (args.has("help")) {
    await io.out(verbHelp(program, command, args.positionals[0] ?? "") ?? commandHelp(program, command));
    return EXIT.ok;
  }
  return command.run(args, io);
}

/** What stands before a word that is no command may have been meant to take it as its value; null: it is known. */
function unknownLeading(leading: readonly string[]): CliError | null {
  const written = leading.at(-1);
  const [, name = null] = /^--([^=]+)$/.exec(written ?? "") ?? [];
  if (name === null || LEADING_OPTIONS.some((known) => known.name === name)) return null;
  const near = nearest(
    name,
    LEADING_OPTIONS.map((known) => known.name),
  );
  return near === undefined ? null : usageError(`unknown option "--${name}"`, `did you mean --${near}?`);
}

function unknownCommand(program: Program, verb: string): CliError {
  const { beside } = program;
  if (beside?.commands.some(({ name }) => name === verb))
    return usageError(`unknown command "${verb}"`, `did you mean '${beside.name} ${verb}'?`);
  const near = verb === "version" ? "--version" : nearest(verb, [...program.commands.map(({ name }) => name), "help"]);
  const begun = near ?? program.commands.find(({ name }) => name.startsWith(verb.slice(0, 2)))?.name;
  const hint = begun === undefined ? `see '${program.name} --help'` : `did you mean '${program.name} ${begun}'?`;
  return usageError(`unknown command "${verb}"`, hint);
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
  const { verbs, details } = command;
  const usage = `${program.name} ${command.name}`;
  if (verbs === undefined) return helpText(`${usage} ${command.usage}`, details, optionsOf(command));
  const more = `'${usage} COMMAND --help' shows what each of them takes.`;
  return helpText(`${usage} COMMAND [OPTIONS]`, `${details.trim()}\n\n${more}`, optionsOf({ options: verbs.common }));
}

/** null: the command has no such verb. */
function verbHelp(program: Program, { name, verbs }: Command, verb: string): string | null {
  const spec = verbs !== undefined && Object.hasOwn(verbs.specs, verb) ? verbs.specs[verb] : undefined;
  if (verbs === undefined || spec === undefined) return null;
  const usage = `${program.name} ${name} ${verb} ${spec.takes.replace("[OPTIONS]", "")}`.trimEnd();
  const summary = `${spec.summary.charAt(0).toUpperCase()}${spec.summary.slice(1)}.`;
  return helpText(`${usage} [OPTIONS]`, summary, optionsOf({ options: [...verbs.common, ...spec.options] }));
}

function helpText(usage: string, details: string, options: readonly OptionSpec[]): string {
  return `Usage: ${usage}

${details.trim()}

Options:
${optionLines(options)}
`;
}

/** A command's own form of a common option takes its place. */
function optionsOf({ options }: Pick<Command, "options">): readonly OptionSpec[] {
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
