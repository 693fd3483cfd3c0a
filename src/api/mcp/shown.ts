/** Texts of others, made harmless: what a reader would not see, and a model would, is written out. */

/** Lines and tabs are what long texts are made of; everything else that has no shape of its own is shown by its number. */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;

export function shown(value: unknown): unknown {
  if (typeof value === "string") return value.replace(UNSEEN, numbered);
  if (Array.isArray(value)) return value.map(shown);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [shown(name), shown(inner)]));
}

function numbered(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
