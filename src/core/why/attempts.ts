/** What came of a period after its first attempt had failed (S43). */
import type { RetryRule } from "../job/definition.js";
import { activeStates } from "../state/document.js";
import { isRetried } from "../state/retry.js";
import { formatInstant } from "../time/instant.js";
import type { WhyFacts } from "./facts.js";
import type { RunEntry } from "./records.js";

/** In order, without the first. */
export function furtherAttempts({ entries, nominalAt }: WhyFacts): readonly RunEntry[] {
  const id = formatInstant(nominalAt);
  const runs = entries.filter((entry): entry is RunEntry => entry.kind === "run" && entry.retryOf === id);
  return runs.sort((one, other) => (one.attempt ?? 0) - (other.attempt ?? 0));
}

export function isRetryRunning({ document, nominalAt }: WhyFacts): boolean {
  const id = formatInstant(nominalAt);
  return document !== null && activeStates(document).some(({ RetryOf }) => RetryOf === id);
}

/** `tellRun` says how one went. Empty: there was one attempt, and there is to be no other. */
export function attemptsText(facts: WhyFacts, first: RunEntry, tellRun: (run: RunEntry) => string): string {
  const further = furtherAttempts(facts);
  const rule = facts.versions.at(-1)?.definition?.policy.retry;
  const told = further.map((run) => `; ${countText(run.attempt ?? 0, rule)}: ${tellRun(run)}`);
  return `${told.join("")}${nextText(facts, further.at(-1) ?? first, rule)}`;
}

function nextText({ document, nominalAt }: WhyFacts, last: RunEntry, rule: RetryRule | undefined): string {
  const pending = document?.Retry;
  if (pending !== undefined && pending.PeriodID === formatInstant(nominalAt)) {
    return `; the ${countText(pending.Attempt, rule)} is due at ${pending.At}`;
  }
  if (rule === undefined || last.ending === null || !isRetried(rule, last.ending)) return "";
  return (last.attempt ?? 1) > rule.limit
    ? "; that was the last of them"
    : "; not tried again: the next period, a removal or a change of the job came first";
}

/** `3rd of 4 attempts`; of how many is not known when the job is not retried any more. */
function countText(attempt: number, rule: RetryRule | undefined): string {
  return rule === undefined ? `${ordinal(attempt)} attempt` : `${ordinal(attempt)} of ${rule.limit + 1} attempts`;
}

function ordinal(count: number): string {
  const isTeen = count % 100 >= 11 && count % 100 <= 13;
  return `${count}${isTeen ? "th" : (["th", "st", "nd", "rd"][count % 10] ?? "th")}`;
}
