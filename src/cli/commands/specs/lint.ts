import { AT_OPTION, CONFIG_OPTION, CRONTAB_OPTION, ON_THIS_HOST_OPTION, TZ_OPTION } from "../../args.js";
import type { CommandSpec } from "../../command.js";

export const LINT: CommandSpec = {
  name: "lint",
  summary: "check job files, with every error located",
  usage: "[FILE...] [OPTIONS]",
  details: `
Reads the files (YAML, line format, JSON Lines, crontabs, KronJobs of Kubernetes; a directory of them; "-" for standard
input) and lists every error with file, line and column, then warnings: files that a daemon of this user would refuse for
their owner or mode, constraints that leave nothing of a window within the next 400 days, rare jobs without a deadline, and
seconds on which many jobs fall together. Exits 2 if there is any error; with --strict also if there is any warning.

With --on-this-host every job is made ready as it would be at its start, and let go again before anything runs: its program
is looked up in its own PATH, as its own user, in its own directory, with its environment files, or its certificates.

  kron lint examples/krond.yaml
  sudo kron lint --on-this-host /etc/krond.d`,
  options: [
    CONFIG_OPTION,
    CRONTAB_OPTION,
    AT_OPTION,
    TZ_OPTION,
    ON_THIS_HOST_OPTION,
    { name: "allow-private", help: "requests may go to this machine and to private networks, as with krond start" },
    { name: "strict", help: "treat warnings as errors" },
  ],
};
