/** Going on when a connection breaks or a server is away: the same is asked again, ever less often, for as long as it makes sense. */
import { setTimeout as sleep } from "node:timers/promises";
import { isInTheWay, verdictOf } from "./trouble.js";

const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [20, 1_000];

export interface Patience {
  readonly withinMs: number;
  /** Throws what makes another try senseless. */
  readonly mayGoOn: () => void;
}

/** `work` is told how often it was tried before. What passes by itself is waited for, everything else is thrown. */
export async function patiently<T>({ withinMs, mayGoOn }: Patience, work: (tries: number) => Promise<T>): Promise<T> {
  const begunMs = performance.now();
  for (let tries = 0; ; tries += 1) {
    mayGoOn();
    try {
      return await work(tries);
    } catch (error) {
      mayGoOn();
      if (verdictOf(error) !== "again" || performance.now() - begunMs >= withinMs) throw error;
    }
    await sleep(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** tries));
  }
}

/** Each time somebody else gets on with theirs. */
const MOST_TRIES = 10;

/** Two that were in each other's way: one of them has done nothing, and does it again. */
export async function undisturbed<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isInTheWay(error) || tries >= MOST_TRIES) throw error;
    }
  }
}
