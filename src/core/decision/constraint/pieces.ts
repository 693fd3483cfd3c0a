/** Parts of a constraint text and where they are: what the readers of all kinds cut it up with. */
import type { ErrorCode } from "../../base/errors/registry.js";
import type { Problem, TextSpan } from "../../base/problem.js";

/** A part of the text without outer blanks, and where it is. */
export interface Piece extends TextSpan {
  readonly text: string;
}

export function split(piece: Piece, separator: string): Piece[] {
  const pieces: Piece[] = [];
  let start = piece.start;
  for (const part of piece.text.split(separator)) {
    pieces.push(trimmed(part, start));
    start += part.length + separator.length;
  }
  return pieces;
}

/** Before and after the first separator; the second is missing when there is none. */
export function splitOnce(piece: Piece, separator: string): [Piece, Piece?] {
  const at = piece.text.indexOf(separator);
  if (at < 0) {
    return [piece];
  }
  const rest = at + separator.length;
  return [trimmed(piece.text.slice(0, at), piece.start), trimmed(piece.text.slice(rest), piece.start + rest)];
}

export function problem(code: ErrorCode, { start, end }: TextSpan, message: string, hint?: string): Problem {
  return { code, message, path: [], span: { start, end }, ...(hint === undefined ? {} : { hint }) };
}

export function quote(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 37)}...` : text);
}

/** A part of a text that begins at `start`, without the blanks around it. */
export function trimmed(part: string, start: number): Piece {
  const text = part.trim();
  const begin = start + (part.length - part.trimStart().length);
  return text === "" ? { text, start, end: start + part.length } : { text, start: begin, end: begin + text.length };
}
