import type { OptionSpec, ParsedArgs } from "./args.js";
import type { CliIo } from "./io.js";

/** What there is to say about a verb: enough for help, for completion, and to read its command line. */
export interface CommandSpec {
  readonly name: string;
  /** One line for the overview. */
  readonly summary: string;
  /** What follows the name in the usage line. */
  readonly usage: string;
  /** A paragraph or two for `--help`, with an example. */
  readonly details: string;
  readonly options: readonly OptionSpec[];
  /** Where the first word says what is to be done: what each of these words takes, beside what all of them do. */
  readonly verbs?: { readonly common: readonly OptionSpec[]; readonly specs: Readonly<Record<string, VerbSpec>> };
}

export interface VerbSpec {
  /** What follows the word in the usage line. */
  readonly takes: string;
  readonly summary: string;
  readonly options: readonly OptionSpec[];
}

/** Gives an exit code: one of `EXIT`, but where a command passes on that of a job. */
export type Run = (args: ParsedArgs, io: CliIo) => Promise<number>;

/** One verb of a program. */
export interface Command extends CommandSpec {
  readonly run: Run;
}

/** A verb whose code is read when it runs: help, completion and every other verb do not wait for it. */
export function lazily(spec: CommandSpec, load: () => Promise<Run>): Command {
  return { ...spec, run: async (args, io) => (await load())(args, io) };
}
