/**
 * What inspector clients are sent: frames of the daemon's machines. An actor's `sessionId` is its name, the same across
 * restarts and rehydrations, so that a client can follow a job that rests between its periods.
 */
import { type EpochMs, formatInstant } from "../../core/time/instant.js";
import {
  type ActorBirth,
  type Frame,
  type FrameEvent,
  FrameMaker,
  type PublicSnapshot,
} from "../../machines/inspection-frames.js";

export type { ActorBirth, Frame, FrameEvent, PublicSnapshot } from "../../machines/inspection-frames.js";
export { snapshotOf } from "../../machines/inspection-frames.js";

export const KINDS = ["supervisor", "job", "period", "execution", "launcher"] as const;
export type ActorKind = (typeof KINDS)[number];

export const SUPERVISOR = "supervisor";
export const LAUNCHER = "launcher";
/** Speaks about the stream itself: what was listed, what was left out. */
export const INSPECTOR = "inspector";

/** A frame, and what filters judge it by. */
export interface Said {
  /** null: about the stream itself; told to everybody. */
  readonly kind: ActorKind | null;
  /** null: about no job in particular. */
  readonly identity: string | null;
  readonly frame: Frame;
}

/** A job may be called like one of our own actors. */
const RESERVED = new RegExp(`^(?:job:)*(?:${SUPERVISOR}|${LAUNCHER}|${INSPECTOR})$`);

export function jobSession(identity: string): string {
  return RESERVED.test(identity) ? `job:${identity}` : identity;
}

export function periodSession(identity: string, periodId: string): string {
  return `${identity}@${periodId}`;
}

const MAKER = new FrameMaker(SUPERVISOR);

export function actorFrame(birth: ActorBirth, now: EpochMs): Frame {
  return MAKER.actor(birth, now);
}

export function eventFrame(sessionId: string, sourceId: string | null, event: FrameEvent, now: EpochMs): Frame {
  return MAKER.event(sessionId, sourceId, event, now);
}

export function snapshotFrame(sessionId: string, event: FrameEvent, snapshot: PublicSnapshot, now: EpochMs): Frame {
  return MAKER.snapshot(sessionId, event, snapshot, now);
}

/** Beyond it there is no RFC 3339. */
const YEAR_10000_MS = 253_402_300_800_000;

export function instantText(at: EpochMs | null): string | null {
  if (at === null) return null;
  return Number.isInteger(at) && at >= 0 && at < YEAR_10000_MS ? formatInstant(at) : String(at);
}
