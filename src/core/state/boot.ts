/**
 * What a job is told of the boots of its machine (S44). Boots are told apart by their ids: no clock says whether one is a
 * new one, so that none comes twice when the clock moves.
 */
import { type EpochMs, floorToSecond, formatInstant, formatSecond, parseInstant, SECOND_MS } from "../time/instant.js";
import type { StateDocument } from "./document.js";
import { withoutStartFailure } from "./start-failure.js";
import { sealed, type Transition, unchanged } from "./transition.js";

/** The source of a run at a boot. */
export const REBOOT_SOURCE = "reboot";

/** `isPast`: the definition is younger than the daemon's first look in this boot, so that nothing of it is due. */
export function noteBoot(document: StateDocument, bootId: string, isPast: boolean, now: EpochMs): Transition {
  if (document.Boot?.ID === bootId || document.RemovedAt !== undefined) return unchanged(document);
  const { Retry: _, Boot: __, ...rest } = withoutStartFailure(document);
  const fact = { kind: "boot", identity: document.Identity, bootId, at: now } as const;
  if (isPast) return sealed(document, { ...rest, Boot: { ID: bootId } }, { ...fact, slotAt: null });
  const slotAt = Math.max(floorToSecond(now), slotAfter(document));
  const due = { Slot: formatInstant(slotAt), Since: formatSecond(now) };
  return sealed(document, { ...rest, Boot: { ID: bootId, Due: due } }, { ...fact, slotAt });
}

/** S32: what was known is lost, so that the present boot counts as run. null: it does already. */
export function fenceBoot(document: StateDocument, bootId: string, now: EpochMs): Transition | null {
  const { ID, Due } = document.Boot ?? {};
  if (ID === bootId && Due === undefined) return null;
  const fact = { kind: "boot", identity: document.Identity, bootId, slotAt: null, at: now } as const;
  return sealed(document, { ...document, Boot: { ID: bootId } }, fact);
}

/** It was run, or is not to be run any more. */
export function withoutDueBoot(document: StateDocument): StateDocument {
  return document.Boot === undefined ? document : { ...document, Boot: { ID: document.Boot.ID } };
}

/** S40: slots of a source only go forward: a machine may begin every boot with the same wrong time. */
function slotAfter({ LastSlot, Boot }: StateDocument): EpochMs {
  const used = [LastSlot?.[REBOOT_SOURCE], Boot?.Due?.Slot].flatMap((text) => {
    const at = parseInstant(text ?? "");
    return at.ok ? [at.value + SECOND_MS] : [];
  });
  return Math.max(Number.NEGATIVE_INFINITY, ...used);
}
