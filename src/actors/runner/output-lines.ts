/** Bytes of a run's output as lines for a log: whole, bounded, and not more of them than a log can bear. Pure. */
import { StringDecoder } from "node:string_decoder";

export const OUTPUT_LINE_LIMITS = {
  /** Of one line; the rest of it is left out. */
  chars: 4 * 1024,
  /** Of one run: so many at once, and then so many a second. */
  burst: 200,
  perSecond: 20,
  /** Of all runs together. */
  burstOfAll: 5_000,
  perSecondOfAll: 500,
} as const;

/** Makes lines of what comes in pieces. */
export class LineSplitter {
  readonly #decoder = new StringDecoder("utf8");
  #rest = "";

  push(bytes: Buffer): readonly string[] {
    const lines = (this.#rest + this.#decoder.write(bytes)).split("\n");
    this.#rest = bounded(lines.pop() ?? "");
    return lines.map(tidy);
  }

  /** The last line needs no end. */
  end(): readonly string[] {
    const last = this.#rest + this.#decoder.end();
    this.#rest = "";
    return last === "" ? [] : [tidy(last)];
  }
}

/** What has been dropped from a full file reads as NULs. */
function tidy(line: string): string {
  return bounded(line.replaceAll("\0", "").replace(/\r$/, ""));
}

function bounded(line: string): string {
  return line.length > OUTPUT_LINE_LIMITS.chars ? line.slice(0, OUTPUT_LINE_LIMITS.chars) : line;
}

/** A bucket that fills with time: what finds it empty is left out. */
export class Allowance {
  readonly #burst: number;
  readonly #perSecond: number;
  #left: number;
  #atMs: number;

  constructor(burst: number, perSecond: number, nowMs: number) {
    this.#burst = burst;
    this.#perSecond = perSecond;
    this.#left = burst;
    this.#atMs = nowMs;
  }

  take(nowMs: number): boolean {
    const gained = (Math.max(nowMs - this.#atMs, 0) / 1_000) * this.#perSecond;
    this.#left = Math.min(this.#left + gained, this.#burst);
    this.#atMs = nowMs;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
