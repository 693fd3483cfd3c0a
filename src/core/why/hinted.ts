/** Which hint stood in for the schedule at an instant (S41), from what is on record of hints. */
import { type Hint, hintText } from "../governor/hint.js";
import { type EpochMs, formatSecond } from "../time/instant.js";
import type { Finding, Period, WhyFacts } from "./facts.js";
import type { HintEntry, LedgerEntry } from "./records.js";

/** A period that is due while a hint holds is not asked for, whether the hint has ended by now or not. */
export function hinted({ entries }: WhyFacts, { dueAt }: Period): Finding | null {
  const found = entryAt(entries, dueAt);
  if (found === null) return null;
  const { at, hint } = found;
  const text = `not evaluated: since ${formatSecond(at)} ${hintText(hint)}, stood in for the schedule`;
  return { kind: "not_evaluated", reason: "hinted", text, from: at, until: hint.expiresAt };
}

/** null: none was in force then, or nothing is on record about it. */
export function hintAt(entries: readonly LedgerEntry[], at: EpochMs): Hint | null {
  return entryAt(entries, at)?.hint ?? null;
}

function entryAt(entries: readonly LedgerEntry[], at: EpochMs): HintEntry | null {
  const inForce = new Map<string, HintEntry>();
  for (const entry of [...entries].sort((one, other) => one.at - other.at)) {
    if (entry.at > at) break;
    if (entry.kind === "hint") inForce.set(entry.hint.kind, entry);
    if (entry.kind === "hint_end") inForce.delete(entry.hint);
  }
  return [...inForce.values()].findLast(({ hint }) => at < hint.expiresAt) ?? null;
}
