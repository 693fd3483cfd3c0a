/**
 * C15 for a daemon that is alone with a store which nodes had before it: nobody will tell it how their runs on other machines have
 * ended. Since it is there, they are gone; what they were running is closed when the time is over that it could take.
 */
import type { Clock, Timer } from "../../actors/clock.js";
import type { Supervisor } from "../../actors/supervisor/port.js";
import { SECOND_MS } from "../../core/time/instant.js";

const LOOK_MS = 10 * SECOND_MS;

/** Returns what ends it. It ends by itself when no such run is left: there will never be another one. */
export function closeLeftRuns(
  clock: Pick<Clock, "after" | "now">,
  supervisor: Pick<Supervisor, "elsewhere" | "hearOfNode">,
  onFailure: (error: unknown) => void,
): () => void {
  const sinceAt = clock.now();
  let timer: Timer | null = null;
  let isOver = false;
  const look = async (): Promise<void> => {
    const nodes = new Set(supervisor.elsewhere().map(({ node }) => node));
    for (const node of nodes) await supervisor.hearOfNode(node, { kind: "gone", sinceAt });
    later();
  };
  const later = (): void => {
    if (isOver || supervisor.elsewhere().length === 0) return;
    timer = clock.after(LOOK_MS, () => void look().catch(onFailure));
  };
  later();
  return () => {
    isOver = true;
    timer?.cancel();
  };
}
