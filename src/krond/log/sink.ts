/**
 * Where lines of the log go: a descriptor, written to before the call returns, so that a SIGKILL eats no line. Trouble
 * with it never becomes trouble of the daemon: a reader that went away, a full disk and a pipe that nobody empties cost
 * lines, which are counted and reported as soon as a line gets through again, but they neither end the daemon nor hold it
 * up. The ledger has what happened; the log only tells.
 */
import * as fs from "node:fs";
import { isatty } from "node:tty";

export const LOG_SINK_LIMITS = {
  /** How long a reader that does not keep up may hold up the daemon, once; then lines are dropped until it reads again. */
  stallMs: 100,
  pauseMs: 5,
} as const;

export interface LineSink {
  /** Never throws. False when the line was not written, or not all of it. */
  write(line: string): boolean;
}

/** What has to be known of a system: tests put others in its place. */
interface DescriptorWriter {
  write(data: Buffer, offset: number): number;
  pause(ms: number): void;
}

export function descriptorSink(descriptor: number): LineSink {
  const own = withoutBlocking(descriptor);
  return new DescriptorSink({
    write: (data, offset) => fs.writeSync(own, data, offset),
    pause: (ms) => void Atomics.wait(PAUSE, 0, 0, ms),
  });
}

const PAUSE = new Int32Array(new SharedArrayBuffer(4));
const NEWLINE = Buffer.from("\n");

/**
 * A pipe or terminal whose reader stopped would block the whole daemon in a write. Opened anew it gets flags of its own:
 * those of the original are shared with other processes, and jobs may inherit it. Files keep theirs, for their offset.
 */
function withoutBlocking(descriptor: number): number {
  try {
    if (!fs.fstatSync(descriptor).isFIFO() && !isatty(descriptor)) return descriptor;
    const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = fs.constants;
    return fs.openSync(`/proc/self/fd/${descriptor}`, O_WRONLY | O_NONBLOCK | O_NOCTTY);
  } catch {
    return descriptor;
  }
}

export class DescriptorSink implements LineSink {
  readonly #writer: DescriptorWriter;
  /** The reader did not keep up: no further waiting until it does. */
  #isStalled = false;
  /** A line was cut off: the next one must not look like its end. */
  #isMidLine = false;

  constructor(writer: DescriptorWriter) {
    this.#writer = writer;
  }

  write(line: string): boolean {
    const data = Buffer.from(`${line}\n`);
    if (this.#isMidLine && !this.#writeAll(NEWLINE)) return false;
    return this.#writeAll(data);
  }

  #writeAll(data: Buffer): boolean {
    let written = 0;
    let waitedMs = 0;
    while (written < data.length) {
      try {
        written += this.#writer.write(data, written);
        this.#isStalled = false;
      } catch (error) {
        const mayWait = isBusy(error) && !this.#isStalled && waitedMs < LOG_SINK_LIMITS.stallMs;
        if (!mayWait) return this.#gaveUp(written, isBusy(error));
        this.#writer.pause(LOG_SINK_LIMITS.pauseMs);
        waitedMs += LOG_SINK_LIMITS.pauseMs;
      }
    }
    this.#isMidLine = false;
    return true;
  }

  #gaveUp(written: number, isBusyNow: boolean): false {
    this.#isStalled = isBusyNow;
    this.#isMidLine ||= written > 0;
    return false;
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "EAGAIN" || error.code === "EINTR");
}
