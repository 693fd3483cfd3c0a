import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { systemClock } from "../../actors/clock.js";
import { LineTransport } from "../../api/mcp/lines.js";
import { serverFor } from "../../api/mcp/server.js";
import { surfaceOf } from "../../api/mcp/surface.js";
import { DEFAULT_TENANT } from "../../core/endpoint/endpoint-name.js";
import type { Operation } from "../../operations/operation.js";
import { OPERATIONS } from "../../operations/registry.js";
import { tenantName } from "../../operations/tenant.js";
import type { ParsedArgs } from "../args.js";
import { EXIT, usageError } from "../exit.js";
import type { CliIo } from "../io.js";
import { SCOPES } from "../key-words.js";
import { oneOf } from "../listen-address.js";
import { DaemonCarrier } from "../mcp/daemon-carrier.js";
import { stateDirectoryOf } from "../state-options.js";

/** Until standard input ends. What goes to standard output is the protocol and nothing else. */
export async function run(args: ParsedArgs, io: CliIo): Promise<number> {
  if (args.positionals.length > 0) throw usageError("mcp takes no arguments", "kron mcp --scope read");
  const scope = oneOf(args, "scope", SCOPES) ?? "read";
  const tenant = tenantOf(args);
  const stateDirectory = stateDirectoryOf(args, io);
  if (io.isErrTerminal) await io.err("kron: this speaks MCP with a program that starts it; end it with Ctrl-D\n");
  const surface = surfaceOf(OPERATIONS as unknown as readonly Operation[]);
  const carrier = new DaemonCarrier({ stateDirectory, scope, tenant }, io);
  const transport = new LineTransport({ input: io.input, write: io.out, after: systemClock.after });
  const handle = serveStdio(() => serverFor(surface, carrier), { transport, maxSubscriptions: 1 });
  await transport.closed;
  await handle.close();
  return EXIT.ok;
}

function tenantOf(args: ParsedArgs): string {
  const tenant = args.text("tenant") ?? DEFAULT_TENANT;
  const read = tenantName.safeParse(tenant);
  if (read.success) return tenant;
  throw usageError(`--tenant: ${JSON.stringify(tenant)} is no name of a tenant`, read.error.issues[0]?.message);
}
