/**
 * How many requests are under way: so many over all, and so many to one origin. Others wait in their order, origin by
 * origin in turn, so that one that is slow holds up nobody but itself.
 */
import type { HttpSettings } from "../../core/config/settings.js";

type Bounds = Pick<HttpSettings, "maxConcurrent" | "maxPerOrigin">;

interface Origin {
  running: number;
  /** By attempt, in the order in which they came. */
  readonly waiting: Map<string, () => void>;
}

export class Admission {
  private readonly origins = new Map<string, Origin>();
  /** Those with somebody waiting and room of their own. */
  private readonly startable = new Set<string>();
  private running = 0;

  constructor(private bounds: Bounds) {}

  get waitingCount(): number {
    let count = 0;
    for (const { waiting } of this.origins.values()) count += waiting.size;
    return count;
  }

  use(bounds: Bounds): void {
    this.bounds = bounds;
  }

  /** `start` is called when there is room, perhaps at once; then `leave` is owed. */
  enter(name: string, attemptId: string, start: () => void): void {
    const origin = this.origins.get(name) ?? { running: 0, waiting: new Map() };
    this.origins.set(name, origin);
    origin.waiting.set(attemptId, start);
    this.note(name, origin);
    this.pump();
  }

  /** True: it was waiting, and does no more. */
  withdraw(name: string, attemptId: string): boolean {
    const origin = this.origins.get(name);
    if (origin === undefined || !origin.waiting.delete(attemptId)) return false;
    this.note(name, origin);
    return true;
  }

  leave(name: string): void {
    const origin = this.origins.get(name);
    if (origin === undefined) throw new Error(`invariant broken: nothing is under way to ${name}`);
    origin.running -= 1;
    this.running -= 1;
    this.note(name, origin);
    this.pump();
  }

  private pump(): void {
    while (this.running < this.bounds.maxConcurrent) {
      const [name] = this.startable;
      const origin = name === undefined ? undefined : this.origins.get(name);
      const [next] = origin?.waiting ?? [];
      if (name === undefined || origin === undefined || next === undefined) return;
      const [attemptId, start] = next;
      origin.waiting.delete(attemptId);
      origin.running += 1;
      this.running += 1;
      // To the end of the line of origins.
      this.startable.delete(name);
      this.note(name, origin);
      start();
    }
  }

  private note(name: string, { running, waiting }: Origin): void {
    if (waiting.size > 0 && running < this.bounds.maxPerOrigin) this.startable.add(name);
    else this.startable.delete(name);
    if (waiting.size === 0 && running === 0) this.origins.delete(name);
  }
}
