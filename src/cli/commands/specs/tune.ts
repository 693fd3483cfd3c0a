import { formatDuration } from "../../../core/time/duration.js";
import { HOUR_MS } from "../../../core/time/instant.js";
import { CONFIG_OPTION, CRONTAB_OPTION } from "../../args.js";
import type { CommandSpec } from "../../command.js";
import { HORIZON_OPTIONS } from "./horizon-options.js";

export const TUNE_FORMS = ["text", "json", "diff"] as const;
export const DEFAULT_FIXED_TAG = "fixed";
export const DEFAULT_MAX_WINDOW_MS = HOUR_MS;

export const TUNE: CommandSpec = {
  name: "tune",
  summary: "propose windows that flatten the load, as a change to the files",
  usage: "[FILE...] [OPTIONS]",
  details: `
Finds the buckets of a forecast that are too full, and for jobs without a window in them the shortest windows that flatten
them; shows the peak before and after, and a unified diff of the files. Comments and form of the files stay. Nothing is
written without --write. A window is never longer than half the smallest gap between periods, nor than the job's own
deadline (a deadline of "window" goes along with it). Jobs with the tag "${DEFAULT_FIXED_TAG}", and those that say something about their window themselves, are left alone.

  kron tune jobs.yaml --target-peak 20
  kron tune jobs.yaml -o diff | patch -p1`,
  options: [
    { name: "output", short: "o", value: TUNE_FORMS.join("|"), help: "form of the output (default: text)" },
    CONFIG_OPTION,
    CRONTAB_OPTION,
    ...HORIZON_OPTIONS,
    { name: "target-peak", value: "N", help: "starts a bucket may have (default: as flat as makes sense)" },
    {
      name: "max-window",
      value: "DURATION",
      help: `the longest window to propose (default: ${formatDuration(DEFAULT_MAX_WINDOW_MS)})`,
    },
    { name: "only", value: "GLOB", help: "only jobs whose identity or tag matches; * and ? stand for others" },
    { name: "fixed", value: "TAG", help: `leave jobs with this tag alone (default: ${DEFAULT_FIXED_TAG})` },
    { name: "widen", help: "also make windows wider that are there" },
    { name: "reseed", help: "also give jobs with a window another salt: all their times change" },
    { name: "write", help: "replace the files" },
  ],
};
