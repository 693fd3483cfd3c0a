import type { OptionSpec, ParsedArgs } from "./args.js";
import type { ExitCode } from "./exit.js";
import type { CliIo } from "./io.js";

/** One verb of a program. */
export interface Command {
  readonly name: string;
  /** One line for the overview. */
  readonly summary: string;
  /** What follows the name in the usage line. */
  readonly usage: string;
  /** A paragraph or two for `--help`, with an example. */
  readonly details: string;
  readonly options: readonly OptionSpec[];
  run(args: ParsedArgs, io: CliIo): Promise<ExitCode>;
}
