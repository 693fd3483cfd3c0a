/**
 * One client: what it wants, and how much of it still waits to be taken. Frames go out while the client takes them; when
 * too much waits, they are left out and counted until it has caught up, so that a slow client costs a bounded amount of
 * memory and nobody waits for it.
 */
import type { EpochMs } from "../../core/time/instant.js";
import type { Wire } from "../../operations/watching.js";
import { CHARTS } from "./charts.js";
import { type InspectFilter, wants } from "./filter.js";
import { actorFrame, eventFrame, type FrameEvent, INSPECTOR, type Said, SUPERVISOR, snapshotOf } from "./frames.js";

export const CLIENT_LIMITS = {
  /** Above this, frames are left out. */
  waitingBytes: 4 * 1024 * 1024,
  /** Below this the client has caught up. */
  caughtUpBytes: 256 * 1024,
} as const;

/** How an actor comes: with its chart, with the name of its chart, or with neither. */
type Dress = "chart" | "name" | "bare";

/** A frame on its way to several clients: made into text once for each way to dress it. */
export class Outgoing {
  readonly #texts = new Map<Dress, string>();

  constructor(readonly said: Said) {}

  text(dress: Dress): string {
    const known = this.#texts.get(dress);
    if (known !== undefined) return known;
    const { frame, kind } = this.said;
    const definition = dress === "name" ? JSON.stringify({ id: kind }) : undefined;
    const isDressed = dress === "chart" || frame.type !== "@xstate.actor";
    const text = JSON.stringify(isDressed ? frame : { ...frame, definition });
    this.#texts.set(dress, text);
    return text;
  }
}

export class InspectClient {
  /** Jobs that live and that it was not told of yet. */
  readonly unlisted = new Set<string>();
  isClosed = false;
  #leftOut = 0;
  /** Of which it has the chart. */
  readonly #shown = new Set<Said["kind"]>();
  #isIntroduced = false;
  #waiters: (() => void)[] = [];
  readonly #wire: Wire;
  readonly #now: () => EpochMs;

  constructor(
    wire: Wire,
    readonly filter: InspectFilter,
    now: () => EpochMs,
  ) {
    this.#wire = wire;
    this.#now = now;
  }

  /** Whether nothing hinders more: listings wait for this. */
  get hasRoom(): boolean {
    return this.#wire.bufferedAmount < CLIENT_LIMITS.caughtUpBytes;
  }

  offer(outgoing: Outgoing): void {
    if (this.isClosed || !wants(this.filter, outgoing.said)) return;
    const isBehind = this.#leftOut > 0 || this.#wire.bufferedAmount > CLIENT_LIMITS.waitingBytes;
    if (isBehind) this.#leftOut += 1;
    else this.#send(outgoing.text(this.#dressOf(outgoing.said)));
  }

  #dressOf({ kind, frame }: Said): Dress {
    const { definitions } = this.filter;
    if (frame.type !== "@xstate.actor" || definitions === "all") return "chart";
    if (definitions === "none") return "bare";
    if (this.#shown.has(kind)) return "name";
    this.#shown.add(kind);
    return "chart";
  }

  /** Frames that were never made, because there were too many of them for everybody. */
  missed(count: number): void {
    this.#leftOut += count;
    this.#caughtUp();
  }

  /** About the stream itself; it speaks for itself as an actor of its own. */
  note(event: FrameEvent): void {
    const now = this.#now();
    if (!this.#isIntroduced) {
      this.#isIntroduced = true;
      const about = { name: INSPECTOR, sessionId: INSPECTOR, parentId: SUPERVISOR };
      const birth = { ...about, definition: CHARTS.inspector, snapshot: snapshotOf("active", undefined, {}) };
      this.#send(JSON.stringify(actorFrame(birth, now)));
    }
    this.#send(JSON.stringify(eventFrame(INSPECTOR, null, event, now)));
  }

  /** Resolves when it has room again, or is closed. */
  room(): Promise<void> {
    if (this.isClosed || this.hasRoom) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  closed(): void {
    this.isClosed = true;
    this.#wakeWaiters();
  }

  #send(text: string): void {
    if (!this.isClosed) this.#wire.send(text, this.#sent);
  }

  readonly #sent = (): void => {
    if (!this.hasRoom) return;
    this.#caughtUp();
    this.#wakeWaiters();
  };

  #caughtUp(): void {
    if (this.#leftOut === 0 || !this.hasRoom) return;
    const frames = this.#leftOut;
    this.#leftOut = 0;
    this.note({ type: "FRAMES_LEFT_OUT", frames, hint: "attach again for all that there is now" });
  }

  #wakeWaiters(): void {
    for (const waiter of this.#waiters.splice(0)) waiter();
  }
}
