/**
 * The time since the boot, which no clock jump moves, from the same file that a gate's shell reads (S20). The daemon says by
 * it how long a start is in time, because its clock is the one that decides: whatever holds up the launcher in between, or
 * whatever its own clock says, the moment stays where it was. The file is opened once: a thousand releases at one moment do
 * not open it a thousand times, and none of them fails for want of a descriptor.
 */
import * as fs from "node:fs";
import { type EpochMs, floorToSecond } from "../../../core/time/instant.js";

const TEXT_BYTES = 64;
/** The file says no more. */
const HUNDREDTH_MS = 10;

export class Uptime {
  readonly #file = fs.openSync("/proc/uptime", fs.constants.O_RDONLY);
  readonly #text = Buffer.alloc(TEXT_BYTES);

  /** As it was read last, and by the monotonic clock when: within a moment it is the same, and a thousand releases are one. */
  #readMs = Number.NEGATIVE_INFINITY;
  #known = 0;

  /** The end of the last second at which a start is in time, in hundredths of a second since the boot. */
  hundredthsAt(latestAt: EpochMs, now: EpochMs): number {
    const leftMs = floorToSecond(latestAt) + 999 - now;
    return this.#hundredths() + Math.floor(leftMs / 10);
  }

  #hundredths(): number {
    const nowMs = performance.now();
    if (nowMs - this.#readMs < HUNDREDTH_MS) return this.#known;
    this.#readMs = nowMs;
    this.#known = this.#read();
    return this.#known;
  }

  #read(): number {
    const length = fs.readSync(this.#file, this.#text, 0, TEXT_BYTES, 0);
    return Math.round(Number(this.#text.toString("latin1", 0, length).split(" ", 1)[0]) * 100);
  }
}
