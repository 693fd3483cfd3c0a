/** Cuts a file into pieces of whole lines. */
import type { FileHandle } from "node:fs/promises";

/**
 * A line as long as that is refused whatever is in it, so that the rest of it need not be held: its beginning has more
 * characters than a line may have, however they are encoded.
 */
const LONG_LINE_BYTES = 16 * 1024 * 1024;
const LINE_BREAK = 10;
const NOTHING = new Uint8Array(0);

/** Each piece ends with a line break, but for the last one of a file that does not. `seen` gets every byte, in order. */
export async function* linePieces(
  handle: FileHandle,
  pieceBytes: number,
  seen: (bytes: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  let carried: Uint8Array = NOTHING;
  for (;;) {
    const bytes = await readSome(handle, pieceBytes);
    if (bytes.length === 0) break;
    seen(bytes);
    const end = bytes.lastIndexOf(LINE_BREAK) + 1;
    if (end > 0) yield joined(carried, bytes.subarray(0, end));
    if (end > 0) carried = bytes.slice(end);
    else if (carried.length < LONG_LINE_BYTES) carried = joined(carried, bytes);
  }
  if (carried.length > 0) yield carried;
}

export async function readWhole(handle: FileHandle, seen: (bytes: Uint8Array) => void): Promise<Uint8Array> {
  const bytes = await handle.readFile();
  seen(bytes);
  return bytes;
}

/** As many bytes as asked for, unless the file ends before. */
async function readSome(handle: FileHandle, bytes: number): Promise<Uint8Array> {
  const buffer = new Uint8Array(bytes);
  let filled = 0;
  while (filled < bytes) {
    const { bytesRead } = await handle.read(buffer, filled, bytes - filled, null);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array {
  if (one.length === 0) return other.slice();
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}
