/**
 * What inspector clients are sent: the three frames of the protocol that `@statelyai/inspect` speaks, one JSON text each.
 * An actor's `sessionId` is its name, the same across restarts and rehydrations, so that a client can follow a job that
 * rests between its periods.
 */
import { type EpochMs, formatInstant } from "../../core/time/instant.js";

/** Version of the protocol, as every frame names it. */
export const PROTOCOL_VERSION = "0.7.2";

export const KINDS = ["supervisor", "job", "period", "execution", "launcher"] as const;
export type ActorKind = (typeof KINDS)[number];

export const SUPERVISOR = "supervisor";
export const LAUNCHER = "launcher";
/** Speaks about the stream itself: what was listed, what was left out. */
export const INSPECTOR = "inspector";

export interface FrameEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Enough for a viewer to restore a snapshot from: XState wants `children` and `historyValue` too. */
export interface PublicSnapshot {
  readonly status: "active" | "done" | "stopped" | "error";
  readonly value?: unknown;
  readonly context: Readonly<Record<string, unknown>>;
  readonly children: Readonly<Record<never, never>>;
  readonly historyValue: Readonly<Record<never, never>>;
  readonly tags: readonly string[];
  readonly error?: string;
}

interface FrameBase {
  readonly sessionId: string;
  readonly rootId: string;
  /** Epoch milliseconds, as text. */
  readonly createdAt: string;
  readonly id: null;
  readonly _version: string;
}

export interface ActorFrame extends FrameBase {
  readonly type: "@xstate.actor";
  readonly name: string;
  readonly parentId?: string;
  /** The chart as JSON text. */
  readonly definition?: string;
  readonly snapshot: PublicSnapshot;
}

export interface EventFrame extends FrameBase {
  readonly type: "@xstate.event";
  readonly event: FrameEvent;
  readonly sourceId?: string;
}

export interface SnapshotFrame extends FrameBase {
  readonly type: "@xstate.snapshot";
  readonly event: FrameEvent;
  readonly snapshot: PublicSnapshot;
}

export type Frame = ActorFrame | EventFrame | SnapshotFrame;

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

export function snapshotOf(
  status: PublicSnapshot["status"],
  value: unknown,
  context: PublicSnapshot["context"],
): PublicSnapshot {
  const bare = { context, children: {}, historyValue: {}, tags: [] };
  return value === undefined ? { status, ...bare } : { status, value, ...bare };
}

export interface ActorBirth {
  readonly name: string;
  readonly sessionId: string;
  readonly parentId: string | null;
  readonly definition: string;
  readonly snapshot: PublicSnapshot;
}

export function actorFrame(birth: ActorBirth, now: EpochMs): ActorFrame {
  const { name, sessionId, parentId, definition, snapshot } = birth;
  const parent = parentId === null ? {} : { parentId };
  return { type: "@xstate.actor", name, ...base(sessionId, now), ...parent, definition, snapshot };
}

export function eventFrame(sessionId: string, sourceId: string | null, event: FrameEvent, now: EpochMs): EventFrame {
  return { type: "@xstate.event", event, ...(sourceId === null ? {} : { sourceId }), ...base(sessionId, now) };
}

export function snapshotFrame(
  sessionId: string,
  event: FrameEvent,
  snapshot: PublicSnapshot,
  now: EpochMs,
): SnapshotFrame {
  return { type: "@xstate.snapshot", event, snapshot, ...base(sessionId, now) };
}

/** Beyond it there is no RFC 3339. */
const YEAR_10000_MS = 253_402_300_800_000;

export function instantText(at: EpochMs | null): string | null {
  if (at === null) return null;
  return Number.isInteger(at) && at >= 0 && at < YEAR_10000_MS ? formatInstant(at) : String(at);
}

function base(sessionId: string, now: EpochMs): FrameBase {
  return { sessionId, rootId: SUPERVISOR, createdAt: String(now), id: null, _version: PROTOCOL_VERSION };
}
