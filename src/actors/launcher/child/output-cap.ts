/**
 * Keeps output files within their caps while jobs write to them. A job writes to its file directly, for that is what
 * lets it outlive us (S29); so nothing can stop a write, and the cap is kept by looking: the faster a file grows, the
 * more often. What is too much is taken from the middle. While the job runs, that is a hole punched into the file: no
 * byte of the first or last part is touched and no writer notices. Where a file system has no holes, the end is read, the
 * file cut and the end written again; bytes that arrive in that instant can be lost or come before the note. When the run
 * ends, the file is rewritten as beginning, note, end.
 *
 * Honest limits: between two looks (20-500 ms; the first comes up to a second later where thousands begin together) a job
 * can write as much as the disk takes; while no launcher runs, nobody looks; a file with a hole reads as NULs in the middle until its run has ended.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import type { OutputPlan } from "../port.js";
import { findProgram, runHelper } from "./helper.js";
import { LAUNCHER_LIMITS } from "./limits.js";

type FilePlan = Extract<OutputPlan, { to: "file" }>;

/** A hole frees whole blocks only, so that below this there is nothing to gain. */
const LEAST_SLACK_BYTES = 128 * 1024;
const NOTE = /^\n\[kron: at least (\d+) bytes of output were dropped here: the limit is \d+\]\n/;
const NOTE_BYTES = 200;

interface CapHandlers {
  /** The file is above its cap and the job is to be ended for it. Called once. */
  exceeded(plan: FilePlan): void;
  trouble(message: string): void;
}

/** Watches one file from its run's start to its end. */
export class OutputCap {
  #timer: NodeJS.Timeout | null = null;
  #lastBytes = 0;
  /** Everything between the first part and this offset is a hole. */
  #holeEnd = 0;
  #lastMs = performance.now();
  #hasExceeded = false;
  #isEnded = false;
  #looking: Promise<void> = Promise.resolve();
  readonly #file: string;
  readonly #plan: FilePlan;
  readonly #handlers: CapHandlers;

  constructor(file: string, plan: FilePlan, handlers: CapHandlers) {
    this.#file = file;
    this.#plan = plan;
    this.#handlers = handlers;
    this.#lookAfter(LAUNCHER_LIMITS.outputCheckFirstMs);
  }

  /** The run is over: brings the file into its final form. */
  async finish(): Promise<void> {
    this.stop();
    await this.#looking;
    await this.#guarded(() => finalise(this.#file, this.#plan.maxBytes));
  }

  /** Stops looking; the file stays as it is. */
  stop(): void {
    this.#isEnded = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #lookAfter(delayMs: number): void {
    this.#timer = setTimeout(() => {
      this.#looking = this.#guarded(() => this.#look());
    }, delayMs);
  }

  async #look(): Promise<void> {
    const { maxBytes, onExcess } = this.#plan;
    const { size } = await fs.promises.stat(this.#file);
    if (onExcess === "kill" && size > maxBytes) this.#exceeded();
    const limit = Math.max(maxBytes * LAUNCHER_LIMITS.outputSlack, maxBytes + LEAST_SLACK_BYTES);
    const held = size - Math.max(this.#holeEnd - shareOf(maxBytes).headBytes, 0);
    const isOver = held > limit;
    if (isOver) this.#holeEnd = await dropMiddle(this.#file, size, maxBytes);
    if (!this.#isEnded)
      this.#lookAfter(isOver ? LAUNCHER_LIMITS.outputCheckFirstMs : this.#nextLookMs(size, limit - held));
  }

  /** Half of the time that the room left would last at the present speed. */
  #nextLookMs(size: number, roomBytes: number): number {
    const nowMs = performance.now();
    const bytesPerMs = Math.max(size - this.#lastBytes, 0) / Math.max(nowMs - this.#lastMs, 1);
    this.#lastBytes = size;
    this.#lastMs = nowMs;
    const lastsMs = bytesPerMs === 0 ? Number.POSITIVE_INFINITY : roomBytes / bytesPerMs / 2;
    return Math.min(Math.max(lastsMs, LAUNCHER_LIMITS.outputCheckFirstMs), LAUNCHER_LIMITS.outputCheckLongestMs);
  }

  #exceeded(): void {
    if (this.#hasExceeded) return;
    this.#hasExceeded = true;
    this.#handlers.exceeded(this.#plan);
  }

  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      // A file that was rotated away needs no cap any more; of everything else the operator hears, once.
      if (!isMissing(error)) this.#handlers.trouble(`the cap of ${this.#file} cannot be kept: ${String(error)}`);
      this.#isEnded = true;
    }
  }
}

interface Share {
  readonly headBytes: number;
  readonly tailBytes: number;
}

