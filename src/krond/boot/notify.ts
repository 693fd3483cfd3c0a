/**
 * Tells systemd how the daemon is: `READY=1`, `RELOADING=1`, `STOPPING=1`, `WATCHDOG=1`. Node has no datagram sockets of
 * that kind, so `systemd-notify` sends the messages; and because a large process must not fork once a minute for a
 * heartbeat, a small shell that was started early does it, one message a line. Without NOTIFY_SOCKET nothing happens.
 */
import { type ChildProcess, spawn } from "node:child_process";

export interface Notifier {
  /** `status` is shown by `systemctl status`. */
  ready(status?: string): void;
  /** Until the next `ready`. */
  reloading(): void;
  stopping(): void;
  /** Proof of life: to be sent from the loop that does the work, at least once every `watchdogMs`. */
  watchdog(): void;
  /** How often `watchdog` is expected, halved as systemd advises; null when it is not. */
  readonly watchdogMs: number | null;
  /** Resolves when every message so far has been handed over. */
  close(): Promise<void>;
}

export interface NotifierOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  /** Monotonic, as systemd wants it with RELOADING=1. */
  readonly monotonicMs: () => number;
  /** The messenger cannot be started, or ended by itself. Said once. */
  readonly onTrouble: (message: string) => void;
}

export function createNotifier(options: NotifierOptions): Notifier {
  return options.env["NOTIFY_SOCKET"] ? new SystemdNotifier(options) : SILENT;
}

const SILENT: Notifier = {
  ready: () => undefined,
  reloading: () => undefined,
  stopping: () => undefined,
  watchdog: () => undefined,
  watchdogMs: null,
  close: () => Promise.resolve(),
};

/** A line is one message; the assignments in it are separated by tabs. The end of the input ends the shell. */
const MESSENGER = "IFS='\t'; set -f; while read -r line; do systemd-notify $line || :; done";
const FALLBACK_PATH = "/usr/local/bin:/usr/bin:/bin";
/** Beyond it the messenger hangs, and piling up heartbeats would help nobody. */
const MOST_WAITING_BYTES = 64 * 1024;
const CLOSE_MS = 2_000;

class SystemdNotifier implements Notifier {
  readonly watchdogMs: number | null;
  readonly #monotonicMs: () => number;
  readonly #onTrouble: (message: string) => void;
  readonly #messenger: ChildProcess;
  readonly #ended: Promise<void>;
  #isClosing = false;
  #isLost = false;

  constructor({ env, pid, monotonicMs, onTrouble }: NotifierOptions) {
    this.#monotonicMs = monotonicMs;
    this.#onTrouble = onTrouble;
    this.watchdogMs = watchdogMsOf(env, pid);
    const own = { PATH: env["PATH"] ?? FALLBACK_PATH, NOTIFY_SOCKET: env["NOTIFY_SOCKET"] };
    // A session of its own: a Ctrl-C at the terminal is for the daemon alone, which still has something to say.
    this.#messenger = spawn("/bin/sh", ["-c", MESSENGER], {
      stdio: ["pipe", "ignore", "ignore"],
      env: own,
      cwd: "/",
      detached: true,
    });
    this.#messenger.unref();
    this.#ended = new Promise((resolve) => {
      this.#messenger.once("error", (error) => this.#lose(error.message, resolve));
      this.#messenger.once("exit", () => this.#lose("the messenger to systemd ended", resolve));
    });
    this.#messenger.stdin?.on("error", () => undefined);
  }

  ready(status?: string): void {
    this.#send("READY=1", ...(status === undefined ? [] : [statusText(status)]));
  }

  reloading(): void {
    this.#send("RELOADING=1", `MONOTONIC_USEC=${Math.round(this.#monotonicMs() * 1000)}`);
  }

  stopping(): void {
    this.#send("STOPPING=1");
  }

  watchdog(): void {
    this.#send("WATCHDOG=1");
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#messenger.stdin?.end();
    let timer: NodeJS.Timeout | undefined;
    const bound = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_MS);
    });
    await Promise.race([this.#ended, bound]);
    clearTimeout(timer);
  }

  #send(...assignments: readonly string[]): void {
    const { stdin } = this.#messenger;
    if (this.#isLost || this.#isClosing || stdin === null) return;
    if (stdin.writableLength < MOST_WAITING_BYTES) stdin.write(`${assignments.join("\t")}\n`);
  }

  #lose(message: string, resolve: () => void): void {
    if (!this.#isLost && !this.#isClosing) this.#onTrouble(message);
    this.#isLost = true;
    resolve();
  }
}

/** One line, without what separates assignments. */
function statusText(text: string): string {
  return `STATUS=${text.replace(/\p{C}+/gu, " ").slice(0, 200)}`;
}

/** WATCHDOG_PID says for whom it is: a child of the service must not answer. */
function watchdogMsOf(env: NotifierOptions["env"], pid: number): number | null {
  const micros = Number(env["WATCHDOG_USEC"]);
  const isForUs = env["WATCHDOG_PID"] === undefined || Number(env["WATCHDOG_PID"]) === pid;
  return isForUs && Number.isSafeInteger(micros) && micros > 0 ? micros / 2000 : null;
}
