/** Ends of runs that somebody waits for. What is not waited for any more is forgotten, and nobody is waited for. */
import type { Clock } from "../../actors/clock.js";
import type { SupervisorEvent } from "../../actors/supervisor/write/events.js";
import { type RoomBounds, WaitingRoom } from "../../actors/waiting-room.js";
import { endpointName } from "../../core/endpoint/endpoint-name.js";

/** Each of them keeps a connection of the API, which has 256 for all who wait and all who do not. */
export const RUN_WAITS: RoomBounds = { ofTenant: 64, ofAll: 64 };

interface RunName {
  readonly identity: string;
  readonly periodId: string;
  /** null: the job's own periods. */
  readonly source: string | null;
}

interface AwaitedEnd {
  /**
   * Resolves with the end, with the time, or when whoever waits has gone; at once where too many wait already. False: nobody is
   * to wait any longer.
   */
  within(waitMs: number, gone?: AbortSignal): Promise<boolean>;
  /** To be called in any case. */
  leave(): void;
}

export class RunEnds {
  readonly #clock: Pick<Clock, "after">;
  readonly #awaited = new Map<string, Set<() => void>>();
  readonly #room = new WaitingRoom(RUN_WAITS);
  #isDismissed = false;

  constructor(clock: Pick<Clock, "after">) {
    this.#clock = clock;
  }

  /** What the supervisor tells: an end is on record by then. */
  tell({ event, identity, periodId, fields }: SupervisorEvent): void {
    if (event !== "completed" || identity === undefined || periodId === undefined || this.#awaited.size === 0) return;
    const source = fields?.["source"];
    const name = nameOf({ identity, periodId, source: typeof source === "string" ? source : null });
    for (const end of this.#awaited.get(name) ?? []) end();
  }

  /** Counts from here on: an end that is told before anybody waits for it is not missed. */
  of(run: RunName): AwaitedEnd {
    const name = nameOf(run);
    let end = (): void => undefined;
    const isOver = new Promise<void>((resolve) => {
      end = resolve;
    });
    const known = this.#awaited.get(name) ?? new Set();
    this.#awaited.set(name, known.add(end));
    if (this.#isDismissed) end();
    return {
      within: (waitMs, gone) =>
        this.#inRoom(endpointName(run.identity)?.tenant ?? "", end, () => this.#first(isOver, end, waitMs, gone)),
      leave: () => {
        known.delete(end);
        if (known.size === 0 && this.#awaited.get(name) === known) this.#awaited.delete(name);
      },
    };
  }

  /** Nobody has to wait any more. */
  dismiss(): void {
    this.#isDismissed = true;
    for (const ends of this.#awaited.values()) for (const end of ends) end();
  }

  async #inRoom(tenant: string, end: () => void, wait: () => Promise<void>): Promise<boolean> {
    let hasMadeRoom = false;
    const leave = this.#room.enter(tenant, () => {
      hasMadeRoom = true;
      end();
    });
    if (leave === null) return false;
    await wait();
    leave();
    return !hasMadeRoom && !this.#isDismissed;
  }

  async #first(isOver: Promise<void>, end: () => void, waitMs: number, gone: AbortSignal | undefined): Promise<void> {
    if (gone?.aborted === true) return;
    const timer = this.#clock.after(waitMs, end);
    gone?.addEventListener("abort", end);
    await isOver;
    gone?.removeEventListener("abort", end);
    timer.cancel();
  }
}

function nameOf({ identity, periodId, source }: RunName): string {
  return JSON.stringify([identity, periodId, source]);
}
