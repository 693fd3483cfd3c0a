/** A short name for the content of a definition, to tell a changed one from one that is as it was among a million. */
import { sha256Hex } from "../decision/seed.js";

/** The first 64 bits of the SHA-256 of the canonical text: among two million definitions no two meet by chance. */
export interface ContentHash {
  readonly high: number;
  readonly low: number;
}

const WORD_CHARS = 8;

export function contentHashOf(canonicalText: string): ContentHash {
  const hash = sha256Hex(canonicalText);
  return {
    high: Number.parseInt(hash.slice(0, WORD_CHARS), 16),
    low: Number.parseInt(hash.slice(WORD_CHARS, 2 * WORD_CHARS), 16),
  };
}
