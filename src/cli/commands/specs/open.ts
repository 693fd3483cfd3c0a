import type { CommandSpec } from "../../command.js";
import { STATE_OPTION } from "../../state-options.js";

export const OPEN: CommandSpec = {
  name: "open",
  summary: "make a link that opens the daemon's page in a browser",
  usage: "[OPTIONS]",
  details: `
Prints a link to the page that 'krond start --web' serves. Whoever follows it first is logged in; it works once, for a
minute. On a terminal of a desktop the browser opens it (by xdg-open). From another machine:
'ssh -L 7070:127.0.0.1:7070 HOST', and the same link there.

  kron open --scope read`,
  options: [
    STATE_OPTION,
    { name: "scope", value: "read|write|admin", help: "what may be done there (default: admin)" },
  ],
};
