/**
 * The runner of requests that workers carry out. GO lays a run on the desk of its tenant: its claim is durable by then, and
 * whoever takes it has it alone, until he says how it ended or his time is over. What a worker was given is never laid down
 * again, and like every request it lives and dies with the daemon.
 */
import { err, ok, type Result } from "../../core/base/result.js";
import { DEFAULT_TENANT, endpointName } from "../../core/endpoint/endpoint-name.js";
import { isInStatuses } from "../../core/job/status-reader.js";
import { isPast } from "../../core/period/lateness.js";
import type { Ending, Timings } from "../../core/state/ending.js";
import { type EpochMs, SECOND_MS } from "../../core/time/instant.js";
import type { Clock, Timer } from "../clock.js";
import { DISPATCHER_LIMITS } from "../dispatcher/limits.js";
import { excerptOf, redacted } from "../dispatcher/message.js";
import type { Dispatcher, RequestArm } from "../dispatcher/port.js";
import { isSealed } from "../dispatcher/seal.js";
import { type Environment, readSecret } from "../dispatcher/secrets.js";
import type { AdoptOutcome, Armed, ArmFailure, GoOutcome, RunnerEvent, Termination } from "../runner/port.js";
import { NoRoomToWait, type RoomBounds, WaitingRoom } from "../waiting-room.js";
import { type Work, type Workers, type WorkResult, workOf } from "./work.js";

interface Held {
  readonly request: RequestArm;
  /** Not to be seen in what a worker says. */
  readonly secrets: readonly string[];
  phase: "armed" | "waiting" | "taken";
  /** Until when it may begin. */
  latestAt: EpochMs;
  timer: Timer | null;
  takenMs: number;
}

interface Taker {
  readonly limit: number;
  readonly answer: (taken: readonly Work[]) => void;
  readonly timer: Timer;
}

interface Desk {
  /** By attempt, in the order in which they came. */
  readonly waiting: Map<string, Held>;
  readonly takers: Set<Taker>;
  /** Those who want to know when something lies there, without taking it. */
  readonly lookers: Set<() => void>;
}

/** Of the requests that one answer carries: what is made into one text holds up everything else meanwhile. */
export const ANSWER_BYTES = 4 * 1024 * 1024;
/** Each of them keeps a connection of the API, which has 256 for all who wait and all who do not. */
export const WAITING_WORKERS: RoomBounds = { ofTenant: 64, ofAll: 64 };
const NO_TIMINGS: Timings = Object.freeze({ dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null });
const NOTHING_BACK = { bytes: 0, timings: NO_TIMINGS, excerpt: null, status: null } as const;
const CLOSED: ArmFailure = { code: "launcher-unavailable", message: "the daemon is stopping" };

interface WorkerDeskOptions {
  readonly clock: Clock;
  /** Opens values of headers that were sealed for this daemon. */
  readonly unseal: (sealed: string) => Result<string, string>;
  /** Where secrets that are named by a variable are found; absent: there are none. */
  readonly env?: Environment;
  /** The daemon's own: it stands for its requests on record. */
  readonly pid?: number;
}

export class WorkerDesk implements Dispatcher, Workers {
  readonly capacity = { request: DISPATCHER_LIMITS.armed } as const;
  readonly #held = new Map<string, Held>();
  /** Kept once there was one: there are as many as tenants. */
  readonly #desks = new Map<string, Desk>();
  readonly #room = new WaitingRoom(WAITING_WORKERS);
  readonly #listeners = new Set<(event: RunnerEvent) => void>();
  readonly #clock: Clock;
  readonly #unseal: WorkerDeskOptions["unseal"];
  readonly #env: Environment;
  readonly #pid: number;
  #isDismissed = false;
  #isClosed = false;

  constructor({ clock, unseal, env = {}, pid = process.pid }: WorkerDeskOptions) {
    this.#clock = clock;
    this.#unseal = unseal;
    this.#env = env;
    this.#pid = pid;
  }

  has(attemptId: string): boolean {
    return this.#held.has(attemptId);
  }

