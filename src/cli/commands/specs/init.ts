import { TZ_OPTION } from "../../args.js";
import type { CommandSpec } from "../../command.js";

export const INIT: CommandSpec = {
  name: "init",
  summary: "write a first job file, commented",
  usage: "[DIR|FILE] [OPTIONS]",
  details: `
Writes jobs.yaml into the directory (default: this one), or the file that is named: a job that everybody can run, every five
minutes, with comments that say what a window, a deadline, a time zone and a notification are. A file that is there already
is never touched. Then it prints what to do next.

  kron init ~/jobs`,
  options: [{ ...TZ_OPTION, help: "zone that the schedules are read in (default: yours)" }],
};
