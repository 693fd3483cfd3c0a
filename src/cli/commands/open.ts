import { SCOPES } from "../../operations/scope.js";
import { outputForm, type ParsedArgs } from "../args.js";
import { askDaemon } from "../daemon.js";
import { EXIT, type ExitCode, usageError } from "../exit.js";
import type { CliIo } from "../io.js";
import { oneOf } from "../listen-address.js";
import { openInBrowser } from "../open-browser.js";
import { printValue } from "../output.js";

interface Link {
  readonly url: string;
}

export async function run(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  if (args.positionals.length > 0) throw usageError("open takes no arguments", "kron open");
  const scope = oneOf(args, "scope", SCOPES);
  const link = (await askDaemon(args, io, { op: "login_link", ...(scope !== undefined && { scope }) })) as Link;
  await printValue(link, () => `${link.url}\n`, args, io);
  if (outputForm(args) === "text" && openInBrowser(link.url, io)) await io.err("opened in a browser\n");
  return EXIT.ok;
}
