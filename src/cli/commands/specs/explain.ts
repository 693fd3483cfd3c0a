import { AT_OPTION, CONFIG_OPTION, CRONTAB_OPTION, TZ_OPTION } from "../../args.js";
import type { CommandSpec } from "../../command.js";

export const EXPLAIN: CommandSpec = {
  name: "explain",
  summary: "show every step of a decision",
  usage: "JOB [OPTIONS]",
  details: `
Explains the decision of the period that is current at --at (default: now): the latest one whose window has opened.
The text shows the hash input, the hash, each draw and why candidates were rejected; -o json prints the decision record.

With --config also of a KronJob of Kubernetes, as 'kubectl get kronjob NAME -o yaml' prints it, by its name.

  kron explain prod/db-backup --at 2026-03-01T01:00:00Z`,
  options: [CONFIG_OPTION, CRONTAB_OPTION, AT_OPTION, TZ_OPTION],
};
