/**
 * Patterns for identities (see `matchesGlob`), held against the bytes of an arena: of a million names none becomes a string.
 * A pattern is cut at its stars; of what remains the first piece begins the name, the last one ends it, and those between
 * follow each other.
 */
import { matchesGlob } from "../../../core/job/identity-glob.js";

const ANY_CHARACTER = 0x3f;
const FIRST_BEYOND_ASCII = 0x80;
const HALF_CHARACTER = /\p{Surrogate}/u;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** What a name, as it lies in an arena, is held against. */
export interface NameTest {
  matches(bytes: Uint8Array, from: number, end: number): boolean;
}

export class NamePattern implements NameTest {
  readonly #glob: string;
  readonly #pieces: readonly Uint8Array[];
  /** Whether `?` stands for a character, which may be several bytes. */
  readonly #isWild: boolean;
  /** Half a character is no bytes: only texts tell what it matches. */
  readonly #isText: boolean;

  constructor(glob: string) {
    this.#glob = glob;
    this.#pieces = glob.split("*").map((piece) => encoder.encode(piece));
    this.#isWild = glob.includes("?");
    this.#isText = HALF_CHARACTER.test(glob);
  }

  matches(bytes: Uint8Array, from: number, end: number): boolean {
    if (this.#isText || (this.#isWild && !isAscii(bytes, from, end))) {
      return matchesGlob(this.#glob, decoder.decode(bytes.subarray(from, end)));
    }
    return this.#matchesPieces(bytes, from, end);
  }

  #matchesPieces(bytes: Uint8Array, from: number, end: number): boolean {
    const pieces = this.#pieces;
    const last = pieces.length - 1;
    const [head, tail] = [pieces[0] as Uint8Array, pieces[last] as Uint8Array];
    if (last === 0) return end - from === head.length && this.#isAt(head, bytes, from);
    const tailAt = end - tail.length;
    let at = from + head.length;
    if (at > tailAt || !this.#isAt(head, bytes, from) || !this.#isAt(tail, bytes, tailAt)) return false;
    for (let index = 1; index < last; index++) {
      const piece = pieces[index] as Uint8Array;
      // The first place leaves most room for those behind it.
      const found = this.#placeOf(piece, bytes, at, tailAt - piece.length);
      if (found < 0) return false;
      at = found + piece.length;
    }
    return true;
  }

  #placeOf(piece: Uint8Array, bytes: Uint8Array, from: number, lastAt: number): number {
    for (let at = from; at <= lastAt; at++) if (this.#isAt(piece, bytes, at)) return at;
    return -1;
  }

  #isAt(piece: Uint8Array, bytes: Uint8Array, from: number): boolean {
    for (let at = 0; at < piece.length; at++) {
      const wanted = piece[at];
      if (wanted !== bytes[from + at] && !(this.#isWild && wanted === ANY_CHARACTER)) return false;
    }
    return true;
  }
}

/** A name, or a part of one, as it is written: of these, `*` and `?` stand for themselves. */
export class NamePart implements NameTest {
  readonly #text: string;
  readonly #part: Uint8Array;
  readonly #isText: boolean;

  constructor(text: string) {
    this.#text = text;
    this.#part = encoder.encode(text);
    this.#isText = HALF_CHARACTER.test(text);
  }

  matches(bytes: Uint8Array, from: number, end: number): boolean {
    const part = this.#part;
    const first = part[0];
    if (this.#isText) return decoder.decode(bytes.subarray(from, end)).includes(this.#text);
    const lastAt = end - part.length;
    for (let at = from; at <= lastAt; at++) {
      if (bytes[at] !== first && first !== undefined) continue;
      let same = 1;
      while (same < part.length && bytes[at + same] === part[same]) same += 1;
      if (same >= part.length) return true;
    }
    return false;
  }
}

function isAscii(bytes: Uint8Array, from: number, end: number): boolean {
  for (let at = from; at < end; at++) if ((bytes[at] as number) >= FIRST_BEYOND_ASCII) return false;
  return true;
}
