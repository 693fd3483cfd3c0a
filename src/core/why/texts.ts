/** How a run went and why there was none, in words. */
import type { Ending, HolderKind } from "../state/ending.js";
import type { RunEntry } from "./records.js";

export const REASON_TEXTS: Readonly<Record<string, string>> = {
  deadline: "nobody was there to start it before its deadline had passed",
  late_start: "its start took longer than the deadline and the grace for starting allow",
  superseded: "the next period came before it could be started",
  concurrency_forbid: "an earlier run was still going, and the job forbids concurrent runs",
  too_many_active: "as many runs as max_active allows were going already",
  state_recovered: "its state was lost, and repeating a run was ruled out",
  rewound: "an operator moved the state back",
};

export function runText({ startedAt, endedAt, holder, ending }: RunEntry): string {
  const begun = `started ${startedAt ?? "at an unknown time"}`;
  if (endedAt === null || ending === null) return begun;
  const { reason } = ending;
  return `${begun}, ended ${endedAt}, ${howText(ending, holder)}${reason === null ? "" : ` (${reason})`}`;
}

function howText(ending: Ending, holder: HolderKind): string {
  switch (ending.kind) {
    case "answered":
      return `answered with status ${ending.status}`;
    case "failed":
      return ending.isSent ? `no whole answer: ${ending.detail}` : `nothing was sent: ${ending.detail}`;
    case "job":
      return ending.condition;
    case "exited":
      if (ending.code !== null) return `exit code ${ending.code}`;
      return ending.signal === null ? "exit code unknown" : `ended by ${ending.signal}`;
    default:
      return holder === "process" ? "exit code unknown" : "answer unknown";
  }
}
