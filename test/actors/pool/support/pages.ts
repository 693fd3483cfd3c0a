/** What a page of planned jobs says of one of them. */
import type { PlannedPage } from "../../../../src/actors/pool/types.js";

const DECODER = new TextDecoder();

export function identityOf({ identityBytes, identityEnds }: PlannedPage, index: number): string {
  const start = index === 0 ? 0 : (identityEnds[index - 1] as number);
  return DECODER.decode(identityBytes.subarray(start, identityEnds[index]));
}
