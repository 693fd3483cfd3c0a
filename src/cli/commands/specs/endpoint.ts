import { TZ_OPTION } from "../../args.js";
import { TENANT_OPTION } from "../../endpoints/tenant-option.js";
import { STATE_OPTION } from "../../state-options.js";
import { commandOfVerbs, type VerbsSpec } from "../../verbs.js";
import { FIELD_OPTIONS } from "./endpoint-fields.js";
import { IF_MATCH_OPTION, JOB_OPTION, REHEARSAL, SEVERAL_OPTIONS, TAG_FILTER } from "./endpoint-options.js";
import { HINT_OPTIONS } from "./hint.js";

const REASON = { name: "reason", value: "TEXT", help: "why" } as const;

export const ENDPOINT_VERBS = {
  name: "endpoint",
  summary: "make, change, pause, hint and run endpoints: requests that Kron sends by itself",
  details: `
An endpoint is a request with a schedule; a job holds those that belong together. ENDPOINT is JOB/NAME, an id, or with --job a
name. Where several are taken a pattern does as well, such as 'billing/*'. The daemon must be running; nothing is reloaded.`,
  verbs: {
    list: {
      takes: "[OPTIONS]",
      summary: "which endpoints there are, what is next and how they do",
      options: [
        { name: "job", value: "JOB", help: "only those of this job" },
        TAG_FILTER,
        { name: "failed", help: "only endpoints whose last run failed, or of which nothing can be started" },
        { name: "count", short: "n", value: "N", help: "how many at most (default: all)" },
        { name: "local", help: "times in your zone, or that of --tz, instead of UTC" },
        TZ_OPTION,
      ],
    },
    show: {
      takes: "ENDPOINT",
      summary: "one endpoint: what it is and where it stands",
      options: [JOB_OPTION, { name: "spec", help: "as a file for 'apply'" }],
    },
    create: {
      takes: "ENDPOINT",
      summary: "makes one, which is scheduled from now on",
      options: [JOB_OPTION, REHEARSAL, ...FIELD_OPTIONS],
    },
    update: {
      takes: "ENDPOINT",
      summary: "changes what is named, and nothing else",
      options: [
        JOB_OPTION,
        REHEARSAL,
        IF_MATCH_OPTION,
        { name: "name", value: "NAME", help: "a new name" },
        ...FIELD_OPTIONS,
      ],
    },
    apply: {
      takes: "FILE",
      summary: "makes endpoints what a file says; all of it is judged first",
      options: [{ name: "job", value: "JOB", help: "the job of endpoints that name none" }, REHEARSAL],
    },
    pause: {
      takes: "ENDPOINT...",
      summary: "starts nothing until --until",
      options: [
        ...SEVERAL_OPTIONS,
        { name: "until", value: "WHEN", help: "2h, 7d, tomorrow, 09:00, fri 18:00, 2026-11-19T09:00:00Z" },
        TZ_OPTION,
        REASON,
      ],
    },
    resume: { takes: "ENDPOINT...", summary: "ends a pause", options: SEVERAL_OPTIONS },
    hint: {
      takes: "ENDPOINT...",
      summary: "lets it run otherwise for a while; without options, the hints in force",
      options: [...SEVERAL_OPTIONS, ...HINT_OPTIONS],
    },
    run: {
      takes: "ENDPOINT...",
      summary: "runs it now, beside its schedule",
      options: [
        ...SEVERAL_OPTIONS,
        { name: "wait", help: "wait for the end: 0 success, 1 failure, 70 when nobody knows" },
        { name: "if-idle", help: "refuse while it is running" },
      ],
    },
    delete: {
      takes: "ENDPOINT...",
      summary: "takes it out; its runs stay on record",
      options: [...SEVERAL_OPTIONS, IF_MATCH_OPTION],
    },
  },
  options: [STATE_OPTION, TENANT_OPTION],
  examples: `
kron endpoint create billing/sync --url https://api.example.com/sync --cron '*/5 * * * *' --retries 3
kron endpoint update billing/sync --every 1m --dry-run
kron endpoint apply billing.yaml
kron endpoint pause 'billing/*' --until 2h --reason "maintenance"
kron endpoint hint billing/sync --every 30s --ttl 1h`,
} as const satisfies VerbsSpec<string>;

export const ENDPOINT = commandOfVerbs(ENDPOINT_VERBS);
