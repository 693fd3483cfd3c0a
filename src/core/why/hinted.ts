/** Which hint stood in for the schedule at an instant (S41), from what is on record of hints. */
import { formatDuration } from "../time/duration.js";
import { type EpochMs, formatSecond } from "../time/instant.js";
import type { Finding, Period, WhyFacts } from "./facts.js";
import type { HintEntry, LedgerEntry } from "./records.js";

/** A period that is due while a hint holds is not asked for, whether the hint has ended by now or not. */
export function hinted({ entries }: WhyFacts, { dueAt }: Period): Finding | null {
  const hint = hintAt(entries, dueAt);
  if (hint === null) return null;
  const text = `not evaluated: ${hintText(hint)} stood in for the schedule`;
  return { kind: "not_evaluated", reason: "hinted", text, from: hint.at, until: hint.expiresAt };
}

/** null: none was in force then, or nothing is on record about it. */
export function hintAt(entries: readonly LedgerEntry[], at: EpochMs): HintEntry | null {
  const inForce = new Map<string, HintEntry>();
  for (const entry of [...entries].sort((one, other) => one.at - other.at)) {
    if (entry.at > at) break;
    if (entry.kind === "hint") inForce.set(entry.hint, entry);
    if (entry.kind === "hint_end") inForce.delete(entry.hint);
  }
  return [...inForce.values()].findLast(({ expiresAt }) => at < expiresAt) ?? null;
}

export function hintText({ intervalMs, nextRunAt, expiresAt, reason }: HintEntry): string {
  const what = intervalMs === null ? `one run at ${formatSecond(nextRunAt ?? expiresAt)}` : every(intervalMs);
  return `a hint (${what}, until ${formatSecond(expiresAt)}${reason === "" ? "" : `: ${reason}`})`;
}

function every(intervalMs: number): string {
  return `every ${formatDuration(intervalMs)}`;
}
