/** What people do with KronJobs, beside what kubectl does anyway. */
import { ENGINE_VERSION } from "../../../core/base/version.js";
import { AT_OPTION, type OptionSpec } from "../../args.js";
import { type Command, type CommandSpec, lazily } from "../../command.js";
import type { Program } from "../../program.js";
import { CLUSTER_OPTIONS } from "../specs/operator.js";

const NAMESPACE: OptionSpec = {
  name: "namespace",
  short: "n",
  value: "NAME",
  help: "namespace of the KronJob (default: the context's)",
};

function verb(name: string, summary: string, details: string, options: readonly OptionSpec[] = []): CommandSpec {
  return { name, summary, usage: "NAME [OPTIONS]", details, options: [NAMESPACE, ...CLUSTER_OPTIONS, ...options] };
}

const RUN = verb(
  "run",
  "run a KronJob now, beside its schedule",
  `
Writes the annotation kron.io/run, which the operator grants once: a Job starts at once, whatever the schedule and the
concurrency say, and is recorded as a manual run.

  kubectl kron run report --namespace team-a`,
  [{ name: "if-idle", help: "refuse while a Job of it is active" }],
);

const WHY = verb(
  "why",
  "what became of a period, and why",
  `
Answers from the status of the KronJob: the outcome of the last period, or of the one that is named.

  kubectl kron why report@2026-03-01T00:00:00Z`,
);

const NEXT = verb(
  "next",
  "show when a KronJob will run",
  `
The decisions of the coming periods, computed here from the spec and the uid, as the operator computes them.

  kubectl kron next report --count 3`,
  [AT_OPTION, { name: "count", value: "N", help: "how many (default: 5)" }],
);

const EXPLAIN = verb(
  "explain",
  "show every step of a decision",
  `
Explains the decision of the period that is current at --at (default: now).

  kubectl kron explain report`,
  [AT_OPTION],
);

const PAUSE = verb(
  "pause",
  "keep a KronJob from being started for a while",
  `
Starts nothing until the pause ends by itself, or by 'kubectl kron resume'. What is running goes on.

  kubectl kron pause report --until 2h --reason "database upgrade"`,
  [
    { name: "until", value: "WHEN", help: "an RFC 3339 instant, or a duration such as 2h" },
    { name: "reason", value: "TEXT", help: "why" },
  ],
);

const RESUME = verb("resume", "end a pause", "\nEnds the pause before its time.\n\n  kubectl kron resume report");

const commands: readonly Command[] = [
  lazily(RUN, async () => (await import("./control.js")).runNow),
  lazily(WHY, async () => (await import("./why.js")).run),
  lazily(NEXT, async () => (await import("./ahead.js")).next),
  lazily(EXPLAIN, async () => (await import("./ahead.js")).explain),
  lazily(PAUSE, async () => (await import("./control.js")).pause),
  lazily(RESUME, async () => (await import("./control.js")).resume),
];

export const KUBECTL_KRON: Program = {
  name: "kubectl kron",
  summary: "kubectl kron: KronJobs, beside what kubectl does anyway.",
  version: ENGINE_VERSION,
  commands,
};
