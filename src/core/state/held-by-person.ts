/** What people have said of a job holds against planners, for as long as it is in force: each change asks here, in its turn. */
import { isPlanners } from "../governor/author.js";
import type { HintKind } from "../governor/hint.js";
import { type EpochMs, knownInstant } from "../time/instant.js";
import type { StateDocument } from "./document.js";

/** Whether a hint has to stand back. A hint stands in for the schedule, whichever kind the other is. */
export function isHintHeld(document: StateDocument, by: string | undefined, now: EpochMs): boolean {
  if (!isPlanners(by)) return false;
  const { Interval, Oneshot } = document.Hints ?? {};
  const isOthers = [Interval, Oneshot].some((hint) => {
    return hint !== undefined && knownInstant(hint.ExpiresAt) > now && !isPlanners(hint.By);
  });
  return isOthers || (isPausedAt(document, now) && !isPlanners(document.Pause?.By));
}

/** Nor does a planner prolong a pause, whoever wanted it. */
export function isPauseHeld(document: StateDocument, by: string | undefined, now: EpochMs): boolean {
  return isPlanners(by) && (isPausedAt(document, now) || isHintHeld(document, by, now));
}

/** What a planner takes back must have been wanted by one. */
export function isClearHeld(
  document: StateDocument,
  by: string | undefined,
  kind: HintKind | "all" | "pause",
): boolean {
  if (!isPlanners(by)) return false;
  const { Pause, Hints } = document;
  if (kind === "pause") return Pause !== undefined && !isPlanners(Pause.By);
  const { Interval, Oneshot } = Hints ?? {};
  const concerned = [kind === "oneshot" ? undefined : Interval, kind === "interval" ? undefined : Oneshot];
  return concerned.some((hint) => hint !== undefined && !isPlanners(hint.By));
}

function isPausedAt({ Pause }: StateDocument, now: EpochMs): boolean {
  return Pause !== undefined && knownInstant(Pause.Until) > now;
}
