/** The lines of a file, a piece at a time: generated sets may be far larger than memory is worth. */
import type { FileHandle } from "node:fs/promises";

const BYTE_ORDER_MARK = "\ufeff";

/** Some lines after the other, in order; an empty rest behind the last line break is none. */
export async function* configLines(handle: FileHandle): AsyncGenerator<readonly string[]> {
  let rest = "";
  let isFirst = true;
  for await (const piece of handle.createReadStream({ encoding: "utf8", autoClose: false })) {
    const text = isFirst && String(piece).startsWith(BYTE_ORDER_MARK) ? String(piece).slice(1) : String(piece);
    isFirst = false;
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    yield lines;
  }
  if (rest !== "") yield [rest];
}
