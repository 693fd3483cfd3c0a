/** Who was there to look after the job, at an instant and now: a daemon alone, or the nodes of a store that several share. */
import { type EpochMs, formatSecond } from "../time/instant.js";
import type { WhyFacts } from "./facts.js";

/** That nobody is there now, where that is so. */
export function nobodyNow({ unserved = null }: Pick<WhyFacts, "unserved">): string {
  return unserved === null ? "no daemon runs" : `no node looks after it now (pool ${unserved})`;
}

interface Absence {
  readonly text: string;
  /** The last sign of life before it; null: there is none. */
  readonly from: EpochMs | null;
  /** null: it goes on. */
  readonly until: EpochMs | null;
}

/** S13: nobody was there then. Between its last sign of life and the next start a daemon counts as down. null: somebody was. */
export function absenceAt(facts: WhyFacts, at: EpochMs): Absence | null {
  const { document, spans, unserved } = facts;
  if (spans.some((span) => span.bootedAt <= at && at <= span.at)) return null;
  const from = lastSignBefore(spans, at);
  const until = spans.find((span) => span.bootedAt > at)?.bootedAt ?? null;
  const isNobodyThere = unserved != null;
  if (from === null && until === null && document === null && !isNobodyThere) return null;
  const begin =
    from === null ? "" : ` from ${formatSecond(from)} (${unserved === undefined ? "its" : "the"} last sign of life)`;
  const end = until === null ? "" : ` to ${formatSecond(until)}`;
  const text = unserved === undefined ? "the daemon was down" : "no node looked after the job";
  return { text: `${text}${begin}${end}`, from, until };
}

export function lastSignBefore(spans: WhyFacts["spans"], at: EpochMs): EpochMs | null {
  const before = spans.filter((span) => span.at < at).map((span) => span.at);
  return before.length === 0 ? null : Math.max(...before);
}
