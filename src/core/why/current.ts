/**
 * What somebody wants to know of who names a job and no instant: the period that cannot be started, the one that is current;
 * of a job without periods the run that was last, or the first that is to come.
 */
import { compileRule } from "../decision/compile.js";
import { type CompiledRule, hasPeriods } from "../decision/model.js";
import { currentPeriod, nextPeriod } from "../period/periods.js";
import { aheadOf } from "../restart/outlook.js";
import { activeStates, type StateDocument, standingOf } from "../state/document.js";
import { PERIOD_SOURCE } from "../state/start-failure.js";
import { type EpochMs, floorToSecond, instantOrNull } from "../time/instant.js";
import type { WhyVersion } from "./facts.js";

/** Of the definition in force; without one there is nothing better than the moment itself. */
export function currentAt(versions: readonly WhyVersion[], document: StateDocument | null, now: EpochMs): EpochMs {
  const definition = versions.findLast((version) => version.definition !== null)?.definition ?? null;
  if (definition === null) return floorToSecond(now);
  const compiled = compileRule(definition);
  // S44: a boot is found by the moment.
  if (compiled.isReboot) return floorToSecond(now);
  const found = hasPeriods(compiled)
    ? (triedAt(document, PERIOD_SOURCE) ?? currentPeriod(compiled, now) ?? nextPeriod(compiled, now))
    : (triedAt(document) ?? lastOrFirstAt(compiled, document, now));
  return found ?? floorToSecond(now);
}

function triedAt(document: StateDocument | null, source?: string): EpochMs | null {
  const { Source, Slot } = document?.StartFailure ?? {};
  return source === undefined || Source === source ? instantOrNull(Slot) : null;
}

/** What runs, or ran last, by the instant it was promised for. */
function lastOrFirstAt(compiled: CompiledRule, document: StateDocument | null, now: EpochMs): EpochMs | null {
  const running = document === null ? [] : activeStates(document).map(({ PeriodID }) => PeriodID);
  const slots = [...running, ...Object.values(document?.LastSlot ?? {})].flatMap((text) => instantOrNull(text) ?? []);
  if (slots.length === 0) return comingAt(compiled, document, now);
  const past = slots.filter((at) => at <= now);
  return past.length === 0 ? null : Math.max(...past);
}

/** The instant of the first run to come, whatever holds it; null: there is none. */
export function comingAt(compiled: CompiledRule, document: StateDocument | null, now: EpochMs): EpochMs | null {
  if (document === null) return null;
  return aheadOf({ compiled, isSuspended: false }, standingOf(document), now)?.slotAt ?? null;
}
