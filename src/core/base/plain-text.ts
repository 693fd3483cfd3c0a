/**
 * Texts that somebody else has written, where people read them: nothing in them may speak to a terminal, turn over what stands
 * around it, or be there without being seen.
 */

/** Controls, ends of lines, marks of direction, halves of characters, and what nobody sees. */
const MISLEADING = String.raw`\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb`;

/** A joiner is seen where it makes one picture of two, */
const PICTURES = String.raw`\p{Extended_Pictographic}[\u{1f3fb}-\u{1f3ff}\ufe0f]?\u200d(?=\p{Extended_Pictographic})`;
/** and behind a letter of a script whose letters change with it: Persian and Sinhala are written so. */
const LETTER = String.raw`(?![\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Han}])[\p{L}\p{M}][\u200c\u200d]`;
/** What comes behind it says that it is to be a picture. */
const PICTURE = String.raw`\p{Emoji}\ufe0f`;
const JOINED = `${PICTURES}|${LETTER}|${PICTURE}`;

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
