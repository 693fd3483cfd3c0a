import type { Phase } from "../../../actors/phase.js";
import type { Daemon } from "../../../krond/boot/daemon.js";
import { isStarting } from "../../../machines/supervisor-phase.js";

/**
 * A terminal sends one press of Ctrl-C to its whole group, and npm, which is in it, passes its own on: what comes so soon
 * after another is the same press. Nobody who drains in earnest presses again so soon.
 */
const SAME_PRESS_MS = 1_000;

/**
 * SIGHUP reloads, SIGTERM and SIGINT stop, by what the phase makes of that. The handlers are there before the daemon is: a
 * signal that comes while it starts must not find the system's own way with it. SIGUSR1 and SIGUSR2 mean nothing here.
 */
export class Signals {
  #daemon: Daemon | null = null;
  #isReloadWanted = false;
  #pressedMs = Number.NEGATIVE_INFINITY;
  readonly #phase: Phase;

  constructor(phase: Phase) {
    this.#phase = phase;
    process.on("SIGHUP", this.#hangUp);
    process.on("SIGTERM", this.#interrupt);
    process.on("SIGINT", this.#interrupt);
    // Node's own way with these is to open a debugger's port, and to end.
    for (const signal of ["SIGUSR1", "SIGUSR2"] as const) process.on(signal, () => undefined);
    process.on("uncaughtException", this.#crash);
    process.on("unhandledRejection", this.#crash);
  }

  /** What came before is made up for. */
  attach(daemon: Daemon): void {
    this.#daemon = daemon;
    if (this.#isReloadWanted) void daemon.hangUp();
  }

  readonly #hangUp = (): void => {
    if (this.#daemon === null) this.#isReloadWanted = true;
    else void this.#daemon.hangUp();
  };

  readonly #interrupt = (signal: NodeJS.Signals): void => {
    if (signal === "SIGINT" && this.#isSamePress()) return;
    this.#phase.tell({ type: "STOP", signal });
  };

  #isSamePress(): boolean {
    const nowMs = performance.now();
    if (nowMs - this.#pressedMs < SAME_PRESS_MS) return true;
    this.#pressedMs = nowMs;
    return false;
  }

  readonly #crash = (error: unknown): void => {
    if (isStarting(this.#phase.snapshot)) throw error;
    this.#phase.fail(error);
  };
}