  /** Whoever has `gone` is given nothing: a run that was taken is nobody else's any more. */
  take(tenant: string, limit: number, withinMs: number, gone?: AbortSignal): Promise<readonly Work[]> {
    if (this.#isDismissed || gone?.aborted === true) return Promise.resolve([]);
    const desk = this.#deskOf(tenant);
    const there = this.takeNow(tenant, limit);
    if (there.length > 0 || withinMs === 0) return Promise.resolve(there);
    return new Promise((resolve, reject) => {
      const leave = (): void => answer([]);
      const left = this.#room.enter(tenant, leave);
      if (left === null) {
        reject(new NoRoomToWait("too many workers wait already"));
        return;
      }
      const answer = (taken: readonly Work[]): void => {
        left();
        taker.timer.cancel();
        gone?.removeEventListener("abort", leave);
        desk.takers.delete(taker);
        resolve(taken);
      };
      const taker = { limit, answer, timer: this.#clock.after(withinMs, leave) };
      desk.takers.add(taker);
      gone?.addEventListener("abort", leave);
    });
  }

  /** What lies there, at most so many, and as large. */
  takeNow(tenant: string, limit: number, bytes = ANSWER_BYTES): readonly Work[] {
    return this.#isDismissed ? [] : this.#handOut(this.#deskOf(tenant), limit, bytes);
  }

  /** Those of them that are taken lie there again, as long as they may begin: whoever took them has handed them to nobody. */
  layBack(tenant: string, claimIds: readonly string[]): void {
    for (const attemptId of claimIds) {
      const held = this.#held.get(attemptId);
      if (held?.phase !== "taken" || tenantOf(held.request) !== tenant) continue;
      if (isPast(held.latestAt, this.#clock.now())) this.#nobodyCame(attemptId, held);
      else this.#lay(attemptId, held);
    }
  }

  /** Whether runs lie there that nobody has taken. */
  hasWork(tenant: string): boolean {
    return !this.#isDismissed && (this.#desks.get(tenant)?.waiting.size ?? 0) > 0;
  }

  /** Those of these tenants for whom something lies there, as soon as there is one, or when the time is over. Nothing is taken by it. */
  async awaitWork(tenants: readonly string[], withinMs: number): Promise<readonly string[]> {
    const isWaiting = !this.#isDismissed && !tenants.some((tenant) => this.hasWork(tenant));
    if (isWaiting) {
      await new Promise<void>((resolve) => {
        const desks = tenants.map((tenant) => this.#deskOf(tenant));
        const end = (): void => {
          timer.cancel();
          for (const { lookers } of desks) lookers.delete(end);
          resolve();
        };
        const timer = this.#clock.after(withinMs, end);
        for (const { lookers } of desks) lookers.add(end);
      });
    }
    return tenants.filter((tenant) => this.hasWork(tenant));
  }

  /** Nobody has to wait any more, and nothing is given out: how it ended could not be said. What was taken can still end. */
  dismiss(): void {
    this.#isDismissed = true;
    for (const { takers, lookers } of this.#desks.values()) {
      for (const taker of takers) taker.answer([]);
      for (const end of [...lookers]) end();
    }
  }

  complete(tenant: string, attemptId: string, result: WorkResult): boolean {
    const held = this.#held.get(attemptId);
    if (held?.phase !== "taken" || tenantOf(held.request) !== tenant) return false;
    this.#end(attemptId, endingOf(held.request, withoutSecrets(held, result), this.#durationMs(held)));
    return true;
  }

  async arm(request: RequestArm): Promise<Result<Armed, ArmFailure>> {
    if (this.#isClosed) return err(CLOSED);
    const { attemptId } = request;
    if (this.#held.has(attemptId)) throw new Error(`invariant broken: attempt ${attemptId} exists already`);
    const secrets = await this.#secretsOf(request);
    if (this.#isClosed) return err(CLOSED);
    this.#held.set(attemptId, { request, secrets, phase: "armed", latestAt: 0, timer: null, takenMs: 0 });
    return ok({ attemptId, holder: { kind: "request", pid: this.#pid } });
  }

  async go({ attemptId }: Armed, latestAt: EpochMs): Promise<GoOutcome> {
    const held = this.#held.get(attemptId);
    if (held?.phase !== "armed") return "gone";
    if (isPast(latestAt, this.#clock.now())) {
      this.#held.delete(attemptId);
      return "late";
    }
    held.latestAt = latestAt;
    this.#lay(attemptId, held);
    return "started";
  }

  async abort({ attemptId }: Armed): Promise<void> {
    if (this.#held.get(attemptId)?.phase === "armed") this.#held.delete(attemptId);
  }

  async adopt(): Promise<AdoptOutcome> {
    return "gone";
  }

  /** Whoever has taken it is not told before he says how it ended; by then it is nobody's any more. */
  async terminate(attemptId: string): Promise<Termination> {
    const held = this.#held.get(attemptId);
    if (held !== undefined && held.phase !== "armed") {
      const isSent = held.phase === "taken";
      const detail = isSent ? "it was ended while a worker had it" : "it was ended before a worker came for it";
      this.#end(attemptId, { ...this.#failed(held, "cancelled", detail), isSent });
    }
    return { survivors: [], wasKilled: false };
  }

  subscribe(listener: (event: RunnerEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { timer } of this.#held.values()) timer?.cancel();
    this.#held.clear();
    this.dismiss();
    this.#desks.clear();
  }

  #lay(attemptId: string, held: Held): void {
    // As long for a worker as a worker may take for it, and to the end of the last second in which it may begin (S20).
    const leftMs = Math.max(held.latestAt + SECOND_MS - this.#clock.now(), 0);
    const waitMs = Math.min(held.request.target.timeoutMs, leftMs);
    held.timer?.cancel();
    held.phase = "waiting";
    held.timer = this.#clock.after(waitMs, () => this.#nobodyCame(attemptId, held));
    const desk = this.#deskOf(tenantOf(held.request));
    desk.waiting.set(attemptId, held);
    const [taker] = desk.takers;
    taker?.answer(this.#handOut(desk, taker.limit, ANSWER_BYTES));
    if (desk.waiting.size > 0) for (const end of [...desk.lookers]) end();
  }

  #handOut(desk: Desk, limit: number, most: number): readonly Work[] {
    const taken: Work[] = [];
    let bytes = 0;
    for (const [attemptId, held] of desk.waiting) {
      if (taken.length >= limit) break;
      bytes += bytesOf(held.request);
      // One is given out however large it is.
      if (taken.length > 0 && bytes > most) break;
      desk.waiting.delete(attemptId);
      held.timer?.cancel();
      held.phase = "taken";
      held.takenMs = this.#clock.monotonicMs();
      const { timeoutMs } = held.request.target;
      held.timer = this.#clock.after(timeoutMs, () => {
        const ending = this.#failed(held, "timeout", `no word from the worker within ${timeoutMs} ms`);
        this.#end(attemptId, { ...ending, isSent: true });
      });
      taken.push(workOf(held.request, this.#clock.now() + timeoutMs));
    }
    return taken;
  }

  /**
   * What the daemon keeps sealed, and what it would read for a request of its own. A worker knows them of its own accord: one
   * that cannot be read here keeps no run from it.
   */
  async #secretsOf({ target }: RequestArm): Promise<readonly string[]> {
    const named = [...Object.values(target.secretHeaders), ...(target.signature === null ? [] : [target.signature])];
    const read = await Promise.all(named.map((secret) => readSecret(secret, this.#env, this.#unseal)));
    const opened = Object.values(target.headers)
      .filter(isSealed)
      .map((value) => this.#unseal(value));
    return [...read, ...opened].flatMap((secret) => (secret.ok ? [secret.value] : []));
  }

  #nobodyCame(attemptId: string, held: Held): void {
    held.phase = "waiting";
    this.#end(attemptId, { ...this.#failed(held, "worker-absent", "no worker came for it in time"), isSent: false });
  }

  #failed(held: Held, reason: string, detail: string) {
    return { kind: "failed", reason, detail, durationMs: this.#durationMs(held), ...NOTHING_BACK } as const;
  }

  /** In whole milliseconds, as it is recorded. */
  #durationMs({ phase, takenMs }: Held): number {
    return phase === "taken" ? Math.round(this.#clock.monotonicMs() - takenMs) : 0;
  }

  #end(attemptId: string, ending: Ending): void {
    const held = this.#held.get(attemptId);
    if (held === undefined) return;
    held.timer?.cancel();
    this.#held.delete(attemptId);
    this.#deskOf(tenantOf(held.request)).waiting.delete(attemptId);
    for (const listener of this.#listeners) listener({ kind: "ended", attemptId, pid: this.#pid, ending });
  }

  #deskOf(tenant: string): Desk {
    const known = this.#desks.get(tenant);
    if (known !== undefined) return known;
    const desk: Desk = { waiting: new Map(), takers: new Set(), lookers: new Set() };
    this.#desks.set(tenant, desk);
    return desk;
  }
}

function withoutSecrets({ secrets }: Held, result: WorkResult): WorkResult {
  if (result.kind === "failed") return { ...result, detail: redacted(result.detail, secrets) };
  return { ...result, excerpt: result.excerpt === null ? null : redacted(result.excerpt, secrets) };
}

/** About as much as it is when it is sent. */
function bytesOf({ target }: RequestArm): number {
  const { url, headers, body } = target;
  const texts = [url, body ?? "", ...Object.entries(headers).flat()];
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

/** What a configuration names belongs to the tenant that is always there. */
function tenantOf({ identity }: RequestArm): string {
  return endpointName(identity)?.tenant ?? DEFAULT_TENANT;
}

function endingOf({ target }: RequestArm, result: WorkResult, durationMs: number): Ending {
  const measured = { durationMs, timings: NO_TIMINGS };
  if (result.kind === "failed") {
    const { detail, isSent } = result;
    return { kind: "failed", reason: "worker-failed", ...NOTHING_BACK, ...measured, detail, isSent };
  }
  const { status, bytes, excerpt } = result;
  const kept = excerpt === null ? null : excerptOf([Buffer.from(excerpt)], target.excerptBytes, []);
  const isExpected = isInStatuses(status, target.success);
  return { kind: "answered", status, isExpected, reason: null, bytes, excerpt: kept, ...measured };
}
