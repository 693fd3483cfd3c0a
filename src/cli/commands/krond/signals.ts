import type { Daemon } from "../../../krond/boot/daemon.js";
import { EXIT } from "../../exit.js";

const CLOSE_BOUND_MS = 1_500;
/**
 * A terminal sends one press of Ctrl-C to its whole group, and npm, which is in it, passes its own on: what comes so soon
 * after another is the same press. Nobody who drains in earnest presses again so soon.
 */
const SAME_PRESS_MS = 1_000;

/**
 * SIGHUP reloads, SIGTERM and SIGINT drain. The handlers are there before the daemon is: a signal that comes while it
 * starts must not find the system's own way with it. SIGUSR1 and SIGUSR2 mean nothing here.
 */
export class Signals {
  private daemon: Daemon | null = null;
  private isReloadWanted = false;
  private closing: () => Promise<void> = async () => undefined;
  private isEnding = false;
  private pressedMs = Number.NEGATIVE_INFINITY;

  constructor() {
    process.on("SIGHUP", this.hangUp);
    process.on("SIGTERM", this.interrupt);
    process.on("SIGINT", this.interrupt);
    // Node's own way with these is to open a debugger's port, and to end.
    for (const signal of ["SIGUSR1", "SIGUSR2"] as const) process.on(signal, () => undefined);
    process.on("uncaughtException", this.crash);
    process.on("unhandledRejection", this.crash);
  }

  /** Done before the process ends while the daemon still starts: threads must not be torn from their work. */
  closeFirst(close: () => Promise<void>): void {
    this.closing = close;
  }

  /** What comes of a start that was broken off is nobody's concern: the process is about to end. */
  async unlessEnding<T>(starting: Promise<T>): Promise<T> {
    try {
      return await starting;
    } finally {
      if (this.isEnding) await new Promise<never>(() => undefined);
    }
  }

  /** What came before is made up for. */
  attach(daemon: Daemon): void {
    this.daemon = daemon;
    if (this.isReloadWanted) void daemon.hangUp();
  }

  private readonly hangUp = (): void => {
    if (this.daemon === null) this.isReloadWanted = true;
    else void this.daemon.hangUp();
  };

  private readonly interrupt = (signal: NodeJS.Signals): void => {
    if (signal === "SIGINT" && this.isSamePress()) return;
    // Nothing was triggered yet: the next start continues from what is on record, as after a crash.
    if (this.daemon === null) void this.exit();
    else this.daemon.interrupt(signal);
  };

  private isSamePress(): boolean {
    const nowMs = performance.now();
    if (nowMs - this.pressedMs < SAME_PRESS_MS) return true;
    this.pressedMs = nowMs;
    return false;
  }

  private async exit(): Promise<void> {
    this.isEnding = true;
    const closed = this.closing().catch(() => undefined);
    await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, CLOSE_BOUND_MS))]);
    process.exit(EXIT.ok);
  }

  private readonly crash = (error: unknown): void => {
    if (this.daemon === null) throw error;
    void this.daemon.fail(error);
  };
}
