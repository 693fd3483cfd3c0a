/**
 * Texts that somebody else has written, where people read them: nothing in them may speak to a terminal, turn over what stands
 * around it, or be there without being seen.
 */

/** Controls, ends of lines, marks of direction, halves of characters, and what is as wide as nothing. */
const MISLEADING = String.raw`\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\u00ad\u034f\u180e\u200b-\u200d\u2060-\u2064\ufeff`;

/** A joiner is seen where it makes one picture of two. */
const JOINED = String.raw`\p{Extended_Pictographic}[\u{1f3fb}-\u{1f3ff}\ufe0f]?\u200d(?=\p{Extended_Pictographic})`;

/** A text with nothing of that in it, as a part of an expression with the flag `u`. */
export const PLAIN_TEXT = `(?:${JOINED}|[^${MISLEADING}])*`;

const PIECES = new RegExp(`(${JOINED})|[${MISLEADING}]`, "gu");

/** What misleads is shown as what cannot be shown. */
export function plainText(text: string): string {
  if (/^[ -~]*$/.test(text)) return text;
  return text.replace(PIECES, (_, joined?: string) => joined ?? "\ufffd");
}

/** The same of a text of several lines. */
export function plainLines(text: string): string {
  return text.split("\n").map(plainText).join("\n");
}
