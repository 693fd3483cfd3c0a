import type { OptionSpec } from "../args.js";

export const TENANT_OPTION: OptionSpec = {
  name: "tenant",
  value: "NAME",
  help: "whose jobs and endpoints (default: default)",
};
