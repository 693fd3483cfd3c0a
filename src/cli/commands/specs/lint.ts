import { AT_OPTION, CONFIG_OPTION } from "../../args.js";
import type { CommandSpec } from "../../command.js";

export const LINT: CommandSpec = {
  name: "lint",
  summary: "check job files, with every error located",
  usage: "[FILE...] [OPTIONS]",
  details: `
Reads the files (YAML, line format, JSON Lines; or a directory of them) and lists every error with file, line and column,
then warnings: constraints that leave nothing of a window within the next 400 days, and seconds on which many jobs
fall together. KronJobs of Kubernetes are understood, too, from files or with - from standard input. Exits 2 if there is any error; with --strict also if there is any warning.

  kron lint examples/krond.yaml`,
  options: [CONFIG_OPTION, AT_OPTION, { name: "strict", help: "treat warnings as errors" }],
};
