/**
 * The gated processes of all jobs: never more at a time than may wait, made ahead where that is possible, and each one
 * accounted for until it was released or closed. What becomes of a gate is told to its job as events.
 */
import type { ErrorCode } from "../../../core/base/errors/registry.js";
import type { EpochMs } from "../../../core/time/instant.js";
import type { Armed, ArmRequest, GoOutcome, Launcher } from "../../launcher/port.js";
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

const NOT_WANTED: ArmRefusal = { code: "gate-failed", message: "the gate was closed while it was being made" };

export class Gates {
  private readonly held = new Map<string, Gate>();
  private queue: Waiting[] = [];
  private operations = 0;
  private isShut = false;

  constructor(
    private readonly launcher: Launcher,
    private limit: number,
  ) {}

  get armedCount(): number {
    return this.held.size;
  }

  /** As many as may wait should be there in their second. */
  get leadMs(): number {
    return Math.max(LEAST_LEAD_MS, this.limit * LEAD_PER_GATE_MS);
  }

  get isIdle(): boolean {
    return this.operations === 0 && this.queue.length === 0;
  }

  get hasRoom(): boolean {
    return this.held.size < this.limit && this.queue.length === 0 && !this.isShut;
  }

  setLimit(limit: number): void {
    this.limit = limit;
    this.beginWaiting();
  }

  /** Waits for room when the limit is reached: a start that is late is judged again before its claim (S20). */
  async arm(request: ArmRequest): Promise<Armed | ArmRefusal> {
    const { attemptId } = request;
    const gate = this.hasRoom ? this.hold(attemptId) : await this.room(attemptId);
    if (gate === null) return NOT_WANTED;
    const made = await this.track(this.launcher.arm(request));
    if (!made.ok) {
      this.drop(attemptId, gate);
      return namedRefusal(made.error, request.command);
    }
    if (gate.isUnwanted) {
      await this.track(this.launcher.abort(made.value));
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
    const outcome = await this.track(this.launcher.go(gate.armed, latestAt));
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
    await this.track(this.launcher.abort(gate.armed));
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
    for (const { begin } of this.queue.splice(0)) begin(null);
    await this.closeAll();
  }

  private room(attemptId: string): Promise<Gate | null> {
    if (this.isShut) return Promise.resolve(null);
    return new Promise((begin) => this.queue.push({ attemptId, begin }));
  }

  private hold(attemptId: string): Gate {
    const gate = { armed: null, isUnwanted: false, isReleased: false };
    this.held.set(attemptId, gate);
    return gate;
  }

  private drop(attemptId: string, gate: Gate): void {
    if (this.held.get(attemptId) === gate) this.held.delete(attemptId);
    this.beginWaiting();
  }

  /** The room is taken here, not when the one who waits comes to it: nobody else sees it free in between. */
  private beginWaiting(): void {
    while (this.held.size < this.limit && !this.isShut) {
      const next = this.queue.shift();
      if (next === undefined) return;
      next.begin(this.hold(next.attemptId));
    }
  }

  private leaveQueue(attemptId: string): void {
    const waiting = this.queue.find((one) => one.attemptId === attemptId);
    if (waiting === undefined) return;
    this.queue = this.queue.filter((one) => one !== waiting);
    waiting.begin(null);
  }

  private async track<T>(operation: Promise<T>): Promise<T> {
    this.operations += 1;
    try {
      return await operation;
    } finally {
      this.operations -= 1;
    }
  }
}

export function isRefusal(made: Armed | ArmRefusal): made is ArmRefusal {
  return "code" in made;
}
