/** C8: nothing begins behind the lease of its node, whatever was stopped in between. */
import { type EpochMs, floorToSecond, SECOND_MS } from "../../core/time/instant.js";
import type { LockTerm } from "../../persist/lock.js";
import type { Clock } from "../clock.js";

/** The last second that is over before the term may be somebody else's: starts are judged in whole seconds (S20). */
export function lastStartAt(
  { trustedUntilMs }: Pick<LockTerm, "trustedUntilMs">,
  clock: Pick<Clock, "now" | "monotonicMs">,
): EpochMs {
  const leftMs = trustedUntilMs - clock.monotonicMs();
  return leftMs === Number.POSITIVE_INFINITY ? leftMs : floorToSecond(clock.now() + leftMs) - SECOND_MS;
}
