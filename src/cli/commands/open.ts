import { SCOPES } from "../../operations/scope.js";
import type { ParsedArgs } from "../args.js";
import { askDaemon } from "../daemon.js";
import { EXIT, type ExitCode, usageError } from "../exit.js";
import type { CliIo } from "../io.js";
import { oneOf } from "../listen-address.js";
import { printValue } from "../output.js";

interface Link {
  readonly url: string;
}

export async function run(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  if (args.positionals.length > 0) throw usageError("open takes no arguments", "kron open");
  const scope = oneOf(args, "scope", SCOPES);
  const link = (await askDaemon(args, io, { op: "login_link", ...(scope !== undefined && { scope }) })) as Link;
  await printValue(link, () => `${link.url}\n`, args, io);
  return EXIT.ok;
}
