/**
 * What is due and cannot be started, a slot (S46) or a period (S24): for as long as it is tried again the document says what
 * stands in its way, from the first start that failed. One transition for all that fail in the same way: what is tried again
 * every minute is not written every minute.
 */
import { type ErrorCode, isErrorCode } from "../base/errors/registry.js";
import type { Occasion } from "../period/occasion.js";
import { type EpochMs, formatInstant, formatSecond } from "../time/instant.js";
import type { StartFailureState, StateDocument } from "./document.js";
import { sealed, type Transition } from "./transition.js";

/** The source of periods, where what has none is told apart from slots. */
export const PERIOD_SOURCE = "cron";

type Tried = Pick<Occasion, "source" | "slotAt">;

/** Of a source other than the schedule only one slot is due at a time, whatever instant the clock makes of it. */
function isOf(known: StartFailureState | undefined, { source, slotAt }: Tried): known is StartFailureState {
  return known?.Source === source && (source !== PERIOD_SOURCE || known.Slot === formatInstant(slotAt));
}

/** Whether it is on record that this one fails so. */
export function isStartFailureKnown({ StartFailure }: StateDocument, tried: Tried, code: ErrorCode): boolean {
  return isOf(StartFailure, tried) && StartFailure.Code === code;
}

/** What stood in the way when this one was last tried, as far as it is on record; null: nothing did. */
export function startFailureOn({ StartFailure }: StateDocument, tried: Tried): ErrorCode | null {
  return isOf(StartFailure, tried) && isErrorCode(StartFailure.Code) ? StartFailure.Code : null;
}

export function noteStartFailure(
  document: StateDocument,
  { source, slotAt, code }: Tried & { readonly code: ErrorCode },
  now: EpochMs,
): Transition {
  const { StartFailure: known, Identity: identity } = document;
  const Since = isOf(known, { source, slotAt }) ? known.Since : formatSecond(now);
  const StartFailure = { Source: source, Slot: formatInstant(slotAt), Code: code, Since };
  return sealed(
    document,
    { ...document, StartFailure },
    { kind: "start_failed", identity, source, slotAt, code, at: now },
  );
}

/** Something was started, or what failed is not wanted any more: of one of these sources, where they are named. */
export function withoutStartFailure(document: StateDocument, sources: readonly string[] | null = null): StateDocument {
  const { StartFailure, ...rest } = document;
  const isIt = StartFailure !== undefined && (sources === null || sources.includes(StartFailure.Source));
  return isIt ? rest : document;
}
