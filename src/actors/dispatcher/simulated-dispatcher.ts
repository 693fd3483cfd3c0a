/**
 * Make-believe requests on any clock. A witness sees what is sent, whatever daemons believe; a dispatcher that dies takes
 * its requests with it, as the real one does: what was sent was received, and nobody hears the answer.
 */
import { err, ok, type Result } from "../../core/base/result.js";
import { isInStatuses } from "../../core/job/status-reader.js";
import { isPast } from "../../core/period/lateness.js";
import type { Ending, Timings } from "../../core/state/ending.js";
import type { EpochMs } from "../../core/time/instant.js";
import type { Clock, Timer } from "../clock.js";
import type { AdoptOutcome, Armed, ArmFailure, GoOutcome, RunnerEvent, Termination } from "../runner/port.js";
import type { FailureReason } from "./exchange.js";
import { DISPATCHER_LIMITS } from "./limits.js";
import type { Dispatcher, RequestArm } from "./port.js";

export interface SimulatedAnswer {
  /** It cannot be made ready. */
  readonly refusal?: ArmFailure;
  /** null: no answer ever comes. */
  readonly answerMs: number | null;
  readonly status: number;
  /** It ends in this way instead, after `answerMs`. */
  readonly failure?: FailureReason;
}

export interface RequestWitness {
  sent(request: RequestArm, sentAt: EpochMs): void;
  ended(request: RequestArm, endedAt: EpochMs): void;
}

interface Held {
  readonly request: RequestArm;
  readonly answer: SimulatedAnswer;
  sentAt: EpochMs | null;
  timer: Timer | null;
}

const NOTHING_SENT: ReadonlySet<FailureReason> = new Set(["connect-failed", "tls-failed"]);
const NO_TIMINGS: Timings = Object.freeze({ dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null });
/** The daemon's own number, as its requests have it. */
const DAEMON_PID = 1;

export class SimulatedDispatcher implements Dispatcher {
  readonly capacity = { request: DISPATCHER_LIMITS.armed } as const;
  readonly #held = new Map<string, Held>();
  readonly #listeners = new Set<(event: RunnerEvent) => void>();
  #isAlive = true;
  readonly #clock: Clock;
  readonly #answerOf: (request: RequestArm) => SimulatedAnswer;
  readonly #witness: RequestWitness;

  constructor(clock: Clock, answerOf: (request: RequestArm) => SimulatedAnswer, witness: RequestWitness) {
    this.#clock = clock;
    this.#answerOf = answerOf;
    this.#witness = witness;
  }

  async arm(request: RequestArm): Promise<Result<Armed, ArmFailure>> {
    if (!this.#isAlive) return err({ code: "launcher-unavailable", message: "the dispatcher is closed" });
    const answer = this.#answerOf(request);
    if (answer.refusal !== undefined) return err(answer.refusal);
    const { attemptId } = request;
    if (this.#held.has(attemptId)) throw new Error(`invariant broken: attempt ${attemptId} exists already`);
    this.#held.set(attemptId, { request, answer, sentAt: null, timer: null });
    return ok({ attemptId, holder: { kind: "request", pid: DAEMON_PID } });
  }

  async go({ attemptId }: Armed, latestAt: EpochMs): Promise<GoOutcome> {
    const held = this.#held.get(attemptId);
    if (held === undefined || held.sentAt !== null) return "gone";
    const now = this.#clock.now();
    if (isPast(latestAt, now)) {
      this.#held.delete(attemptId);
      return "late";
    }
    held.sentAt = now;
    const { failure, answerMs } = held.answer;
    if (failure === undefined || !NOTHING_SENT.has(failure)) this.#witness.sent(held.request, now);
    const { timeoutMs } = held.request.target;
    const isTooLate = answerMs === null || answerMs > timeoutMs;
    const reason = isTooLate ? "timeout" : failure;
    held.timer = this.#clock.after(isTooLate ? timeoutMs : answerMs, () => this.#end(attemptId, reason ?? null));
    return "started";
  }

  async abort({ attemptId }: Armed): Promise<void> {
    if (this.#held.get(attemptId)?.sentAt === null) this.#held.delete(attemptId);
  }

  async adopt(): Promise<AdoptOutcome> {
    return "gone";
  }

  async terminate(attemptId: string): Promise<Termination> {
    if (this.#held.get(attemptId)?.sentAt != null) this.#end(attemptId, "cancelled");
    return { survivors: [], wasKilled: false };
  }

  subscribe(listener: (event: RunnerEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.die();
  }

  /** The daemon dies: what waits is gone, what was sent is on its own. */
  die(): void {
    this.#isAlive = false;
    this.#listeners.clear();
    for (const { request, sentAt, timer } of this.#held.values()) {
      timer?.cancel();
      if (sentAt !== null) this.#witness.ended(request, this.#clock.now());
    }
    this.#held.clear();
  }

  #end(attemptId: string, reason: FailureReason | null): void {
    const held = this.#held.get(attemptId);
    if (held === undefined || held.sentAt === null) return;
    held.timer?.cancel();
    this.#held.delete(attemptId);
    const endedAt = this.#clock.now();
    this.#witness.ended(held.request, endedAt);
    const measured = { durationMs: endedAt - held.sentAt, bytes: 0, timings: NO_TIMINGS, excerpt: null };
    const event = { kind: "ended", attemptId, pid: DAEMON_PID } as const;
    for (const listener of this.#listeners) listener({ ...event, ending: endingOf(held, reason, measured) });
  }
}

function endingOf(
  { request, answer: { status } }: Held,
  reason: FailureReason | null,
  measured: { durationMs: number; bytes: number; timings: Timings; excerpt: null },
): Ending {
  if (reason === null) {
    const isExpected = isInStatuses(status, request.target.success);
    return { kind: "answered", status, isExpected, reason, ...measured };
  }
  const detail = `pretended: ${reason}`;
  return { kind: "failed", status: null, isSent: !NOTHING_SENT.has(reason), detail, reason, ...measured };
}
