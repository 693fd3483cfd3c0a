/**
 * The gates of all jobs: never more of one kind at a time than may wait, made ahead where that is possible, and each one
 * accounted for until it was released or closed. What becomes of a gate is told to its job as events.
 */
import type { ErrorCode } from "../../../core/base/errors/registry.js";
import { HOLDER_KINDS, type HolderKind } from "../../../core/state/ending.js";
import type { EpochMs } from "../../../core/time/instant.js";
import type { Armed, ArmRequest, GoOutcome, Runner } from "../../runner/port.js";
import { namedRefusal } from "./named-refusal.js";

/** How long before their second processes are begun to be made ready: the least, and what each of those that may wait takes. */
export const LEAST_LEAD_MS = 5_000;
const LEAD_PER_GATE_MS = 4;

export interface ArmRefusal {
  readonly code: ErrorCode;
  readonly message: string;
}

/** Made or being made, and neither released nor closed. */
interface Gate {
  readonly kind: HolderKind;
  armed: Armed | null;
  /** Closed while it was being made. */
  isUnwanted: boolean;
  /** It may have been passed already: not ours to close. */
  isReleased: boolean;
}

interface Waiting {
  readonly attemptId: string;
  readonly begin: (gate: Gate | null) => void;
}

/** For those of one kind. */
interface Room {
  limit: number;
  held: number;
  queue: Waiting[];
}

const NOT_WANTED: ArmRefusal = { code: "gate-failed", message: "the gate was closed while it was being made" };

export class Gates {
  private readonly held = new Map<string, Gate>();
  private readonly rooms: ReadonlyMap<HolderKind, Room>;
  private readonly seen = new Set<HolderKind>(["process"]);
  private operations = 0;
  private isShut = false;
  private readonly onSettled = (): void => {
    this.operations -= 1;
  };

  constructor(private readonly runner: Runner) {
    const { capacity } = runner;
    this.rooms = new Map(HOLDER_KINDS.map((kind) => [kind, { limit: capacity[kind] ?? 0, held: 0, queue: [] }]));
  }

  get armedCount(): number {
    return this.held.size;
  }

  /** As many as may wait should be there in their second. */
  get leadMs(): number {
    return Math.max(LEAST_LEAD_MS, this.roomOf("process").limit * LEAD_PER_GATE_MS);
  }

  get isIdle(): boolean {
    return this.operations === 0 && [...this.rooms.values()].every(({ queue }) => queue.length === 0);
  }

  /** For any kind that was ever asked for: nobody looks at jobs for the sake of room that none of them can use. */
  get hasRoom(): boolean {
    return [...this.seen].some((kind) => this.hasRoomFor(kind));
  }

  hasRoomFor(kind: HolderKind): boolean {
    const { held, limit, queue } = this.roomOf(kind);
    return held < limit && queue.length === 0 && !this.isShut;
  }

  setLimit(kind: HolderKind, limit: number): void {
    const room = this.roomOf(kind);
    room.limit = limit;
    this.beginWaiting(kind, room);
  }

  /** Waits for room when the limit is reached: a start that is late is judged again before its claim (S20). */
  async arm(request: ArmRequest): Promise<Armed | ArmRefusal> {
    const { attemptId, kind } = request;
    const gate = this.hasRoomFor(kind) ? this.hold(kind, attemptId) : await this.room(kind, attemptId);
    if (gate === null) return NOT_WANTED;
    const made = await this.track(this.runner.arm(request));
    if (!made.ok) {
      this.drop(attemptId, gate);
      return request.kind === "process" ? namedRefusal(made.error, request.command) : made.error;
    }
    if (gate.isUnwanted) {
      await this.track(this.runner.abort(made.value));
      this.drop(attemptId, gate);
      return NOT_WANTED;
    }
    gate.armed = made.value;
    return made.value;
  }

  async go(attemptId: string, latestAt: EpochMs): Promise<GoOutcome> {
    const gate = this.held.get(attemptId);
    if (gate === undefined || gate.armed === null || this.isShut) return "gone";
    gate.isReleased = true;
    const outcome = await this.track(this.runner.go(gate.armed, latestAt));
    this.drop(attemptId, gate);
    return outcome;
  }

  /** Ends a gate that nobody waits for any more. It never ran and never will. */
  async close(attemptId: string): Promise<void> {
    this.leaveQueue(attemptId);
    const gate = this.held.get(attemptId);
    if (gate === undefined || gate.isReleased) return;
    gate.isUnwanted = true;
    if (gate.armed === null) return;
    this.drop(attemptId, gate);
    await this.track(this.runner.abort(gate.armed));
  }

  /** The process ended by itself before it was released. */
  lost(attemptId: string): void {
    const gate = this.held.get(attemptId);
    if (gate !== undefined) this.drop(attemptId, gate);
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.held.keys()].map((attemptId) => this.close(attemptId)));
  }

  /** After something fatal: nothing is made and nothing released any more, and what waits is ended. */
  async shut(): Promise<void> {
    this.isShut = true;
    for (const { queue } of this.rooms.values()) for (const { begin } of queue.splice(0)) begin(null);
    await this.closeAll();
  }

  private roomOf(kind: HolderKind): Room {
    const room = this.rooms.get(kind);
    if (room === undefined) throw new Error(`invariant broken: there is no room for a ${kind}`);
    return room;
  }

  private room(kind: HolderKind, attemptId: string): Promise<Gate | null> {
    if (this.isShut) return Promise.resolve(null);
    return new Promise((begin) => this.roomOf(kind).queue.push({ attemptId, begin }));
  }

  private hold(kind: HolderKind, attemptId: string): Gate {
    const gate = { kind, armed: null, isUnwanted: false, isReleased: false };
    this.held.set(attemptId, gate);
    this.seen.add(kind);
    this.roomOf(kind).held += 1;
    return gate;
  }

  private drop(attemptId: string, gate: Gate): void {
    const room = this.roomOf(gate.kind);
    if (this.held.get(attemptId) === gate) {
      this.held.delete(attemptId);
      room.held -= 1;
    }
    this.beginWaiting(gate.kind, room);
  }

  /** The room is taken here, not when the one who waits comes to it: nobody else sees it free in between. */
  private beginWaiting(kind: HolderKind, room: Room): void {
    while (room.held < room.limit && !this.isShut) {
      const next = room.queue.shift();
      if (next === undefined) return;
      next.begin(this.hold(kind, next.attemptId));
    }
  }

  private leaveQueue(attemptId: string): void {
    for (const room of this.rooms.values()) {
      const waiting = room.queue.find((one) => one.attemptId === attemptId);
      if (waiting === undefined) continue;
      room.queue = room.queue.filter((one) => one !== waiting);
      waiting.begin(null);
    }
  }

  private track<T>(operation: Promise<T>): Promise<T> {
    this.operations += 1;
    operation.then(this.onSettled, this.onSettled);
    return operation;
  }
}

export function isRefusal(made: Armed | ArmRefusal): made is ArmRefusal {
  return "code" in made;
}
