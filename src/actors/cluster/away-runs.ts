/**
 * The keeper of runs away (C14): runs that this node has begun and whose jobs others look after now. It watches them to
 * their end, tells that end to whoever has the job, again until it is taken, and ends them when it is asked to. It writes
 * nothing and decides nothing. When a job comes back to this node its run is given back, with its end if it has one by then:
 * so the supervisors of a node have their runs by way of it.
 */
import { EXIT_UNSEEN } from "../../core/state/ending.js";
import { SECOND_MS } from "../../core/time/instant.js";
import type { Clock, Timer } from "../clock.js";
import type { AdoptOutcome, AdoptRequest, Ended, Runner, RunnerEvent, Termination } from "../runner/port.js";
import type { AwayEnd, AwayRun, EndAnswer } from "../supervisor/run/away.js";
import { turnOfLoop } from "../turns.js";

/** Who has the job may be about to change, and is soon asked again; a node without the store is not asked all the time. */
const TELL_AGAIN_MS = SECOND_MS / 4;
const TELL_AGAIN_MOST_MS = 10 * SECOND_MS;
/** At a time. */
const MOST_TELLING = 32;

/** What becomes of a run, for the log. */
export interface AwayNews {
  readonly kind: "kept" | "adopted" | "gone" | "told" | "given-back";
  readonly run: AwayRun;
}

export interface AwayRunsPorts {
  readonly clock: Pick<Clock, "after">;
  /** Of this node; everything that runs on it is heard here. */
  readonly runner: Runner;
  /** A rejection means the same as `unknown`. */
  tell(identity: string, end: AwayEnd): Promise<EndAnswer>;
  readonly onNews?: (news: AwayNews) => void;
}

interface Kept {
  readonly run: AwayRun;
  /** Until then it is not known whether there is anything to watch. */
  found: Promise<unknown> | null;
  /** null: it goes on. */
  end: AwayEnd | null;
  isBeingTold: boolean;
  /** Until then it is not told again. */
  pause: Timer | null;
  pauseMs: number;
}

export class AwayRuns {
  /** For the supervisors of this node. */
  readonly runner: Runner;
  readonly #ports: AwayRunsPorts;
  readonly #kept = new Map<string, Kept>();
  /** Adopted by supervisors of this node: whatever a document said of them when it was read. */
  readonly #adoptedHere = new Set<string>();
  readonly #listeners = new Set<(event: RunnerEvent) => void>();
  readonly #leave: () => void;
  #telling = 0;
  #isStopped = false;
  #emptyWaiters: (() => void)[] = [];

  constructor(ports: AwayRunsPorts) {
    this.#ports = ports;
    this.#leave = ports.runner.subscribe((event) => this.#hear(event));
    this.runner = this.#givingBack(ports.runner);
  }

