import { ON_THIS_HOST_OPTION } from "../../args.js";
import type { CommandSpec } from "../../command.js";
import { STATE_OPTION } from "../../state-options.js";

export const PLAN: CommandSpec = {
  name: "plan",
  summary: "show what a reload would change",
  usage: "[OPTIONS]",
  details: `
Has the daemon read its configuration again and tell what a reload would do: jobs added, removed and changed, and the next
runs that would move. Nothing is changed. Exits 2 if something in the configuration is wrong; with --on-this-host also if
krond could not start a job here, which it finds out by making each one ready and letting it go before anything runs.

  kron plan && krond reload`,
  options: [STATE_OPTION, ON_THIS_HOST_OPTION],
};