function shareOf(maxBytes: number): Share {
  const headBytes = Math.floor(maxBytes / 2);
  return { headBytes, tailBytes: maxBytes - headBytes };
}

/** Returns where the hole ends; 0 when the file was cut instead and has none. */
async function dropMiddle(file: string, size: number, maxBytes: number): Promise<number> {
  const { headBytes, tailBytes } = shareOf(maxBytes);
  const holeEnd = size - tailBytes;
  if (await punchHole(file, headBytes, holeEnd - headBytes)) return holeEnd;
  cutAndAppend(file, maxBytes);
  return 0;
}

async function punchHole(file: string, offset: number, length: number): Promise<boolean> {
  const program = findProgram("fallocate");
  if (program === null) return false;
  const args = ["--punch-hole", "--offset", String(offset), "--length", String(length), file];
  const { status } = await runHelper(program, args);
  return status === 0;
}

/** Synchronous on purpose: between the last read and the cut nothing of ours comes in between. */
function cutAndAppend(file: string, maxBytes: number): void {
  const { headBytes, tailBytes } = shareOf(maxBytes);
  const reader = fs.openSync(file, fs.constants.O_RDWR | fs.constants.O_NOFOLLOW);
  const appender = fs.openSync(file, fs.constants.O_WRONLY | fs.constants.O_APPEND | fs.constants.O_NOFOLLOW);
  try {
    const { size } = fs.fstatSync(reader);
    const before = readNote(reader, headBytes);
    const tail = Buffer.alloc(
      Math.min(tailBytes, LAUNCHER_LIMITS.outputRewrittenTailBytes, Math.max(size - headBytes, 0)),
    );
    const read = fs.readSync(reader, tail, 0, tail.length, size - tail.length);
    fs.ftruncateSync(reader, headBytes);
    const dropped = before.dropped + Math.max(size - headBytes - before.noteBytes - read, 0);
    fs.writeSync(appender, Buffer.concat([noteOf(dropped, maxBytes), tail.subarray(0, read)]));
  } finally {
    fs.closeSync(reader);
    fs.closeSync(appender);
  }
}

/** The form in which a finished run's output stays: at most the cap, and the note. */
async function finalise(file: string, maxBytes: number): Promise<void> {
  // Nearly all of them are short: opening each would be most of what is done after a run.
  if (fs.lstatSync(file).size <= maxBytes + NOTE_BYTES) return;
  const { headBytes, tailBytes } = shareOf(maxBytes);
  const source = await fs.promises.open(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
  try {
    const { size, uid, gid } = await source.stat();
    // Whoever is left of the run may have cut it meanwhile.
    if (size <= maxBytes + NOTE_BYTES) return;
    const before = readNote(source.fd, headBytes);
    const dropped = before.dropped + size - headBytes - before.noteBytes - tailBytes;
    const temporary = path.join(path.dirname(file), `.${path.basename(file)}.tmp`);
    await fs.promises.rm(temporary, { force: true });
    const target = await fs.promises.open(temporary, "wx", 0o600);
    try {
      await copyRange(source, target, 0, headBytes);
      await target.writeFile(noteOf(dropped, maxBytes));
      await copyRange(source, target, size - tailBytes, tailBytes);
      if (uid !== process.geteuid?.()) await target.chown(uid, gid);
    } finally {
      await target.close();
    }
    await fs.promises.rename(temporary, file);
  } finally {
    await source.close();
  }
}

async function copyRange(
  from: fs.promises.FileHandle,
  to: fs.promises.FileHandle,
  offset: number,
  bytes: number,
): Promise<void> {
  const buffer = Buffer.alloc(Math.min(bytes, LAUNCHER_LIMITS.outputCopyBytes));
  for (let done = 0; done < bytes; ) {
    const { bytesRead } = await from.read(buffer, 0, Math.min(buffer.length, bytes - done), offset + done);
    if (bytesRead === 0) return;
    await to.writeFile(buffer.subarray(0, bytesRead));
    done += bytesRead;
  }
}

function noteOf(dropped: number, maxBytes: number): Buffer {
  return Buffer.from(`\n[kron: at least ${dropped} bytes of output were dropped here: the limit is ${maxBytes}]\n`);
}

interface EarlierNote {
  readonly dropped: number;
  readonly noteBytes: number;
}

/** What an earlier cut already dropped. */
function readNote(fd: number, offset: number): EarlierNote {
  const text = Buffer.alloc(NOTE_BYTES);
  const found = NOTE.exec(text.toString("latin1", 0, fs.readSync(fd, text, 0, text.length, offset)));
  return { dropped: Number(found?.[1] ?? 0), noteBytes: found?.[0].length ?? 0 };
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
