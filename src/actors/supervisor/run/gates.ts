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
/** Each of them is kept with its steps and its texts, some 10 kB; more than these do not begin in a second or two. */
const MOST_FOR_SLOTS = 10_000;
/** Processes that may wait where nobody says how many, and nobody knows what the host has room for. */
export const USUAL_PROCESSES = 1_000;

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
  readonly #held = new Map<string, Gate>();
  readonly #rooms: ReadonlyMap<HolderKind, Room>;
  readonly #seen = new Set<HolderKind>(["process"]);
  readonly #runner: Runner;
  readonly #isShut: () => boolean;
  readonly #heldUntilAt: () => EpochMs;
  readonly #usualProcesses: number;

  /**
   * `isShut`: nothing is made and nothing released any more, whoever asks. `heldUntilAt`: C8, until when the store is ours for
   * sure, as far as is known now; nothing begins behind it. `usualProcesses`: what the host has room for.
   */
  constructor(
    runner: Runner,
    isShut: () => boolean = () => false,
    heldUntilAt: () => EpochMs = () => Number.POSITIVE_INFINITY,
    usualProcesses: number = USUAL_PROCESSES,
  ) {
    this.#runner = runner;
    this.#isShut = isShut;
    this.#heldUntilAt = heldUntilAt;
    this.#usualProcesses = usualProcesses;
    const { capacity } = runner;
    this.#rooms = new Map(HOLDER_KINDS.map((kind) => [kind, { limit: capacity[kind] ?? 0, held: 0, queue: [] }]));
  }

  get armedCount(): number {
    return this.#held.size;
  }

  /** How long before their second so many are begun to be made ready: as many of them as may wait should be there in it. */
  leadMs(count: number): number {
    return Math.max(LEAST_LEAD_MS, Math.min(count, this.#roomOf("process").limit) * LEAD_PER_GATE_MS);
  }

  /** The longest that it can be. */
  get longestLeadMs(): number {
    return this.leadMs(Number.POSITIVE_INFINITY);
  }

  /** For any kind that was ever asked for: nobody looks at jobs for the sake of room that none of them can use. */
  get hasRoom(): boolean {
    return [...this.#seen].some((kind) => this.hasRoomFor(kind));
  }

  hasRoomFor(kind: HolderKind): boolean {
    const { held, limit, queue } = this.#roomOf(kind);
    return held < limit && queue.length === 0 && !this.#isShut();
  }

  /** With one more, half of the room is left, and as much as anybody needs is not taken yet. */
  hasRoomForSlot(kind: HolderKind): boolean {
    const { held, limit } = this.#roomOf(kind);
    return held < MOST_FOR_SLOTS && 2 * (held + 1) <= limit && this.hasRoomFor(kind);
  }

  /** null: what is usual here. Never more than the runner can hold. */
  limitProcesses(wanted: number | null): void {
    const { process: most = 0 } = this.#runner.capacity;
    const room = this.#roomOf("process");
    room.limit = Math.max(1, Math.min(wanted ?? this.#usualProcesses, most));
    this.#beginWaiting("process", room);
  }

  /** Waits for room when the limit is reached: a start that is late is judged again before its claim (S20). */
  async arm(request: ArmRequest): Promise<Armed | ArmRefusal> {
    const { attemptId, kind } = request;
    const gate = this.hasRoomFor(kind) ? this.#hold(kind, attemptId) : await this.#room(kind, attemptId);
    if (gate === null) return NOT_WANTED;
    const made = await this.#runner.arm(request);
    if (!made.ok) {
      this.#drop(attemptId, gate);
      return request.kind === "process" ? namedRefusal(made.error, request.command) : made.error;
    }
    if (gate.isUnwanted) {
      await this.#runner.abort(made.value);
      this.#drop(attemptId, gate);
      return NOT_WANTED;
    }
    gate.armed = made.value;
    return made.value;
  }

  async go(attemptId: string, latestAt: EpochMs): Promise<GoOutcome> {
    const gate = this.#held.get(attemptId);
    if (gate === undefined || gate.armed === null || this.#isShut()) return "gone";
    gate.isReleased = true;
    const outcome = await this.#runner.go(gate.armed, Math.min(latestAt, this.#heldUntilAt()));
    this.#drop(attemptId, gate);
    return outcome;
  }

  /** Ends a gate that nobody waits for any more. It never ran and never will. */
  async close(attemptId: string): Promise<void> {
    this.#leaveQueue(attemptId);
    const gate = this.#held.get(attemptId);
    if (gate === undefined || gate.isReleased) return;
    gate.isUnwanted = true;
    if (gate.armed === null) return;
    this.#drop(attemptId, gate);
    await this.#runner.abort(gate.armed);
  }

  /** The process ended by itself before it was released. */
  lost(attemptId: string): void {
    const gate = this.#held.get(attemptId);
    if (gate !== undefined) this.#drop(attemptId, gate);
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#held.keys()].map((attemptId) => this.close(attemptId)));
  }

  /** After something fatal: whoever waits for room gets none, and what waits for GO is ended. */
  async shut(): Promise<void> {
    for (const { queue } of this.#rooms.values()) for (const { begin } of queue.splice(0)) begin(null);
    await this.closeAll();
  }

  #roomOf(kind: HolderKind): Room {
    const room = this.#rooms.get(kind);
    if (room === undefined) throw new Error(`invariant broken: there is no room for a ${kind}`);
    return room;
  }

  #room(kind: HolderKind, attemptId: string): Promise<Gate | null> {
    if (this.#isShut()) return Promise.resolve(null);
    return new Promise((begin) => this.#roomOf(kind).queue.push({ attemptId, begin }));
  }

  #hold(kind: HolderKind, attemptId: string): Gate {
    const gate = { kind, armed: null, isUnwanted: false, isReleased: false };
    this.#held.set(attemptId, gate);
    this.#seen.add(kind);
    this.#roomOf(kind).held += 1;
    return gate;
  }

  #drop(attemptId: string, gate: Gate): void {
    const room = this.#roomOf(gate.kind);
    if (this.#held.get(attemptId) === gate) {
      this.#held.delete(attemptId);
      room.held -= 1;
    }
    this.#beginWaiting(gate.kind, room);
  }

  /** The room is taken here, not when the one who waits comes to it: nobody else sees it free in between. */
  #beginWaiting(kind: HolderKind, room: Room): void {
    while (room.held < room.limit && !this.#isShut()) {
      const next = room.queue.shift();
      if (next === undefined) return;
      next.begin(this.#hold(kind, next.attemptId));
    }
  }

  #leaveQueue(attemptId: string): void {
    for (const room of this.#rooms.values()) {
      const waiting = room.queue.find((one) => one.attemptId === attemptId);
      if (waiting === undefined) continue;
      room.queue = room.queue.filter((one) => one !== waiting);
      waiting.begin(null);
    }
  }
}

export function isRefusal(made: Armed | ArmRefusal): made is ArmRefusal {
  return "code" in made;
}
