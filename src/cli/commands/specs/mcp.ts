import type { CommandSpec } from "../../command.js";
import { STATE_OPTION } from "../../state-options.js";

export const MCP: CommandSpec = {
  name: "mcp",
  summary: "let a language model ask and steer the daemon (MCP)",
  usage: "[OPTIONS]",
  details: `
Speaks the Model Context Protocol over standard input and output, for a client that starts it: an editor, a desktop program or
an agent. What may be asked of a daemon are its tools, what can be read its resources. The daemon is asked over its control
socket; while none runs, what only reads is answered from the state directory. It ends when standard input does.

By default it only reads. With --scope write jobs and endpoints can be run, held, hinted and changed, with --scope admin the
daemon too; what cannot be taken back is marked, so that the client asks before. From another machine, use the API of
'krond start --api' with a key: the same tools are at /mcp there.

  kron mcp
  kron mcp --state /var/lib/krond --scope write
  claude mcp add kron -- kron mcp --state /var/lib/krond`,
  options: [
    STATE_OPTION,
    { name: "scope", value: "read|write|admin", help: "what may be asked (default: read)" },
    { name: "tenant", value: "NAME", help: "whose jobs and endpoints are meant (default: default)" },
  ],
};
