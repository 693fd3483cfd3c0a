/** How a run went, in words. */
import type { Ending, HolderKind } from "../state/ending.js";
import type { RunEntry } from "./records.js";

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
