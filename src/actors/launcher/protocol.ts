/**
 * What daemon and launcher say to each other: one JSON text a line, over one socket. Both ends are ours and of the same
 * version, which the first message of each side checks; what a line holds is not doubted after that.
 */
import { Buffer } from "node:buffer";
import type { ErrorCode } from "../../core/base/errors/registry.js";
import { LAUNCHER_LIMITS } from "./child/limits.js";
import type { ExitCause, GatedRun, ProcessArm, RunOutput } from "./port.js";

export const PROTOCOL_VERSION = 2;

export type DaemonFrame =
  | { readonly t: "hello"; readonly version: number; readonly cgroupRoot: string | null }
  | { readonly t: "arm"; readonly request: ProcessArm }
  /** `latest`: the last moment of its start, in hundredths of a second since the boot (S20). */
  | { readonly t: "go"; readonly id: string; readonly latest: number }
  | { readonly t: "abort"; readonly id: string }
  | {
      readonly t: "adopt";
      readonly run: GatedRun;
      readonly output: RunOutput | null;
    }
  /** Brings the output of a run that ended unseen into its final form. */
  | { readonly t: "tidy"; readonly output: RunOutput }
  /** Names the process in full: the launcher that is asked need not be the one that started it. */
  | { readonly t: "terminate"; readonly run: GatedRun; readonly graceMs: number; readonly call: number }
  | { readonly t: "ping" };

export type LauncherFrame =
  | { readonly t: "hello"; readonly version: number; readonly pid: number; readonly maxArmed: number }
  | { readonly t: "armed"; readonly id: string; readonly pid: number; readonly startTicks: number }
  | { readonly t: "refused"; readonly id: string; readonly code: ErrorCode; readonly message: string }
  /** The answers to GO. */
  | { readonly t: "started" | "late" | "gone"; readonly id: string }
  | { readonly t: "aborted"; readonly id: string }
  | { readonly t: "gate-lost"; readonly id: string }
  | {
      readonly t: "exited";
      readonly id: string;
      readonly code: number | null;
      readonly signal: string | null;
      readonly wasObserved: boolean;
      readonly cause: ExitCause;
    }
  | {
      readonly t: "terminated";
      readonly call: number;
      readonly survivors: readonly number[];
      readonly wasKilled: boolean;
    }
  | { readonly t: "trouble"; readonly code: ErrorCode; readonly message: string }
  | { readonly t: "pong" };

const NEWLINE = 10;

/** The other end is not what it should be: there is no way on but a new one. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}

/** JSON never holds a raw newline, so a line is a frame. */
export function encodeFrame(frame: DaemonFrame | LauncherFrame): string {
  return `${JSON.stringify(frame)}\n`;
}

/** Puts the pieces of a stream together again. */
export class FrameReader<Frame extends DaemonFrame | LauncherFrame> {
  #pieces: Buffer[] = [];
  #heldBytes = 0;

  /** The frames that this chunk completes. Throws ProtocolError. */
  push(chunk: Buffer): Frame[] {
    const frames: Frame[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      frames.push(this.#complete(chunk.subarray(start, end)));
      start = end + 1;
    }
    this.#hold(chunk.subarray(start));
    return frames;
  }

  #complete(last: Buffer): Frame {
    this.#hold(last);
    const line = this.#pieces.length === 1 ? last : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#heldBytes = 0;
    return readFrame<Frame>(line.toString("utf8"));
  }

  #hold(piece: Buffer): void {
    this.#heldBytes += piece.length;
    if (this.#heldBytes > LAUNCHER_LIMITS.frameBytes) {
      throw new ProtocolError(`a frame of more than ${LAUNCHER_LIMITS.frameBytes} bytes`);
    }
    this.#pieces.push(piece);
  }
}

function readFrame<Frame extends DaemonFrame | LauncherFrame>(line: string): Frame {
  try {
    const frame: unknown = JSON.parse(line);
    if (typeof frame === "object" && frame !== null && "t" in frame && typeof frame.t === "string") {
      return frame as Frame;
    }
  } catch {
    // Said below, for every way of not being a frame.
  }
  throw new ProtocolError(`not a frame: ${line.slice(0, 80)}`);
}
