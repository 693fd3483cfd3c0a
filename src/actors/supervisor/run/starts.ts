/**
 * What is being started, and what waits for it: a start has its second, and everything else has time. Of a thousand jobs
 * that are due together, the first have ended before the last have begun.
 */
import type { Clock, Timer } from "../../clock.js";
import { Fifo } from "../../fifo.js";
import { turnOfLoop } from "../../turns.js";
import type { Desk } from "./desk.js";

/** However much is being started: what can wait is not kept waiting for longer. */
const WAITS_MS = 1_000;
/** Of what has waited, so much is done before everything else has its turn. */
const DONE_PER_TURN = 8;

export class Starts {
  /** Attempts that are due, and neither released nor given up yet. */
  readonly #underWay = new Set<string>();
  readonly #waiting = new Fifo<() => void>();
  readonly #clock: Clock;
  readonly #desk: Pick<Desk, "begin" | "track">;
  #timer: Timer | null = null;
  #isResuming = false;

  constructor(clock: Clock, desk: Pick<Desk, "begin" | "track">) {
    this.#clock = clock;
    this.#desk = desk;
  }

  add(attemptId: string): void {
    this.#underWay.add(attemptId);
  }

  settled(attemptId: string): void {
    this.#underWay.delete(attemptId);
    if (this.#underWay.size === 0) this.#resume();
  }

  /** When nothing is being started, or after a second of it. In the order in which they came. */
  whenCalm(act: () => void): void {
    this.#waiting.push(act);
    if (this.#underWay.size === 0) this.#resume();
    else this.#timer ??= this.#clock.after(WAITS_MS, () => this.#resume());
  }

  #resume(): void {
    this.#timer?.cancel();
    this.#timer = null;
    if (!this.#isResuming && this.#waiting.length > 0) this.#desk.begin(this.#desk.track(this.#resumeInTurns()));
  }

  async #resumeInTurns(): Promise<void> {
    this.#isResuming = true;
    for (let act = this.#waiting.take(), done = 1; act !== undefined; act = this.#waiting.take(), done++) {
      act();
      if (done % DONE_PER_TURN === 0) await turnOfLoop();
    }
    this.#isResuming = false;
  }
}
