/** What a forecast is to cover: the options that `forecast` and `tune` share. */
import { AT_OPTION, type OptionSpec, TZ_OPTION } from "../../args.js";

export const HORIZON_OPTIONS: readonly OptionSpec[] = [
  AT_OPTION,
  TZ_OPTION,
  { name: "from", value: "WHEN", help: "where it begins (default: now, or --at, at its whole minute)" },
  { name: "to", value: "WHEN", help: "where it ends" },
  { name: "horizon", value: "DURATION", help: "how long it is, instead of --to (default: 24h)" },
  { name: "bucket", value: "DURATION", help: "what is counted together (default: 1m)" },
];
