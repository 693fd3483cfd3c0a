/**
 * The time since the boot, which no clock jump moves, from the same file that a gate's shell reads (S20). The daemon says by
 * it how long a start is in time, because its clock is the one that decides: whatever holds up the launcher in between, or
 * whatever its own clock says, the moment stays where it was. The file is opened once: a thousand releases at one moment do
 * not open it a thousand times, and none of them fails for want of a descriptor.
 */
import * as fs from "node:fs";
import { type EpochMs, floorToSecond } from "../../../core/time/instant.js";

const TEXT_BYTES = 64;

export class Uptime {
  private readonly file = fs.openSync("/proc/uptime", fs.constants.O_RDONLY);
  private readonly text = Buffer.alloc(TEXT_BYTES);

  /** The end of the last second at which a start is in time, in hundredths of a second since the boot. */
  hundredthsAt(latestAt: EpochMs, now: EpochMs): number {
    const leftMs = floorToSecond(latestAt) + 999 - now;
    return this.hundredths() + Math.floor(leftMs / 10);
  }

  private hundredths(): number {
    const length = fs.readSync(this.file, this.text, 0, TEXT_BYTES, 0);
    return Math.round(Number(this.text.toString("latin1", 0, length).split(" ", 1)[0]) * 100);
  }
}
