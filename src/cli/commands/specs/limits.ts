import { TENANT_OPTION } from "../../endpoints/tenant-option.js";
import { STATE_OPTION } from "../../state-options.js";
import { commandOfVerbs, type VerbsSpec } from "../../verbs.js";
import { REHEARSAL } from "./endpoint-options.js";

export const LIMITS_VERBS = {
  name: "limits",
  summary: "show or set what a tenant may use",
  details: `
Limits are each tenant's own: how often its endpoints may run, how many there may be, and what a planner may ask for them. The
daemon must be running.`,
  verbs: {
    show: { takes: "", summary: "the limits, and what was used of them", options: [] },
    list: { takes: "", summary: "all tenants, and what each has used", options: [] },
    set: {
      takes: "[OPTIONS]",
      summary: "changes the limits that are named; the others stay",
      options: [
        { name: "executions-per-minute", value: "N", help: "runs, evenly; none: no such limit" },
        { name: "execution-burst", value: "N", help: "how many of them at once; none: 10" },
        { name: "executions-per-month", value: "N", help: "runs of a calendar month, in UTC; none: no such limit" },
        { name: "endpoints", value: "N", help: "how many there may be; none: no such limit" },
        { name: "min-interval", value: "DURATION", help: "no endpoint may run more often; none: no such limit" },
        { name: "planner-calls-per-day", value: "N", help: "what a planner may ask; none: no such limit" },
        { name: "planner-tokens-per-day", value: "N", help: "what a planner may use; none: no such limit" },
        REHEARSAL,
      ],
    },
  },
  options: [STATE_OPTION, TENANT_OPTION],
  examples: `
kron limits show --tenant acme
kron limits list
kron limits set --tenant acme --executions-per-minute 60 --endpoints 100 --min-interval 1m`,
} as const satisfies VerbsSpec<string>;

export const LIMITS = commandOfVerbs(LIMITS_VERBS);
