import { AT_OPTION, TZ_OPTION } from "../../args.js";
import type { CommandSpec } from "../../command.js";
import { STATE_OPTION } from "../../state-options.js";

export const WHY: CommandSpec = {
  name: "why",
  summary: "tell what became of a period, and why",
  usage: "JOB[@PERIOD] [OPTIONS]",
  details: `
Answers for every instant: the outcome with its reason, or why there is none: not yet, suspended, paused, the daemon was
down, before the definition, not a period at all. Without PERIOD it is the current one.

  kron why prod/db-backup@2026-03-01T00:00:00Z`,
  options: [STATE_OPTION, AT_OPTION, TZ_OPTION],
};
