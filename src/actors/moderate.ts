/**
 * Work that is in no hurry, done beside work that is: a piece at a time, and between two pieces several times as long is left to
 * everybody else. A second of it, done at once, would be a second that whatever is due then comes late.
 */
import type { Clock } from "./clock.js";
import { turnOfLoop } from "./turns.js";

/** For each millisecond of it so many of others. */
const LEFT_TO_OTHERS = 6;
/** A piece that has taken long has waited for others itself. */
const LONGEST_MS = 50;

export class Moderation {
  readonly #clock: Pick<Clock, "after" | "monotonicMs">;
  #fromMs: number;
  /** Whoever is waited for at the end does not hold back. */
  #isHurried = false;
  #hurry: () => void = () => undefined;

  constructor(clock: Pick<Clock, "after" | "monotonicMs">) {
    this.#clock = clock;
    this.#fromMs = clock.monotonicMs();
  }

  /** From here on a piece of work is done. */
  begin(): void {
    this.#fromMs = this.#clock.monotonicMs();
  }

  /** The piece is done, and the next one may follow when this resolves. */
  async pause(): Promise<void> {
    const spentMs = this.#clock.monotonicMs() - this.#fromMs;
    const pauseMs = Math.min(Math.round(spentMs * LEFT_TO_OTHERS), LONGEST_MS);
    if (this.#isHurried || pauseMs < 1) await turnOfLoop();
    else {
      await new Promise<void>((resolve) => {
        const timer = this.#clock.after(pauseMs, resolve);
        this.#hurry = () => {
          timer.cancel();
          resolve();
        };
      });
      this.#hurry = () => undefined;
    }
    this.begin();
  }

  /** The rest is wanted now. */
  hurry(): void {
    this.#isHurried = true;
    this.#hurry();
  }
}
