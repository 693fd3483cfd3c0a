/**
 * The daemon's line to one launcher process, which it starts, and starts again when it dies. Frames are not kept over a
 * death: whoever asked decides what to ask again.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { Duplex } from "node:stream";
import { isDuplex } from "../child/gated-process.js";
import { LAUNCHER_LIMITS } from "../child/limits.js";
import {
  type DaemonFrame,
  encodeFrame,
  FrameReader,
  type LauncherFrame,
  PROTOCOL_VERSION,
  ProtocolError,
} from "../protocol.js";
import { Speech } from "./speech.js";

interface LinkOptions {
  /** File that Node runs. */
  readonly entry: string;
  readonly cgroupRoot: string | null;
}

interface LinkHandlers {
  /** A launcher is there, for the first time or again. */
  up(maxArmed: number): void;
  /** It is gone, and so is every gate it held. Everything it said was heard. */
  down(reason: string): void;
  frame(frame: LauncherFrame): void;
}

type LinkState = "starting" | "up" | "down" | "closed";

export class LauncherLink {
  #child: ChildProcess | null = null;
  #line: Duplex | null = null;
  #state: LinkState = "down";
  /** To the launcher that is there: one that is dead takes with it what it was not told. */
  #speech = new Speech(() => undefined);
  #deaths = 0;
  #startedMs = 0;
  #restart: NodeJS.Timeout | null = null;
  #onClosed: (() => void) | null = null;
  readonly #options: LinkOptions;
  readonly #handlers: LinkHandlers;

  constructor(options: LinkOptions, handlers: LinkHandlers) {
    this.#options = options;
    this.#handlers = handlers;
  }

  get isUp(): boolean {
    return this.#state === "up";
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  start(): void {
    this.#state = "starting";
    this.#startedMs = performance.now();
    try {
      this.#begin(spawnNode(this.#options.entry));
    } catch (error) {
      this.#gone(String(error));
    }
  }

  send(frame: DaemonFrame): void {
    this.#speech.say(encodeFrame(frame));
  }

  /** For a launcher that does not answer any more. */
  kill(): void {
    this.#child?.kill("SIGKILL");
  }

  /** Ends the line, whereupon the launcher closes its gates and ends. */
  async close(): Promise<void> {
    const wasAlive = this.#state === "up" || this.#state === "starting";
    this.#state = "closed";
    if (this.#restart !== null) clearTimeout(this.#restart);
    if (!wasAlive) return;
    const closed = new Promise<void>((resolve) => {
      this.#onClosed = resolve;
    });
    this.#line?.end();
    const overdue = setTimeout(() => this.kill(), LAUNCHER_LIMITS.closeMs);
    await closed;
    clearTimeout(overdue);
  }

  #begin(child: ChildProcess): void {
    const line = child.stdio[3];
    this.#child = child;
    this.#line = isDuplex(line) ? line : null;
    this.#speech = this.#speechTo(this.#line);
    this.#listen(child, this.#line);
    this.send({ t: "hello", version: PROTOCOL_VERSION, cgroupRoot: this.#options.cgroupRoot });
  }

  #speechTo(line: Duplex | null): Speech {
    return new Speech((text) => {
      if (line === this.#line && (this.#state === "up" || this.#state === "starting")) line?.write(text);
    });
  }

  #listen(child: ChildProcess, line: Duplex | null): void {
    const reader = new FrameReader<LauncherFrame>();
    const silent = setTimeout(() => child.kill("SIGKILL"), LAUNCHER_LIMITS.helloMs);
    let isGone = false;
    const gone = (reason: string) => {
      clearTimeout(silent);
      if (!isGone) this.#gone(reason);
      isGone = true;
    };
    line?.on("error", () => undefined);
    line?.on("data", (chunk: Buffer) => {
      clearTimeout(silent);
      const broken = this.#read(reader, chunk);
      if (broken === null) return;
      this.kill();
      gone(broken);
    });
    child.on("error", (error) => gone(error.message));
    child.on("close", (code, signal) => gone(signal ?? `exit status ${code}`));
  }

  /** What is wrong with this launcher; null when nothing is. */
  #read(reader: FrameReader<LauncherFrame>, chunk: Buffer): string | null {
    try {
      for (const frame of reader.push(chunk)) {
        if (frame.t === "hello") this.#greeted(frame);
        else this.#handlers.frame(frame);
      }
      return null;
    } catch (error) {
      if (error instanceof ProtocolError) return error.message;
      throw error;
    }
  }

  #greeted(frame: Extract<LauncherFrame, { t: "hello" }>): void {
    if (frame.version !== PROTOCOL_VERSION) {
      const versions = `${frame.version}, this program ${PROTOCOL_VERSION}`;
      throw new ProtocolError(
        `the launcher speaks version ${versions}: was it replaced on disk? Start the daemon again`,
      );
    }
    if (this.#state !== "starting") return;
    this.#state = "up";
    this.#handlers.up(frame.maxArmed);
  }

  #gone(reason: string): void {
    this.#child = null;
    this.#line?.destroy();
    this.#line = null;
    if (this.#state === "closed") {
      this.#onClosed?.();
      return;
    }
    this.#state = "down";
    this.#handlers.down(reason);
    this.#scheduleRestart();
  }

  #scheduleRestart(): void {
    const livedMs = performance.now() - this.#startedMs;
    this.#deaths = livedMs > LAUNCHER_LIMITS.restartForgivenMs ? 1 : this.#deaths + 1;
    const delayMs = LAUNCHER_LIMITS.restartFirstMs * 2 ** Math.min(this.#deaths - 2, 10);
    const waitMs = this.#deaths === 1 ? 0 : Math.min(delayMs, LAUNCHER_LIMITS.restartLongestMs);
    this.#restart = setTimeout(() => this.start(), waitMs);
  }
}

function spawnNode(entry: string): ChildProcess {
  return spawn(process.execPath, [entry], {
    // Its own session: a signal from the daemon's terminal is not for it.
    detached: true,
    env: launcherEnv(process.env),
    stdio: ["ignore", "inherit", "inherit", "pipe"],
  });
}

/** The launcher's Node may need what ours needed to start, but none of our debugger, coverage or channel settings. */
function launcherEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("NODE_")));
}
