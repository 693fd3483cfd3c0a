/** Runs that come from no period: of an interval, of a hint, by hand (S40). What the ledger or the document knows of one. */

import { type EpochMs, formatInstant } from "../time/instant.js";
import type { Finding, WhyFacts } from "./facts.js";
import type { RunEntry } from "./records.js";

/** Runs on record that are named to who asks for an instant at which there was none. */
const NAMED_RUNS = 2;

const SOURCE_TEXTS: Readonly<Record<string, string>> = {
  interval: "by its interval",
  "hint-interval": "by an interval hint",
  "hint-oneshot": "by a one-shot hint",
  manual: "by hand",
};

export function sourceText(source: string): string {
  return Object.hasOwn(SOURCE_TEXTS, source) ? (SOURCE_TEXTS[source] ?? source) : `by ${source}`;
}

/** The run of a slot at exactly this instant. */
export function slotRun({ entries, nominalAt }: WhyFacts): (RunEntry & { readonly source: string }) | null {
  for (const entry of entries) {
    if (entry.kind === "run" && entry.at === nominalAt && entry.source !== null) {
      return { ...entry, source: entry.source };
    }
  }
  return null;
}

/** The ledger has it no more, or has not got it yet; the newest of each source stands in the document. */
export function lastSlot({ document, nominalAt }: WhyFacts): Finding | null {
  const id = formatInstant(nominalAt);
  const found = Object.entries(document?.LastSlot ?? {}).find(([, slot]) => slot === id);
  if (found === undefined) return null;
  return { kind: "executed", text: `executed ${sourceText(found[0])}; the ledger does not say how it ended` };
}

/** Of a job without nominal times, or beside them: what it was near to. Oldest first. */
export function nearestRuns({ entries, nominalAt }: WhyFacts): readonly string[] {
  const slots = entries.flatMap((entry) => (entry.kind === "run" && entry.source !== null ? [entry.at] : []));
  const near = [...new Set(slots)].sort((one, other) => distance(one, nominalAt) - distance(other, nominalAt));
  return near
    .slice(0, NAMED_RUNS)
    .sort((one, other) => one - other)
    .map(formatInstant);
}

function distance(at: EpochMs, from: EpochMs): number {
  return Math.abs(at - from);
}