  /** Those that go on, and those whose end nobody has taken yet. */
  get runs(): readonly AwayRun[] {
    return [...this.#kept.values()].map(({ run }) => run);
  }

  /** From the supervisor that looks after their jobs no longer, in the turn in which it hears of them no more. */
  take(runs: readonly AwayRun[]): void {
    for (const run of runs) {
      this.#adoptedHere.delete(run.attemptId);
      this.#keep(run);
      this.#ports.onNews?.({ kind: "kept", run });
    }
  }

  /** S29: what documents of others say that an earlier daemon of this node has begun. Those that are gone have ended. */
  async recover(runs: readonly AwayRun[]): Promise<void> {
    await Promise.all(runs.map((run) => this.#recover(run)));
  }

  /** S28. */
  terminate(attemptId: string, graceMs: number): Promise<Termination> {
    return this.#ports.runner.terminate(attemptId, graceMs);
  }

  /** Resolves when nothing is kept any more. */
  ended(): Promise<void> {
    if (this.#kept.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#emptyWaiters.push(resolve));
  }

  /** The daemon ends; what runs goes on, and the next one finds it on record. */
  stop(): void {
    this.#isStopped = true;
    this.#leave();
    for (const { pause } of this.#kept.values()) pause?.cancel();
  }

  #keep(run: AwayRun): Kept {
    const kept: Kept = { run, found: null, end: null, isBeingTold: false, pause: null, pauseMs: TELL_AGAIN_MS };
    this.#kept.set(run.attemptId, kept);
    return kept;
  }

  async #recover(run: AwayRun): Promise<void> {
    const { attemptId, holder, output } = run;
    if (this.#kept.has(attemptId) || this.#adoptedHere.has(attemptId)) return;
    // Kept before it is adopted: its end may come with the answer.
    const kept = this.#keep(run);
    const found = this.#ports.runner.adopt({ attemptId, holder, output });
    kept.found = found;
    const outcome = await found;
    kept.found = null;
    if (outcome !== "watching") kept.end ??= { attemptId, ending: EXIT_UNSEEN, hasBegun: run.hasBegun };
    if (this.#kept.get(attemptId) === kept) {
      this.#ports.onNews?.({ kind: outcome === "watching" ? "adopted" : "gone", run });
    }
    this.#tellNext();
  }

  #hear(event: RunnerEvent): void {
    if (event.kind === "trouble") return;
    this.#adoptedHere.delete(event.attemptId);
    const kept = this.#kept.get(event.attemptId);
    if (kept === undefined || event.kind !== "ended") return;
    kept.end ??= { attemptId: event.attemptId, ending: event.ending, hasBegun: true };
    this.#tellNext();
  }

  #tellNext(): void {
    if (this.#isStopped) return;
    for (const kept of this.#kept.values()) {
      if (this.#telling >= MOST_TELLING) return;
      if (kept.end !== null && !kept.isBeingTold && kept.pause === null) void this.#tell(kept, kept.end);
    }
  }

  async #tell(kept: Kept, end: AwayEnd): Promise<void> {
    this.#telling += 1;
    kept.isBeingTold = true;
    const answer = await this.#answerTo(kept.run.identity, end);
    kept.isBeingTold = false;
    this.#telling -= 1;
    // Given back meanwhile, or the daemon ends.
    const isOurs = this.#kept.get(end.attemptId) === kept && !this.#isStopped;
    if (isOurs && answer === "taken") this.#forget(kept, "told");
    else if (isOurs) this.#pause(kept);
    this.#tellNext();
  }

  async #answerTo(identity: string, end: AwayEnd): Promise<EndAnswer> {
    try {
      return await this.#ports.tell(identity, end);
    } catch {
      return "unknown";
    }
  }

  #pause(kept: Kept): void {
    kept.pause = this.#ports.clock.after(kept.pauseMs, () => {
      kept.pause = null;
      this.#tellNext();
    });
    kept.pauseMs = Math.min(TELL_AGAIN_MOST_MS, kept.pauseMs * 2);
  }

  #forget(kept: Kept, kind: "told" | "given-back"): void {
    kept.pause?.cancel();
    this.#kept.delete(kept.run.attemptId);
    this.#ports.onNews?.({ kind, run: kept.run });
    if (this.#kept.size > 0) return;
    for (const resolve of this.#emptyWaiters.splice(0)) resolve();
  }

  #givingBack(inner: Runner): Runner {
    return {
      capacity: inner.capacity,
      arm: (request) => inner.arm(request),
      go: (armed, latestAt) => inner.go(armed, latestAt),
      abort: (armed) => inner.abort(armed),
      adopt: (request) => this.#adoptHere(inner, request),
      terminate: (attemptId, graceMs) => inner.terminate(attemptId, graceMs),
      subscribe: (listener) => this.#subscribe(inner, listener),
      close: () => inner.close(),
    };
  }

  /** The job is back on this node. What is watched already is not adopted anew: that would cost its exit code. */
  async #adoptHere(inner: Runner, request: AdoptRequest): Promise<AdoptOutcome> {
    const { attemptId } = request;
    this.#adoptedHere.add(attemptId);
    const outcome = await this.#outcomeHere(inner, request);
    if (outcome !== "watching") this.#adoptedHere.delete(attemptId);
    return outcome;
  }

  async #outcomeHere(inner: Runner, request: AdoptRequest): Promise<AdoptOutcome> {
    const kept = this.#kept.get(request.attemptId);
    if (kept === undefined) return inner.adopt(request);
    const { attemptId } = request;
    // From here on it is not told any more, and it is not forgotten in between.
    this.#forget(kept, "given-back");
    await kept.found;
    const { end } = kept;
    if (end === null) return "watching";
    if (!end.hasBegun) return "gone";
    this.#sayLater({ kind: "ended", attemptId, pid: request.holder.pid, ending: end.ending });
    return "watching";
  }

  /** Whoever has asked must have heard first that it is watched. */
  #sayLater(event: Ended): void {
    void turnOfLoop().then(() => {
      for (const listener of [...this.#listeners]) listener(event);
    });
  }

  #subscribe(inner: Runner, listener: (event: RunnerEvent) => void): () => void {
    const leave = inner.subscribe(listener);
    this.#listeners.add(listener);
    return () => {
      leave();
      this.#listeners.delete(listener);
    };
  }
}
