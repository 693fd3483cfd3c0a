/** Whether the disk has room for a little more, asked by really writing it: free blocks promise nothing. */
import * as fs from "node:fs";
import { FILE_MODE } from "../private-files.js";

/** What a new store takes. */
const ROOM_BYTES = 64 * 1_024;

/** Throws the system's error when there is no room. `dataFile` names the probe beside it, and is not touched. */
export function assertRoom(dataFile: string): void {
  const file = `${dataFile}.room`;
  try {
    fs.writeFileSync(file, Buffer.alloc(ROOM_BYTES), { mode: FILE_MODE, flush: true });
  } finally {
    fs.rmSync(file, { force: true });
  }
}
