/**
 * A slot that is due and cannot be started (S46). It is never missed but stays due, so that nothing closes it: the document
 * says what stands in its way, from the first start that failed until one succeeds, or it is not wanted any more. One
 * transition for all that fail in the same way: what is tried again every minute is not written every minute.
 */
import type { ErrorCode } from "../base/errors/registry.js";
import { type EpochMs, formatInstant, formatSecond } from "../time/instant.js";
import type { StateDocument } from "./document.js";
import { sealed, type Transition } from "./transition.js";

/** Whether it is on record that this source fails so. */
export function isStartFailureKnown({ StartFailure }: StateDocument, source: string, code: ErrorCode): boolean {
  return StartFailure?.Source === source && StartFailure.Code === code;
}

export function noteStartFailure(
  document: StateDocument,
  { source, slotAt, code }: { readonly source: string; readonly slotAt: EpochMs; readonly code: ErrorCode },
  now: EpochMs,
): Transition {
  const { StartFailure: known, Identity: identity } = document;
  const Since = known?.Source === source ? known.Since : formatSecond(now);
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
