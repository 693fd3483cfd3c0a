/** How the daemon goes, for whoever looks on: measured while somebody does, and not otherwise. */
import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import type { SupervisorEvent } from "../../actors/supervisor/write/events.js";
import { instantOrNull, MINUTE_MS } from "../../core/time/instant.js";

const RESOLUTION_MS = 20;
const NANOSECONDS_A_MS = 1e6;
const BYTES_A_MB = 1e6;
/** Starts that are remembered; of more than that the newest tell enough. */
const MOST_STARTS = 20_000;
const MOST_DUE = 20_000;
/** Between two reads; of more than that the first tell enough. */
const MOST_COMMITS = 20_000;

interface Start {
  readonly at: number;
  /** null: not known. */
  readonly lateMs: number | null;
}

export interface PulseRead {
  /** Within the last minute. */
  readonly started: number;
  /** Of them, what nearly all stayed below; null: nothing was started. */
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
  #starts: Start[] = [];
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
    this.#starts = [];
    this.#due.clear();
  }

  tell({ at, event, identity, periodId, fields }: SupervisorEvent): void {
    const period = `${identity} ${periodId}`;
    if (event === "trigger") this.#note(period, fields?.["decision"]);
    if (event !== "started") return;
    const dueAt = this.#due.get(period);
    this.#due.delete(period);
    this.#starts.push({ at, lateMs: dueAt === undefined ? null : Math.max(0, at - dueAt) });
    if (this.#starts.length > MOST_STARTS) this.#starts = this.#starts.slice(-MOST_STARTS / 2);
  }

  read(now: number): PulseRead {
    this.#starts = this.#starts.filter(({ at }) => at > now - MINUTE_MS);
    const late = this.#starts.flatMap(({ lateMs }) => (lateMs === null ? [] : [lateMs]));
    const commits = this.#commitsMs;
    this.#commitsMs = [];
    const between = this.#loop === null ? 0 : this.#loop.percentile(99) / NANOSECONDS_A_MS - RESOLUTION_MS;
    this.#loop?.reset();
    return {
      started: this.#starts.length,
      latenessMs: nearlyAll(late),
      loopMs: Number.isFinite(between) ? Math.max(0, Math.round(between)) : 0,
      commitMs: nearlyAll(commits),
      memoryMb: Math.round(process.memoryUsage.rss() / BYTES_A_MB),
    };
  }

  #note(period: string, decision: unknown): void {
    const isDecision = typeof decision === "object" && decision !== null && "chosen_time" in decision;
    const dueAt = isDecision && typeof decision.chosen_time === "string" ? instantOrNull(decision.chosen_time) : null;
    if (dueAt === null || this.#due.size >= MOST_DUE) return;
    this.#due.set(period, dueAt);
  }
}

/** What 99 of 100 do not exceed; null: there is none. */
function nearlyAll(values: readonly number[]): number | null {
  return [...values].sort((one, other) => one - other)[Math.ceil(values.length * 0.99) - 1] ?? null;
}
