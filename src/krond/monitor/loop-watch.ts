/**
 * Notices when the event loop was held up, and says what ran meanwhile: everything in the daemon waits for the one loop,
 * so whoever holds it makes every job late. A light beat of its own is all it costs; it changes nothing.
 */
import { PerformanceObserver } from "node:perf_hooks";
import type { Clock } from "../../actors/clock.js";
import { SECOND_MS } from "../../core/time/instant.js";

export const LOOP_WATCH_LIMITS = {
  /** Longer than that is told. */
  delayMs: 100,
  /** Told at most so often; what comes in between is counted. */
  tellEveryMs: 10 * SECOND_MS,
  /** What held the loop for less is nobody's fault. */
  heldMs: 20,
  /** A loop that stood still for so long is ill, and for so long is said to be so. */
  stallMs: 10 * SECOND_MS,
  rememberStallMs: 30 * SECOND_MS,
  culprits: 8,
} as const;

export interface LoopDelayReport {
  readonly delayMs: number;
  /** What ran meanwhile, as far as it is known. */
  readonly during: readonly string[];
  /** Delays since the last report that were not told. */
  readonly untold: number;
}

/** Where delays come from: tests put others in its place. */
export interface LoopGauge {
  /** Starts; tells with every beat how late it comes. */
  start(onBeat: (lateMs: number) => void, onGarbageCollection: (durationMs: number) => void): void;
  stop(): void;
}

interface LoopWatchPorts {
  readonly clock: Clock;
  readonly gauge: LoopGauge;
  onDelay(report: LoopDelayReport): void;
}

export class LoopWatch {
  readonly #underWay = new Map<symbol, string>();
  /** Since the last beat: what held the loop, or was under way and is over. */
  #held: string[] = [];
  readonly #told = new Set<string>();
  #lastToldMs = Number.NEGATIVE_INFINITY;
  #untold = 0;
  #stall: { readonly delayMs: number; readonly seenMs: number } | null = null;
  readonly #ports: LoopWatchPorts;

  constructor(ports: LoopWatchPorts) {
    this.#ports = ports;
  }

  start(): void {
    this.#ports.gauge.start(
      (lateMs) => this.#beat(Math.round(lateMs)),
      (durationMs) => this.holding("garbage collection", durationMs),
    );
  }

  stop(): void {
    this.#ports.gauge.stop();
  }

  /** Something is under way until what is returned is called. */
  during(name: string): () => void {
    const key = Symbol(name);
    this.#underWay.set(key, name);
    return () => {
      if (this.#underWay.delete(key)) this.#remember(name);
    };
  }

  /** Something had the loop to itself. */
  holding(name: string, durationMs: number): void {
    if (durationMs >= LOOP_WATCH_LIMITS.heldMs) this.#remember(`${name} (${Math.round(durationMs)} ms)`);
  }

  /** A job was dealt with. */
  dealtWith(identity: string): void {
    this.#told.add(identity);
  }

  /** How long the loop stood still, if that was for long and not long ago. */
  stalledMs(): number | null {
    if (this.#stall === null) return null;
    const isRecent = this.#ports.clock.monotonicMs() - this.#stall.seenMs < LOOP_WATCH_LIMITS.rememberStallMs;
    return isRecent ? this.#stall.delayMs : null;
  }

  #remember(name: string): void {
    if (this.#held.length < LOOP_WATCH_LIMITS.culprits) this.#held.push(name);
  }

  #beat(delayMs: number): void {
    const { clock, onDelay } = this.#ports;
    const during = this.#culprits();
    if (delayMs < LOOP_WATCH_LIMITS.delayMs) return;
    const nowMs = clock.monotonicMs();
    if (delayMs >= LOOP_WATCH_LIMITS.stallMs) this.#stall = { delayMs, seenMs: nowMs };
    if (nowMs - this.#lastToldMs < LOOP_WATCH_LIMITS.tellEveryMs) {
      this.#untold += 1;
      return;
    }
    onDelay({ delayMs, during, untold: this.#untold });
    this.#lastToldMs = nowMs;
    this.#untold = 0;
  }

  #culprits(): readonly string[] {
    const jobs =
      this.#told.size === 0 ? [] : [`a tick of ${this.#told.size} ${this.#told.size === 1 ? "job" : "jobs"}`];
    const names = [...this.#underWay.values(), ...this.#held, ...jobs];
    if (this.#held.length > 0) this.#held = [];
    if (this.#told.size > 0) this.#told.clear();
    return names.length === 0 ? ["unknown"] : names;
  }
}

const BEAT_MS = 25;

export function systemLoopGauge(clock: Clock): LoopGauge {
  let timer: NodeJS.Timeout | null = null;
  let observer: PerformanceObserver | null = null;
  return {
    start: (onBeat, onGarbageCollection) => {
      observer = new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) onGarbageCollection(duration);
      });
      observer.observe({ entryTypes: ["gc"] });
      const beat = (): void => {
        const dueMs = clock.monotonicMs() + BEAT_MS;
        timer = setTimeout(() => {
          const lateMs = clock.monotonicMs() - dueMs;
          beat();
          // What the collector did meanwhile is told behind the timers.
          if (lateMs < LOOP_WATCH_LIMITS.delayMs) onBeat(lateMs);
          else setImmediate(() => onBeat(lateMs));
        }, BEAT_MS);
        timer.unref();
      };
      beat();
    },
    stop: () => {
      if (timer !== null) clearTimeout(timer);
      observer?.disconnect();
    },
  };
}
