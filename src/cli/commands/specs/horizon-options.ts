/** What a forecast is to cover: the options that `forecast` and `tune` share. */
import { AT_OPTION, type OptionSpec } from "../../args.js";

export const HORIZON_OPTIONS: readonly OptionSpec[] = [
  AT_OPTION,
  { name: "from", value: "INSTANT", help: "where it begins (default: now, or --at, at its whole minute)" },
  { name: "to", value: "INSTANT", help: "where it ends" },
  { name: "horizon", value: "DURATION", help: "how long it is, instead of --to (default: 24h)" },
  { name: "bucket", value: "DURATION", help: "what is counted together (default: 1m)" },
];
