import { GROUPINGS } from "../../../core/forecast/groups.js";
import { CONFIG_OPTION, CRONTAB_OPTION } from "../../args.js";
import type { CommandSpec } from "../../command.js";
import { HORIZON_OPTIONS } from "./horizon-options.js";

export const FORECAST_FORMS = ["text", "json", "jsonl", "csv", "html", "plot"] as const;
export const DEFAULT_TOP = 10;

export const FORECAST: CommandSpec = {
  name: "forecast",
  summary: "show how many jobs will start when, with and without windows",
  usage: "[FILE...] [OPTIONS]",
  details: `
Computes every start of every job ahead of time, from the configuration alone, and counts them by bucket: at the seconds
Kron chooses, and at the nominal times, where cron would put them. Shows the fullest buckets and who makes them. With
--max-peak it is a gate for CI: exit code 2, and the culprits on standard error.

  kron forecast jobs.yaml --from 2026-03-01T00:00:00Z --bucket 1m --max-peak 50
  kron forecast jobs.yaml --by tag -o html > forecast.html`,
  options: [
    { name: "output", short: "o", value: FORECAST_FORMS.join("|"), help: "form of the output (default: text)" },
    CONFIG_OPTION,
    CRONTAB_OPTION,
    ...HORIZON_OPTIONS,
    { name: "by", value: GROUPINGS.join("|"), help: "whose starts are told apart (default: identity)" },
    { name: "top", value: "N", help: `how many peaks and groups are shown (default: ${DEFAULT_TOP})` },
    { name: "max-peak", value: "N", help: "exit 2 when a bucket has more starts than this" },
    { name: "assume-duration", value: "DURATION", help: "how long a run takes: adds how many run at once" },
    {
      name: "state",
      short: "s",
      value: "DIR",
      help: "state directory of krond: durations from past runs, and where intervals count from",
    },
    { name: "width", value: "N", help: "columns of -o plot (default: the terminal, or 80)" },
  ],
};
