/**
 * One client: what it wants, and how much of it still waits to be taken. Frames go out while the client takes them; when
 * too much waits, they are left out and counted until it has caught up, so that a slow client costs a bounded amount of
 * memory and nobody waits for it.
 */
import type { EpochMs } from "../../core/time/instant.js";
import { CHARTS } from "./charts.js";
import { type InspectFilter, wants } from "./filter.js";
import { actorFrame, eventFrame, type FrameEvent, INSPECTOR, type Said, SUPERVISOR, snapshotOf } from "./frames.js";

export const CLIENT_LIMITS = {
  /** Above this, frames are left out. */
  waitingBytes: 4 * 1024 * 1024,
  /** Below this the client has caught up. */
  caughtUpBytes: 256 * 1024,
} as const;

/** A WebSocket, as far as it is needed here. */
export interface Wire {
  readonly bufferedAmount: number;
  send(text: string, onSent: () => void): void;
}

/** A frame on its way to several clients: made into text once. */
export class Outgoing {
  private readonly texts = new Map<boolean, string>();

  constructor(readonly said: Said) {}

  text(hasDefinition: boolean): string {
    const known = this.texts.get(hasDefinition);
    if (known !== undefined) return known;
    const { frame } = this.said;
    const isBare = !hasDefinition && frame.type === "@xstate.actor";
    const text = JSON.stringify(isBare ? { ...frame, definition: undefined } : frame);
    this.texts.set(hasDefinition, text);
    return text;
  }
}

export class InspectClient {
  /** Jobs that live and that it was not told of yet. */
  readonly unlisted = new Set<string>();
  isClosed = false;
  private leftOut = 0;
  private isIntroduced = false;
  private waiters: (() => void)[] = [];

  constructor(
    private readonly wire: Wire,
    readonly filter: InspectFilter,
    private readonly now: () => EpochMs,
  ) {}

  /** Whether nothing hinders more: listings wait for this. */
  get hasRoom(): boolean {
    return this.wire.bufferedAmount < CLIENT_LIMITS.caughtUpBytes;
  }

  offer(outgoing: Outgoing): void {
    if (this.isClosed || !wants(this.filter, outgoing.said)) return;
    const isBehind = this.leftOut > 0 || this.wire.bufferedAmount > CLIENT_LIMITS.waitingBytes;
    if (isBehind) this.leftOut += 1;
    else this.send(outgoing.text(this.filter.hasDefinitions));
  }

  /** Frames that were never made, because there were too many of them for everybody. */
  missed(count: number): void {
    this.leftOut += count;
    this.caughtUp();
  }

  /** About the stream itself; it speaks for itself as an actor of its own. */
  note(event: FrameEvent): void {
    const now = this.now();
    if (!this.isIntroduced) {
      this.isIntroduced = true;
      const about = { name: INSPECTOR, sessionId: INSPECTOR, parentId: SUPERVISOR };
      const birth = { ...about, definition: CHARTS.inspector, snapshot: snapshotOf("active", undefined, {}) };
      this.send(JSON.stringify(actorFrame(birth, now)));
    }
    this.send(JSON.stringify(eventFrame(INSPECTOR, null, event, now)));
  }

  /** Resolves when it has room again, or is closed. */
  room(): Promise<void> {
    if (this.isClosed || this.hasRoom) return Promise.resolve();
    return new Promise((resolve) => this.waiters.push(resolve));
  }

  closed(): void {
    this.isClosed = true;
    this.wakeWaiters();
  }

  private send(text: string): void {
    if (!this.isClosed) this.wire.send(text, this.sent);
  }

  private readonly sent = (): void => {
    if (!this.hasRoom) return;
    this.caughtUp();
    this.wakeWaiters();
  };

  private caughtUp(): void {
    if (this.leftOut === 0 || !this.hasRoom) return;
    const frames = this.leftOut;
    this.leftOut = 0;
    this.note({ type: "FRAMES_LEFT_OUT", frames, hint: "attach again for all that there is now" });
  }

  private wakeWaiters(): void {
    for (const waiter of this.waiters.splice(0)) waiter();
  }
}
