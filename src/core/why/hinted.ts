/** Which hint stood in for the schedule at an instant (S41), from what is on record of hints. */
import { HINT_KINDS, type Hint, hintText } from "../governor/hint.js";
import { type HintOnRecord, hintOnRecordAt } from "../state/hint-transitions.js";
import { type EpochMs, formatSecond } from "../time/instant.js";
import type { Finding, Period, WhyFacts } from "./facts.js";
import type { HintEntry, LedgerEntry } from "./records.js";

/** A period that is due while a hint holds is not asked for, whether the hint has ended by now or not. */
export function hinted({ entries, document }: WhyFacts, { dueAt }: Period): Finding | null {
  const found = entryAt(entries, dueAt);
  // The ledger keeps things for a while only: of a hint that is still there the document knows.
  const { hint, setAt } =
    found === null ? (documentHint(document, dueAt) ?? {}) : { hint: found.hint, setAt: found.at };
  if (hint === undefined || setAt === undefined) return null;
  const text = `not evaluated: since ${formatSecond(setAt)} a hint stood in for the schedule: ${hintText(hint)}`;
  return { kind: "not_evaluated", reason: "hinted", text, from: setAt, until: hint.expiresAt };
}

function documentHint(document: WhyFacts["document"], at: EpochMs): HintOnRecord | null {
  return document === null ? null : hintOnRecordAt(document, at);
}

/** null: none was in force then, or nothing is on record about it. */
export function hintAt(entries: readonly LedgerEntry[], at: EpochMs): Hint | null {
  return entryAt(entries, at)?.hint ?? null;
}

/** Who wanted the hint that a slot came from; "" where nobody is named, or it is no hint's. */
export function hinterText({ entries, document }: WhyFacts, source: string, at: EpochMs): string {
  const kind = HINT_KINDS.find((known) => source === `hint-${known}`);
  if (kind === undefined) return "";
  const set = entries.filter((entry) => entry.kind === "hint" && entry.hint.kind === kind && entry.at <= at);
  const newest = set.sort((one, other) => one.at - other.at).at(-1);
  const { hint = null } = newest?.kind === "hint" ? newest : (documentHint(document, at) ?? {});
  return hint?.kind !== kind || hint.by === undefined ? "" : ` of ${hint.by}`;
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
