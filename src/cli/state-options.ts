/** Where the daemon's state is, for every command that asks for it. */
import { resolve } from "node:path";
import { defaultStateDirectory } from "../krond/state/directory.js";
import type { OptionSpec, ParsedArgs } from "./args.js";
import type { CliIo } from "./io.js";

export const STATE_OPTION: OptionSpec = {
  name: "state",
  short: "s",
  value: "DIR",
  help: "state directory (default: $KRON_STATE, /var/lib/krond as root, else ~/.local/state/krond)",
};

export function stateDirectoryOf(args: ParsedArgs, io: CliIo): string {
  return resolve(io.cwd, args.text("state") || io.env["KRON_STATE"] || defaultStateDirectory(io.env));
}
