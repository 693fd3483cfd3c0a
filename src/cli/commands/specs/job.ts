import { TENANT_OPTION } from "../../endpoints/tenant-option.js";
import { STATE_OPTION } from "../../state-options.js";
import { commandOfVerbs, type VerbsSpec } from "../../verbs.js";
import { NOTIFY_OPTIONS } from "./endpoint-fields.js";
import { IF_MATCH_OPTION, REHEARSAL } from "./endpoint-options.js";

const DESCRIPTION = { name: "description", value: "TEXT", help: "for people" } as const;

/** Of all its endpoints that do not say themselves. */
const TELLING = NOTIFY_OPTIONS.map((option) =>
  option.name === "notify"
    ? { ...option, help: "whom its endpoints tell by a webhook when they fail and recover; none: nobody" }
    : option,
);

export const JOB_VERBS = {
  name: "job",
  summary: "make, show, pause and take out jobs that hold endpoints",
  details: `
A job of endpoints is a name for those that belong together, and a switch for all of them; jobs that a configuration defines are
others, and 'kron list' shows them. JOB is a name or an id. The daemon must be running.`,
  verbs: {
    list: { takes: "[OPTIONS]", summary: "which jobs there are", options: [] },
    show: { takes: "JOB", summary: "one job", options: [] },
    create: {
      takes: "NAME",
      summary: "makes a job, which has no endpoints yet",
      options: [DESCRIPTION, ...TELLING, REHEARSAL],
    },
    update: {
      takes: "JOB",
      summary: "changes its name, its description, or whom its endpoints tell",
      options: [
        { name: "name", value: "NAME", help: "a new name" },
        DESCRIPTION,
        ...TELLING,
        IF_MATCH_OPTION,
        REHEARSAL,
      ],
    },
    pause: { takes: "JOB...", summary: "starts nothing of its endpoints until it is resumed", options: [REHEARSAL] },
    resume: { takes: "JOB...", summary: "lets the endpoints of a paused or archived job go on", options: [REHEARSAL] },
    archive: { takes: "JOB...", summary: "puts it away with all that is on record of it", options: [REHEARSAL] },
    delete: {
      takes: "JOB...",
      summary: "takes it out; the runs of its endpoints stay on record",
      options: [{ name: "force", help: "with all its endpoints" }, IF_MATCH_OPTION, REHEARSAL],
    },
  },
  options: [STATE_OPTION, TENANT_OPTION],
  examples: `
kron job create billing --description "invoices and reminders"
kron job pause billing
kron job delete billing --force`,
} as const satisfies VerbsSpec<string>;

export const JOB = commandOfVerbs(JOB_VERBS);
