/**
 * What inspectors are sent, of a daemon's machines and of a scheduler's: the three frames of the protocol that
 * `@statelyai/inspect` speaks, one JSON text each. An actor's `sessionId` is its name.
 */
import type { AnyStateMachine } from "xstate";
import type { EpochMs } from "../core/time/instant.js";

/** Version of the protocol, as every frame names it. */
const PROTOCOL_VERSION = "0.7.2";

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

interface ActorFrame extends FrameBase {
  readonly type: "@xstate.actor";
  readonly name: string;
  readonly parentId?: string;
  /** The chart as JSON text. */
  readonly definition?: string;
  readonly snapshot: PublicSnapshot;
}

interface EventFrame extends FrameBase {
  readonly type: "@xstate.event";
  readonly event: FrameEvent;
  readonly sourceId?: string;
}

interface SnapshotFrame extends FrameBase {
  readonly type: "@xstate.snapshot";
  readonly event: FrameEvent;
  readonly snapshot: PublicSnapshot;
}

export type Frame = ActorFrame | EventFrame | SnapshotFrame;

export interface ActorBirth {
  readonly name: string;
  readonly sessionId: string;
  readonly parentId: string | null;
  readonly definition: string;
  readonly snapshot: PublicSnapshot;
}

export function snapshotOf(
  status: PublicSnapshot["status"],
  value: unknown,
  context: PublicSnapshot["context"],
): PublicSnapshot {
  const bare = { context, children: {}, historyValue: {}, tags: [] };
  return value === undefined ? { status, ...bare } : { status, value, ...bare };
}

/** A chart as JSON text, from which an inspector draws it. Guards and actions are names there, never code. */
export function chartText({ config }: AnyStateMachine): string {
  return JSON.stringify(config);
}

/** Frames of one system of actors. */
export class FrameMaker {
  readonly #rootId: string;

  constructor(rootId: string) {
    this.#rootId = rootId;
  }

  actor({ name, sessionId, parentId, definition, snapshot }: ActorBirth, now: EpochMs): ActorFrame {
    const parent = parentId === null ? {} : { parentId };
    return { type: "@xstate.actor", name, ...this.#base(sessionId, now), ...parent, definition, snapshot };
  }

  event(sessionId: string, sourceId: string | null, event: FrameEvent, now: EpochMs): EventFrame {
    const source = sourceId === null ? {} : { sourceId };
    return { type: "@xstate.event", event, ...source, ...this.#base(sessionId, now) };
  }

  snapshot(sessionId: string, event: FrameEvent, snapshot: PublicSnapshot, now: EpochMs): SnapshotFrame {
    return { type: "@xstate.snapshot", event, snapshot, ...this.#base(sessionId, now) };
  }

  #base(sessionId: string, now: EpochMs): FrameBase {
    return { sessionId, rootId: this.#rootId, createdAt: String(now), id: null, _version: PROTOCOL_VERSION };
  }
}
