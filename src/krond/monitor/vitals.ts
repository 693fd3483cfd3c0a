/**
 * Whether the daemon works, and whether it schedules. Health is for whoever restarts it: it fails when restarting would
 * help. Readiness is for whoever waits for it: it fails while it starts, drains, or could not read its configuration.
 * Reasons are words of ours, never the messages of errors: anybody who can reach the port reads them.
 */
import type { Clock } from "../../actors/clock.js";
import { KronError } from "../../core/base/errors/kron-error.js";
import { type EpochMs, MINUTE_MS, SECOND_MS } from "../../core/time/instant.js";
import type { HealthPhase } from "../../machines/supervisor-phase.js";
import type { HealthReport } from "./status-server.js";

export const VITAL_LIMITS = {
  /** No disk that is well needs so long. */
  commitMs: MINUTE_MS,
  /** The longest sleep of the waker is half a minute (S6). */
  behindMs: 2 * MINUTE_MS,
} as const;

interface VitalPorts {
  readonly clock: Clock;
  phase(): HealthPhase;
  /** When something is due next; null: nothing is. */
  nextDueAt(): EpochMs | null;
  jobs(): number;
  /** How long the oldest commit has been under way. */
  oldestCommitMs(): number;
  /** How long the event loop stood still a moment ago; null: it did not. */
  stalledMs(): number | null;
}

export class Vitals {
  #failure: string | null = null;
  #hasStoreFailed = false;
  #unreadable = 0;
  readonly #ports: VitalPorts;

  constructor(ports: VitalPorts) {
    this.#ports = ports;
  }

  /** What the last reading of the configuration could not make sense of as a whole. */
  configurationRead(problems: number, isIncomplete: boolean): void {
    this.#unreadable = isIncomplete ? Math.max(1, problems) : 0;
  }

  storeFailed(): void {
    this.#hasStoreFailed = true;
  }

  failed(error: unknown): void {
    this.#failure = error instanceof KronError ? error.code : "internal";
  }

  health(): HealthReport {
    const reason = this.#illness();
    const details = { pid: process.pid, phase: this.#phase };
    return reason === null ? { isOk: true, details } : { isOk: false, details: { ...details, reason } };
  }

  readiness(): HealthReport {
    const reason = this.#illness() ?? this.#hindrance();
    const details = { phase: this.#phase, jobs: this.#ports.jobs() };
    return reason === null ? { isOk: true, details } : { isOk: false, details: { ...details, reason } };
  }

  get #phase(): HealthPhase {
    return this.#ports.phase();
  }

  #illness(): string | null {
    const { clock, nextDueAt, oldestCommitMs, stalledMs } = this.#ports;
    if (this.#failure !== null) return `failed: ${this.#failure}`;
    if (this.#hasStoreFailed) return "a write to the store failed";
    const commitMs = oldestCommitMs();
    if (commitMs > VITAL_LIMITS.commitMs) return `a commit has been under way for ${seconds(commitMs)}`;
    const stalled = stalledMs();
    if (stalled !== null) return `the event loop stood still for ${seconds(stalled)}`;
    const dueAt = this.#phase === "running" ? nextDueAt() : null;
    const behindMs = dueAt === null ? 0 : clock.now() - dueAt;
    return behindMs > VITAL_LIMITS.behindMs ? `scheduling is ${seconds(behindMs)} behind` : null;
  }

  #hindrance(): string | null {
    if (this.#phase === "starting" || this.#phase === "draining") return this.#phase;
    if (this.#unreadable > 0) return `the configuration could not be read: ${this.#unreadable} problems`;
    return null;
  }
}

function seconds(ms: number): string {
  return `${Math.round(ms / SECOND_MS)} s`;
}
