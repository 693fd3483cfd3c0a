/**
 * The launcher processes side by side: starting them, choosing among them, and killing one that hangs. What they hold for
 * whom is the business of the owner.
 */
import { LAUNCHER_LIMITS } from "../child/limits.js";
import type { LauncherFrame } from "../protocol.js";
import { LauncherLink } from "./link.js";

/** One launcher process and how busy it is. */
export interface Station {
  readonly link: LauncherLink;
  /** Requests it was given and has not answered. */
  arming: number;
  maxArmed: number;
  hasSpoken: boolean;
  silences: number;
}

interface StationHandlers {
  up(station: Station): void;
  down(station: Station, reason: string): void;
  frame(station: Station, frame: LauncherFrame): void;
  /** Whether it owes an answer. */
  isAsked(station: Station): boolean;
}

interface StationsOptions {
  readonly entry: string;
  readonly count: number;
  readonly cgroupRoot: string | null;
  readonly silenceMs: number;
}

export class Stations {
  readonly all: readonly Station[];
  readonly #watchdog: NodeJS.Timeout;
  #onReady: ((failed: string | null) => void) | null = null;
  readonly #options: StationsOptions;
  readonly #handlers: StationHandlers;

  constructor(options: StationsOptions, handlers: StationHandlers) {
    this.#options = options;
    this.#handlers = handlers;
    this.all = Array.from({ length: Math.max(options.count, 1) }, () => this.#station());
    this.#watchdog = setInterval(() => this.#watch(), options.silenceMs);
    this.#watchdog.unref();
  }

  /** Waits for all of them; the reason when one cannot be had. */
  async start(): Promise<string | null> {
    const failed = await new Promise<string | null>((resolve) => {
      this.#onReady = resolve;
      for (const { link } of this.all) link.start();
    });
    this.#onReady = null;
    return failed;
  }

  async close(): Promise<void> {
    clearInterval(this.#watchdog);
    await Promise.all(this.all.map(({ link }) => link.close()));
  }

  get maxArmed(): number {
    return this.all.reduce((sum, station) => sum + station.maxArmed, 0);
  }

  get areAllDown(): boolean {
    return this.all.every(({ link }) => !link.isUp);
  }

  leastBusy(): Station {
    const [first, ...rest] = this.all;
    if (first === undefined) throw new Error("invariant broken: a launcher without processes");
    return rest.reduce((best, station) => (load(station) < load(best) ? station : best), first);
  }

  #station(): Station {
    const { entry, cgroupRoot } = this.#options;
    const link = new LauncherLink(
      { entry, cgroupRoot },
      {
        up: (maxArmed) => this.#up(station, maxArmed),
        down: (reason) => this.#down(station, reason),
        frame: (frame) => this.#heard(station, frame),
      },
    );
    const station: Station = { link, arming: 0, maxArmed: 0, hasSpoken: false, silences: 0 };
    return station;
  }

  #up(station: Station, maxArmed: number): void {
    station.maxArmed = maxArmed;
    station.hasSpoken = true;
    this.#handlers.up(station);
    if (this.all.every(({ link }) => link.isUp)) this.#onReady?.(null);
  }

  #down(station: Station, reason: string): void {
    station.arming = 0;
    this.#onReady?.(reason);
    this.#handlers.down(station, reason);
  }

  #heard(station: Station, frame: LauncherFrame): void {
    station.hasSpoken = true;
    this.#handlers.frame(station, frame);
  }

  /**
   * A launcher that was stopped, or hangs, holds claims that nobody can release. Killing it closes its gates; silence is
   * counted in looks, not in time, because after a stop of our own the time means nothing.
   */
  #watch(): void {
    for (const station of this.all) {
      const isAsked = station.link.isUp && this.#handlers.isAsked(station);
      station.silences = station.hasSpoken || !isAsked ? 0 : station.silences + 1;
      station.hasSpoken = false;
      if (!isAsked) continue;
      if (station.silences > LAUNCHER_LIMITS.silencesBeforeKill) station.link.kill();
      else station.link.send({ t: "ping" });
    }
  }
}

/** A launcher that is down is busier than any that is not. */
function load(station: Station): number {
  return station.link.isUp ? station.arming : Number.MAX_SAFE_INTEGER;
}
