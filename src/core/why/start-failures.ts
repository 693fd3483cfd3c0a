/** What is due, or was, and could not be started (S24, S46): what stood in the way, and since when. */

import { decide } from "../decision/decide.js";
import { deadlineAt, deadlineMsOf, isPast } from "../period/lateness.js";
import { dueAt } from "../period/occasion.js";
import { nextPeriod } from "../period/periods.js";
import { NOT_STARTED, reasonText } from "../period/reasons.js";
import { PERIOD_SOURCE } from "../state/start-failure.js";
import { type EpochMs, formatInstant, formatSecond } from "../time/instant.js";
import { nobodyNow } from "./attended.js";
import type { Finding, Period, WhyFacts } from "./facts.js";
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
  const whence = Source === PERIOD_SOURCE ? "by its schedule" : sourceText(Source);
  const text = `due since ${Slot} ${whence}, and not started: since ${Since} ${reasonText(reason)}; ${then}`;
  return { kind: "waiting", reason, text, slot: Slot };
}

/** S24: a period that is tried again. What it was refused for, and for how long it is tried; null: it is none. */
export function triedPeriod({ document, nominalAt, now }: WhyFacts, period: Period): Tried | null {
  const failing = document?.StartFailure;
  if (failing?.Source !== PERIOD_SOURCE || failing.Slot !== formatInstant(nominalAt)) return null;
  const reason = `${NOT_STARTED}${failing.Code}`;
  const endAt = triedUntilAt(period);
  const until = endAt === null || isPast(endAt, now) ? "" : ` until ${formatSecond(endAt)}`;
  return { reason, text: `since ${failing.Since} ${reasonText(reason)}`, until };
}

interface Tried {
  readonly reason: string;
  readonly text: string;
  /** Empty: nobody knows how long. */
  readonly until: string;
}

/** Its deadline, or the next period, whichever is first. */
function triedUntilAt({ compiled, decision, definition }: Period): EpochMs | null {
  if (decision.chosenAt === null) return null;
  const limitAt = deadlineAt(decision.chosenAt, deadlineMsOf(definition.policy.deadlineMs, decision), null);
  const nextAt = nextPeriod(compiled, decision.nominalAt);
  return nextAt === null ? limitAt : Math.min(limitAt, dueAt(decide(compiled, nextAt)));
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
