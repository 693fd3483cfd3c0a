/** Slots that are due, or were, and could not be started (S46): what stood in the way, and since when. */
import { NOT_STARTED, reasonText } from "../period/reasons.js";
import { formatInstant } from "../time/instant.js";
import { nobodyNow } from "./attended.js";
import type { Finding, WhyFacts } from "./facts.js";
import { sourceText } from "./slots.js";

/** Now: the document says so. */
export function failingStart(facts: WhyFacts): (Finding & { readonly slot: string }) | null {
  const { document, daemon } = facts;
  const failing = document?.StartFailure;
  if (failing === undefined) return null;
  const { Source, Slot, Code, Since } = failing;
  const reason = `${NOT_STARTED}${Code}`;
  const then =
    daemon === "running"
      ? "it is tried again"
      : facts.unserved == null
        ? "no daemon runs that would try it again"
        : nobodyNow(facts);
  const text = `due since ${Slot} ${sourceText(Source)}, and not started: since ${Since} ${reasonText(reason)}; ${then}`;
  return { kind: "waiting", reason, text, slot: Slot };
}

/** The slot of exactly this instant, as far as it was never run. */
export function failedStart(facts: WhyFacts): Finding | null {
  const { entries, nominalAt } = facts;
  const failing = failingStart(facts);
  if (failing?.slot === formatInstant(nominalAt)) return failing;
  const entry = entries.find(({ kind, at }) => kind === "start_failed" && at === nominalAt);
  if (entry?.kind !== "start_failed") return null;
  const { source, reason, recordedAt } = entry;
  const text = `due ${sourceText(source)}, and never started: from ${recordedAt} on ${reasonText(reason)}`;
  return { kind: "not_evaluated", reason, text };
}
