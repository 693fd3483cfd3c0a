/** What became of a period, and how a run ended, in words for people: a run that failed is never just `executed`. */
import { type Ending, endingText, isSuccess } from "../core/state/ending.js";

/** Why we ended a run, as people say it. */
const ENDED_FOR: Readonly<Record<string, string>> = {
  timeout: "timed out",
  cancelled: "cancelled",
  replaced: "replaced",
  exit_unseen: "end not seen",
  node_lost: "its node was lost",
  start_unconfirmed: "start unconfirmed",
  aborted_late: "aborted late",
};

/** `executed`, `executed, exit 7`, `executed, HTTP 503`, `executed, timed out`, `missed`. */
export function outcomeText(outcome: string, ending: Ending | null): string {
  return ending === null || isSuccess(ending) ? outcome : `${outcome}, ${failureText(ending)}`;
}

function failureText(ending: Ending): string {
  const reason = ending.reason === null ? undefined : ENDED_FOR[ending.reason];
  if (reason !== undefined) return reason;
  if (ending.kind === "exited" && ending.code !== null) return `exit ${ending.code}`;
  return ending.kind === "exited" && ending.signal === null ? "end unknown" : endingText(ending);
}
