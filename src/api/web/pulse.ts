/**
 * How the daemon goes. Starts are counted from the moment on when there is a page, so that whoever opens it is told of the
 * minute before; what costs more is measured while somebody looks on, and not otherwise.
 */
import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import type { SupervisorEvent } from "../../actors/supervisor/write/events.js";
import { instantOrNull } from "../../core/time/instant.js";
import { RecentStarts } from "./recent-starts.js";

const RESOLUTION_MS = 20;
const NANOSECONDS_A_MS = 1e6;
const BYTES_A_MB = 1e6;
/** Periods that were claimed and have not started yet. */
const MOST_DUE = 20_000;
/** Between two reads; of more than that the first tell enough. */
const MOST_COMMITS = 20_000;

export interface PulseRead {
  /** Within the last minute. */
  readonly started: number;
  /** Of them, what nearly all stayed below; null: of none is known when it was due. */
  readonly latenessMs: number | null;
  /** Since it was read last. */
  readonly loopMs: number;
  /** Since it was read last, what nearly all durable commits stayed below; null: there was none. */
  readonly commitMs: number | null;
  readonly memoryMb: number;
}

/** Tells of every commit, until it is called off. */
type WatchCommits = (listener: (durationMs: number) => void) => () => void;

export class Pulse {
  #loop: IntervalHistogram | null = null;
  readonly #starts = new RecentStarts();
  /** Of periods that were claimed, when they were due. */
  readonly #due = new Map<string, number>();
  #commitsMs: number[] = [];
  #unwatch: (() => void) | null = null;
  readonly #watchCommits: WatchCommits;

  constructor(watchCommits: WatchCommits) {
    this.#watchCommits = watchCommits;
  }

  start(): void {
    this.#loop ??= monitorEventLoopDelay({ resolution: RESOLUTION_MS });
    this.#loop.enable();
    this.#unwatch ??= this.#watchCommits((durationMs) => {
      if (this.#commitsMs.length < MOST_COMMITS) this.#commitsMs.push(durationMs);
    });
  }

  stop(): void {
    this.#loop?.disable();
    this.#loop = null;
    this.#unwatch?.();
    this.#unwatch = null;
    this.#commitsMs = [];
  }

  /** Whoever looks on or not. */
  tell({ at, event, identity, periodId, fields }: SupervisorEvent): void {
    if (event === "trigger") this.#note(`${identity} ${periodId}`, fields?.["decision"]);
    if (event !== "started") return;
    const period = `${identity} ${periodId}`;
    const dueAt = this.#due.get(period);
    this.#due.delete(period);
    this.#starts.note(at, dueAt === undefined ? null : Math.max(0, at - dueAt));
  }

  read(now: number): PulseRead {
    const { started, latenessMs } = this.#starts.read(now);
    const commits = this.#commitsMs;
    this.#commitsMs = [];
    const between = this.#loop === null ? 0 : this.#loop.percentile(99) / NANOSECONDS_A_MS - RESOLUTION_MS;
    this.#loop?.reset();
    return {
      started,
      latenessMs,
      loopMs: Number.isFinite(between) ? Math.max(0, Math.round(between)) : 0,
      commitMs: nearlyAll(commits),
      memoryMb: Math.round(process.memoryUsage.rss() / BYTES_A_MB),
    };
  }

  #note(period: string, decision: unknown): void {
    const isDecision = typeof decision === "object" && decision !== null && "chosen_time" in decision;
    const dueAt = isDecision && typeof decision.chosen_time === "string" ? instantOrNull(decision.chosen_time) : null;
    if (dueAt === null) return;
    // The oldest give way: of what was claimed and never started nobody tells.
    const [oldest] = this.#due.size >= MOST_DUE ? this.#due.keys() : [];
    if (oldest !== undefined) this.#due.delete(oldest);
    this.#due.set(period, dueAt);
  }
}

/** What 99 of 100 do not exceed; null: there is none. */
function nearlyAll(values: readonly number[]): number | null {
  return [...values].sort((one, other) => one - other)[Math.ceil(values.length * 0.99) - 1] ?? null;
}
